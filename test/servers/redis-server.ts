import { installedPrograms } from '../../src/lab/servers/index.ts'
import { obtainPrograms } from '../../src/lab/servers/packages/index.ts'
import { servers } from './servers.ts'

/**
 * Returns the Redis program for a server with the test's own configuration: the run's, else this machine's, else
 * Debian's, fetched once.
 */
export async function redisServer(): Promise<string> {
  const request = { kind: 'redis', directory: '' } as const
  const options = { progress: (message: string) => void process.stderr.write(`servers: ${message}\n`) }
  const programs =
    servers().redis.local?.programs ??
    (await installedPrograms(request, process.env).catch(async () => obtainPrograms(request, options, process.env)))
  if (programs.kind !== 'redis') throw new Error(`these are programs of ${programs.kind}`)
  return programs.server
}
