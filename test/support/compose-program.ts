import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from '../../src/adapters/process.ts'
import { cached, cacheFolder } from '../../src/lab/servers/packages/cache.ts'
import { unpackDebian } from '../../src/lab/servers/packages/debian.ts'
import { writeStarter } from '../../src/lab/servers/packages/index.ts'

const suite = 'trixie'

/**
 * Fetches the real Docker Compose of Debian trixie (2.26.1), once, and returns its path. `config` needs no engine.
 * Throws UNAVAILABLE if it cannot be fetched.
 */
export async function composeProgram(): Promise<string> {
  const options = { progress: (message: string) => void process.stderr.write(`servers: ${message}\n`) }
  const cache = cacheFolder(process.env)
  const make = async (temporary: string, final: string): Promise<void> => {
    options.progress(`fetching Docker Compose from Debian ${suite} (about 20 MB, once)`)
    await unpackDebian({ suite, packageName: 'docker-compose', cache, root: temporary }, options)
    await mkdir(join(temporary, 'bin'))
    await writeStarter(
      { root: temporary, final },
      join(temporary, 'bin/docker-compose'),
      join(temporary, 'usr/libexec/docker/cli-plugins/docker-compose'),
      'docker-compose',
    )
  }
  return join(await cached(cache, `docker-compose-${suite}`, make, options), 'bin/docker-compose')
}

interface Asked {
  directory: string
  /** The whole environment of the program; absent: this process's own */
  environment?: Readonly<Record<string, string>>
  input?: string
}

/** Runs the program. A failure is a value, not an error. */
export async function askCompose(
  program: string,
  words: readonly string[],
  { directory, environment, input = '' }: Asked,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { exitCode, stdout, stderr } = await runProgram([program, ...words], {
    timeoutMs: 60_000,
    maxBytes: 16_000_000,
    directory,
    input,
    ...(environment && { environment, isolated: true }),
  })
  return { code: exitCode ?? 1, stdout, stderr }
}
