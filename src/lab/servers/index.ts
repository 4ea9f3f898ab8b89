import { randomBytes } from 'node:crypto'
import { access, constants, readdir, realpath, rm } from 'node:fs/promises'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { AdminError, messageOf } from '../../core/error.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { command, nested } from '../../core/shell-command.ts'
import { assertEngine, startDocker } from './docker/index.ts'
import { givenVariable, givenVariableName, takeGiven, wayVariable } from './given.ts'
import { removeParts } from './lifecycle.ts'
import { startLocal } from './local/index.ts'
import { assertPortFree, freePort, loopback } from './local/ports.ts'
import { obtainPrograms } from './packages/index.ts'
import { readServer } from './record.ts'
import { tryProgram } from './try-program.ts'
import type { Programs, RabbitmqLine, ServerRecord, ServerRequest, ServerWay, StartOptions } from './types.ts'
import { isOfLine, lineNames, oldestPostgres, serverNames, serverWays } from './types.ts'

/** Real servers for the lab and the tests: found on this machine or fetched, private, and removed without a trace. */
export {
  assertData,
  brokerControl,
  fillDisk,
  freeDisk,
  removeServer,
  resumeServer,
  serverRunning,
  stopServer,
} from './lifecycle.ts'
export { readServer } from './record.ts'
export { serverNames } from './types.ts'
export type { RabbitmqLine, ServerKind, ServerRecord, ServerRequest, ServerWay } from './types.ts'

/**
 * Finds installed programs for the request. `root` is the folder that the system is installed in. Throws UNAVAILABLE if
 * there are none.
 */
export async function installedPrograms(
  request: ServerRequest,
  environment: NodeJS.ProcessEnv,
  root = '/',
): Promise<Programs> {
  if (process.platform !== 'linux')
    throw missing(
      `the lab can use servers that are installed on this machine only on Linux, not on ${process.platform}`,
    )
  const path = (environment['PATH'] ?? '').split(delimiter).filter(Boolean)
  if (request.kind === 'redis') return installedRedis(path, root)
  if (request.kind === 'postgres') return installedPostgres(path, root)
  return installedRabbitmq(path, root, request.rabbitmq?.line ?? '3')
}

async function installedRedis(path: readonly string[], root: string): Promise<Programs> {
  for (const folder of [...path, join(root, 'usr/bin'), join(root, 'usr/local/bin')]) {
    const server = join(folder, 'redis-server')
    const ran = await tryProgram(server, ['--version'], { timeoutMs: 5000 })
    const version = ran.ok ? /v=(\d+\.\d+\.\d+)/.exec(ran.stdout)?.[1] : undefined
    if (version) return { kind: 'redis', version, server }
  }
  throw missing('redis-server is not installed', 'apt-get install redis-server')
}

async function installedPostgres(path: readonly string[], root: string): Promise<Programs> {
  // Debian keeps the server's programs off the PATH, in a folder for each major version
  const debian = join(root, 'usr/lib/postgresql')
  const majors = (await folders(debian)).sort((a, b) => Number(b) - Number(a))
  const candidates = [...majors.map((major) => join(debian, major, 'bin')), ...path]
  let tooOld: string | null = null
  for (const folder of candidates) {
    const ran = await tryProgram(join(folder, 'postgres'), ['--version'], { timeoutMs: 5000 })
    const version = ran.ok ? /(\d+(?:\.\d+)?)/.exec(ran.stdout)?.[1] : undefined
    if (!version) continue
    const binaries = dirname(await realpath(join(folder, 'postgres')))
    if (!(await executable(join(binaries, 'initdb')))) continue
    if (Number.parseInt(version, 10) >= oldestPostgres) return { kind: 'postgres', version, binaries }
    tooOld ??= version
  }
  if (tooOld) throw missing(`PostgreSQL ${tooOld} is installed, but the lab needs ${oldestPostgres} or later`)
  throw missing(
    'PostgreSQL is not installed',
    command`apt-get install postgresql   # the lab needs ${oldestPostgres} or later`,
  )
}

async function installedRabbitmq(path: readonly string[], root: string, line: RabbitmqLine): Promise<Programs> {
  const erlang = await findFolder([...path, join(root, 'usr/bin')], 'erl')
  const install = command`apt-get install rabbitmq-server   # the lab needs ${nested(lineNames[line])}`
  if (!erlang) throw missing('Erlang is not installed, but RabbitMQ needs it', install)
  let other: string | null = null
  for (const folder of [join(root, 'usr/lib/rabbitmq/bin'), ...path]) {
    // the scripts in /usr/sbin switch to another user; those in the installation's folder do not
    if (!(await executable(join(folder, 'rabbitmq-server'))) || /\/sbin$/.test(folder)) continue
    const scripts = dirname(await realpath(join(folder, 'rabbitmq-server')))
    const version = /rabbitmq_server-(\d+\.\d+\.\d+)/.exec(scripts)?.[1]
    if (!version) continue
    if (isOfLine(version, line)) return { kind: 'rabbitmq', version, scripts, erlang: [erlang] }
    other ??= version
  }
  if (other)
    throw missing(
      `RabbitMQ ${other} is installed, but the lab needs ${lineNames[line]}`,
      labOn(isOfLine(other, '3') ? '3' : '4.3'),
    )
  throw missing('RabbitMQ is not installed', install)
}

/** Suggests a lab on the installed broker, since the package manager has no other version. */
function labOn(line: RabbitmqLine): Suggestion {
  return command`testops-admin lab down; testops-admin lab up --broker ${line}   # the lab then uses the installed
    RabbitMQ`
}

function missing(reason: string, ...suggestions: Suggestion[]): AdminError {
  return new AdminError('UNAVAILABLE', reason, suggestions)
}

