// Makes one executable file of Node and the program: a single executable application (nodejs.org, "Single executable
// applications").
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import { fetchedPostject } from './fetched.js'

const require = createRequire(import.meta.url)

/** What Node looks for in its own program, to know that a blob is there. */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** Returns the file of the program's parts, the same for all processors, made by `node`, which runs here. */
export async function preparedBlob({ root, work, node }) {
  // a relative path: Node keeps it in the blob, which must not differ from one folder to the next
  const main = 'testops-admin.cjs'
  const [manifest, config, blob] = ['package.json', 'sea.json', 'blob'].map((it) => join(work, it))
  await build({
    absWorkingDir: root,
    entryPoints: ['bin/one-file.cjs'],
    outfile: join(work, main),
    bundle: true,
    platform: 'node',
    target: 'node22',
    minify: true,
    logLevel: 'warning',
  })
  const { name, version, description, type, oclif, engines } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  writeFileSync(manifest, JSON.stringify({ name, version, description, type, oclif, engines }))
  const programs = readdirSync(join(root, 'dist'), { recursive: true })
    .filter((it) => /^(?:lab|logs|results|runtime)\/.*\.js$/.test(it))
    .sort()
  const texts = readdirSync(join(root, 'dist')).filter((it) => /^texts\.\w+\.json$/.test(it))
  const templates = readdirSync(join(root, 'templates'), { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile())
    .map((it) => relative(root, join(it.parentPath, it.name)))
    .sort()
  const parts = [
    'oclif.manifest.json',
    ...['main.cjs', 'mcp-sdk.cjs', ...programs, ...texts.sort()].map((it) => `dist/${it}`),
    ...templates,
  ]
  writeFileSync(
    config,
    JSON.stringify({
      main,
      output: blob,
      disableExperimentalSEAWarning: true,
      // V8's cache of all that a command ran saves twice as much (bin/load.cjs), and is not the same each time
      useCodeCache: false,
      // what NODE_OPTIONS says is meant for another Node
      execArgvExtension: 'none',
      // one-file.cjs loads its own programs, and they load check files, with what Node still calls experimental
      execArgv: ['--disable-warning=ExperimentalWarning', '--experimental-vm-modules'],
      assets: { 'package.json': manifest, ...Object.fromEntries(parts.map((it) => [it, join(root, it)])) },
    }),
  )
  execFileSync(node, ['--experimental-sea-config', config], { cwd: work, stdio: ['ignore', 'ignore', 'pipe'] })
  return blob
}

/** Puts the parts into a copy of Node. */
export async function oneFile({ node, blob, file, work }) {
  const next = join(work, 'one-file')
  copyFileSync(node, next)
  const { inject } = require(fetchedPostject(work))
  await quietly(async () => inject(next, 'NODE_SEA_BLOB', readFileSync(blob), { sentinelFuse: fuse }))
  chmodSync(next, 0o755)
  renameSync(next, file)
}

/** Keeps from the terminal what postject says of sections without a name, which Node's program has. */
async function quietly(work) {
  const { write } = process.stderr
  const { error, warn, log } = console
  process.stderr.write = () => true
  Object.assign(console, { error() {}, warn() {}, log() {} })
  try {
    await work()
  } finally {
    process.stderr.write = write
    Object.assign(console, { error, warn, log })
  }
}
