import { access, constants, readdir, realpath } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { AdminError } from '../../core/error.ts'
import { tryProgram } from './try-program.ts'
import { isOfLine, lineNames, oldestPostgres } from './versions.ts'
import type { Programs, RabbitmqLine, ServerRequest } from './types.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'

/**
 * Finds installed programs for the request. `root` is the folder that the system is installed in. Throws UNAVAILABLE if
 * there are none.
 */
export async function installedPrograms(
  request: ServerRequest,
  environment: NodeJS.ProcessEnv,
  root = '/',
): Promise<Programs> {
  if (process.platform !== 'linux') throw missing(`servers from programs run only on Linux, not on ${process.platform}`)
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
  return command`testops-admin lab down; testops-admin lab up --broker ${line}   # uses the installed RabbitMQ`
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