async function findFolder(folders: readonly string[], program: string): Promise<string | null> {
  for (const folder of folders) if (await executable(join(folder, program))) return folder
  return null
}

async function folders(path: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch {
    return []
  }
}

async function executable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Starts a server, or uses the given one, in the first way that works here; `TESTOPS_ADMIN_LAB_SERVERS` forces one. The
 * server outlives this process. Everything is recorded (`readServer`) before it is made. Throws REFUSED if the
 * directory already holds a server; UNAVAILABLE if the port is taken or no way works; INTERRUPTED.
 */
export async function startServer(request: ServerRequest, options: StartOptions): Promise<ServerRecord> {
  if (!isAbsolute(request.directory))
    throw new AdminError('USAGE', `a server's folder must be an absolute path, not ${request.directory}`)
  if (await readServer(request.directory)) {
    throw new AdminError('REFUSED', `${request.directory} already contains a server`, ['testops-admin lab down'])
  }
  const name = serverNames[request.kind]
  if (request.port) await assertPortFree(request.port, name)
  const environment = options.environment ?? process.env
  const ways = waysToTry(request, environment)
  const failures: unknown[] = []
  for (const way of ways) {
    try {
      return await startBy(way, request, options, environment)
    } catch (error) {
      if (options.signal?.aborted)
        throw new AdminError('INTERRUPTED', `the start of ${name} was interrupted`, [], { cause: error })
      // the operator asked for a given or forced server: never use another one
      if (ways.length === 1 && error instanceof AdminError && !(error instanceof NotThisWay)) throw error
      failures.push(error)
      if (!(error instanceof NotThisWay) && failures.length < ways.length)
        options.progress(`could not get ${name} from ${way} (${messageOf(error)}); trying another way`)
    }
  }
  const reasons = failures.map((error, index) => `${ways[index]}: ${messageOf(error)}`).join('; ')
  const suggestions = suggestionsFor(request, failures, environment)
  throw new AdminError('UNAVAILABLE', `could not get ${title(request)} on this machine: ${reasons}`, suggestions)
}

async function startBy(
  way: ServerWay,
  request: ServerRequest,
  options: StartOptions,
  environment: NodeJS.ProcessEnv,
): Promise<ServerRecord> {
  const draft: ServerRecord = {
    schemaVersion: 1,
    id: randomBytes(8).toString('hex'),
    state: 'starting',
    kind: request.kind,
    way,
    version: '',
    directory: request.directory,
    host: loopback,
    port: request.port ?? (await freePort(request.directory)),
    user: '',
    password: '',
    database: '',
  }
  try {
    if (way === 'given') return await takeGiven(draft, request, environment)
    if (way === 'docker') {
      await notThisWay(assertEngine(environment))
      return await startDocker(draft, request, options)
    }
    const programs = await notThisWay(
      way === 'programs' ? installedPrograms(request, environment) : obtainPrograms(request, options, environment),
    )
    if (way === 'packages') options.progress(`starting ${serverNames[request.kind]} ${programs.version}`)
    return await startLocal(draft, programs, request, options)
  } catch (error) {
    // the record says which parts were made so far
    const made = await readServer(request.directory)
    if (made) await removeParts(made)
    await rm(request.directory, { recursive: true, force: true })
    throw error
  }
}

/** Turns UNAVAILABLE into NotThisWay: this way lacks what it needs, and another may work. */
async function notThisWay<T>(preparation: Promise<T>): Promise<T> {
  try {
    return await preparation
  } catch (error) {
    throw error instanceof AdminError && error.code === 'UNAVAILABLE'
      ? new NotThisWay(error.message, error.suggestions)
      : error
  }
}

function title(request: ServerRequest): string {
  const name = serverNames[request.kind]
  return request.kind === 'rabbitmq' ? `${name} ${request.rabbitmq?.line ?? '3'}` : name
}

/**
 * A way to get servers does not work on this machine: why, and what would help. Any other error comes from the server
 * itself.
 */
class NotThisWay extends AdminError {
  constructor(reason: string, suggestions: readonly Suggestion[]) {
    super('UNAVAILABLE', reason, suggestions)
  }
}

/** Lists the ways to get the server, in the order to try them; only one if forced or given. Throws CONFIGURATION. */
function waysToTry({ kind }: ServerRequest, environment: NodeJS.ProcessEnv): readonly ServerWay[] {
  const forced = environment[wayVariable]
  if (!forced) return givenVariable(kind, environment) ? ['given'] : serverWays.filter((way) => way !== 'given')
  const way = serverWays.find((way) => way === forced)
  if (!way) {
    const known = serverWays.join(', ')
    throw new AdminError('CONFIGURATION', `${wayVariable} is ${forced}; allowed: ${known}`, [takeAnyWay])
  }
  if (way === 'given' && !givenVariable(kind, environment)) {
    const variable = givenVariableName(kind)
    throw new AdminError('CONFIGURATION', `${wayVariable} is set to \`given\`, but ${variable} is not set`, [
      useGiven(variable),
      takeAnyWay,
    ])
  }
  return [way]
}

/** Returns suggestions if none of these ways works: first what each way needs, then what avoids them all. */
function suggestionsFor(
  { kind }: ServerRequest,
  failures: readonly unknown[],
  environment: NodeJS.ProcessEnv,
): readonly Suggestion[] {
  const opening = failures.flatMap((error) => (error instanceof AdminError ? error.suggestions : []))
  return [...new Set(opening), environment[wayVariable] ? takeAnyWay : useGiven(givenVariableName(kind))]
}

const takeAnyWay = command`unset ${wayVariable}   # the lab then tries every way to start servers`

const useGiven = (variable: string): Suggestion => command`export ${variable}=${nested('…')}   # uses a running server`
