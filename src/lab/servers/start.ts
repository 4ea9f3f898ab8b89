import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { AdminError, messageOf } from '../../core/error.ts'
import { assertEngine, startDocker } from './docker/index.ts'
import { givenVariable, givenVariableName, takeGiven, wayVariable } from './given.ts'
import { startLocal } from './local/index.ts'
import { assertPortFree, freePort, loopback } from './local/ports.ts'
import { obtainPrograms } from './packages/index.ts'
import { installedPrograms } from './programs.ts'
import { readServer } from './record.ts'
import { removeParts } from './lifecycle.ts'
import { serverNames, serverWays } from './types.ts'
import type { ServerRecord, ServerRequest, ServerWay, StartOptions } from './types.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'

/**
 * Starts a server, or uses the given one, in the first way that works here; `TESTOPS_ADMIN_LAB_SERVERS` forces one. The
 * server outlives this process. Everything is recorded (`readServer`) before it is made. Throws REFUSED if the
 * directory already holds a server; UNAVAILABLE if the port is taken or no way works; INTERRUPTED.
 */
export async function startServer(request: ServerRequest, options: StartOptions): Promise<ServerRecord> {
  if (!isAbsolute(request.directory))
    throw new AdminError('USAGE', `a server's folder must be an absolute path, not ${request.directory}`)
  if (await readServer(request.directory)) {
    throw new AdminError('REFUSED', `${request.directory} already holds a server`, ['testops-admin lab down'])
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
        options.progress(`could not get ${name} from ${way}, trying another way: ${messageOf(error)}`)
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
    throw new AdminError('CONFIGURATION', `${wayVariable} is ${forced}; it must be one of ${known}`, [takeAnyWay])
  }
  if (way === 'given' && !givenVariable(kind, environment)) {
    const variable = givenVariableName(kind)
    throw new AdminError('CONFIGURATION', `${wayVariable} is given, but ${variable} is not set`, [
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

const takeAnyWay = command`unset ${wayVariable}   # tries every way that works here`

const useGiven = (variable: string): Suggestion => command`export ${variable}=${nested('…')}   # uses a running server`
