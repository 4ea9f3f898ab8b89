import { access, constants, readdir, realpath } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { tryProgram } from './run-program.ts'
import { isOfLine, lineNames, oldestPostgres } from './versions.ts'
import type { Programs, RabbitmqLine, ServerRequest } from './types.ts'

/** The installed programs that serve the request; else why there are none. */
export async function installedPrograms(request: ServerRequest, environment: NodeJS.ProcessEnv): Promise<Programs | string> {
  if (process.platform !== 'linux') return `servers from programs run on Linux alone, not on ${process.platform}`
  const path = (environment['PATH'] ?? '').split(delimiter).filter(Boolean)
  if (request.kind === 'redis') return installedRedis(path)
  if (request.kind === 'postgres') return installedPostgres(path)
  return installedRabbitmq(path, request.rabbitmq?.line ?? '3')
}

async function installedRedis(path: readonly string[]): Promise<Programs | string> {
  for (const folder of [...path, '/usr/bin', '/usr/local/bin']) {
    const server = join(folder, 'redis-server')
    const ran = await tryProgram(server, ['--version'], { timeoutMs: 5000 })
    const version = ran.ok ? /v=(\d+\.\d+\.\d+)/.exec(ran.stdout)?.[1] : undefined
    if (version) return { kind: 'redis', version, server }
  }
  return 'redis-server is not installed'
}

async function installedPostgres(path: readonly string[]): Promise<Programs | string> {
  // Debian keeps the server's programs off the path, by major version
  const debian = (await folders('/usr/lib/postgresql')).sort((a, b) => Number(b) - Number(a))
  const candidates = [...debian.map((major) => `/usr/lib/postgresql/${major}/bin`), ...path]
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
  return tooOld ? `PostgreSQL ${tooOld} is installed, ${oldestPostgres} or later is needed` : 'PostgreSQL is not installed'
}

async function installedRabbitmq(path: readonly string[], line: RabbitmqLine): Promise<Programs | string> {
  const erlang = await findFolder([...path, '/usr/bin'], 'erl')
  if (!erlang) return 'Erlang, which RabbitMQ runs on, is not installed'
  let other: string | null = null
  for (const folder of ['/usr/lib/rabbitmq/bin', ...path]) {
    // the scripts of /usr/sbin switch to another user; those of the installation do not
    if (!(await executable(join(folder, 'rabbitmq-server'))) || /\/sbin$/.test(folder)) continue
    const scripts = dirname(await realpath(join(folder, 'rabbitmq-server')))
    const version = /rabbitmq_server-(\d+\.\d+\.\d+)/.exec(scripts)?.[1]
    if (!version) continue
    if (isOfLine(version, line)) return { kind: 'rabbitmq', version, scripts, erlang: [erlang] }
    other ??= version
  }
  return other ? `RabbitMQ ${other} is installed, ${lineNames[line]} is needed` : 'RabbitMQ is not installed'
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
