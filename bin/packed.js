// Bundled packages are under `dependencies`, where `npm audit --omit=dev` sees them. The packed program has them in the
// bundle, and depends on nothing: it installs without a registry, and nothing is installed twice. npm packs
// package.json as it is on disk.
import { copyFileSync, existsSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const [manifest, whole, next] = ['package.json', 'package.json.whole', 'package.json.next'].map((name) =>
  join(root, name),
)

/** Undoes what an interrupted packing has left. */
export function restore() {
  if (existsSync(whole)) renameSync(whole, manifest)
}

function strip() {
  restore()
  const { dependencies: _, ...rest } = JSON.parse(readFileSync(manifest, 'utf8'))
  // npm links the pages that are named one by one
  const man = readdirSync(join(root, 'dist', 'man')).map((name) => `./dist/man/${name}`)
  copyFileSync(manifest, whole)
  writeFileSync(next, `${JSON.stringify({ ...rest, man }, null, 2)}\n`)
  renameSync(next, manifest)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [step] = process.argv.slice(2)
  if (step === 'strip') strip()
  else if (step === 'restore') restore()
  else {
    console.error(
      'The registry would list what is in the bundle as dependencies. Publish what was packed: npm pack && npm ' +
        'publish ./testops-admin-VERSION.tgz',
    )
    process.exitCode = 1
  }
}
