// Fetches the newest tools to compare with from a Debian release, and runs them from a cache like the lab's own
// servers.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fromSources } from './bundle.js'

const suite = 'forky'

/** Path of each program below the folder that its package was unpacked to. */
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
 * Returns the words that run a program, and its version. No shell is in between, since its time would count as the
 * program's.
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
