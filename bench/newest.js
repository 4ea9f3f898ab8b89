// The newest of what one would use instead that a release of Debian has, run from a cache as the lab's own servers are.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fromSources } from './bundle.js'

const suite = 'forky'

/** Where each program lies below the folder that its package was unpacked to. */
const programs = {
  curl: { packageName: 'curl', find: (root) => join(root, 'usr/bin/curl') },
  grep: { packageName: 'grep', find: (root) => join(root, 'usr/bin/grep') },
  psql: {
    packageName: 'postgresql-client',
    find: (root) => join(only(join(root, 'usr/lib/postgresql'), /^\d+$/), 'bin/psql'),
  },
  'redis-cli': { packageName: 'redis-tools', find: (root) => join(root, 'usr/bin/redis-cli') },
}

/**
 * The words with which a program is run, without a shell in between, which would count as the program's own time; and
 * its version.
 */
export async function newest(name) {
  const { unpackDebian, cached, cacheFolder } = await fromSources(`
    export {unpackDebian} from './src/lab/servers/packages/debian.ts'
    export {cached, cacheFolder} from './src/lab/servers/packages/cache.ts'`)
  const { packageName, find } = programs[name]
  const cache = cacheFolder(process.env)
  const options = { progress: console.log }
  mkdirSync(cache, { recursive: true })
  const root = await cached(
    cache,
    `${name}-${suite}`,
    (temporary) => unpackDebian({ suite, packageName, cache, root: temporary }, options),
    options,
  )
  const libraries = only(join(root, 'usr/lib'), /-linux-gnu$/)
  const words = [only(libraries, /^ld-linux.*\.so\.\d+$/), '--library-path', libraries, find(root)]
  const version = /\d+(?:\.\d+)+/.exec(
    execFileSync(words[0], [...words.slice(1), '--version'], { encoding: 'utf8' }),
  )[0]
  return { words, version }
}

function only(folder, pattern) {
  return join(
    folder,
    readdirSync(folder).find((name) => pattern.test(name)),
  )
}
