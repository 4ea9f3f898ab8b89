// Bundles src/ into dist/: one file a command with its dependencies in shared chunks, and oclif's manifest beside it.
// Code that only some path needs stays in chunks of its own, because it is reached by `import()`.
import {cp, readdir, rename, rm, writeFile} from 'node:fs/promises'
import {dirname, join, relative} from 'node:path'
import {fileURLToPath} from 'node:url'
import {build} from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const output = join(root, 'dist')
const next = join(root, `dist.next-${process.pid}`)

const commands = (await readdir(join(root, 'src/commands'), {recursive: true}))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join('src/commands', name))
const programs = ['src/main.ts', 'src/docs.ts', 'src/lab/practice-service/main.ts', 'src/lab/service-control.ts', 'src/lab/connection-holder.ts']

await build({
  absWorkingDir: root,
  entryPoints: [...commands, ...programs].map((path) => ({in: path, out: relative('src', path).replace(/\.ts$/, '')})),
  outdir: next,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  // bundled CommonJS packages call require() for Node's own modules
  banner: {js: "import {createRequire as __createRequire} from 'node:module';const require=__createRequire(import.meta.url);"},
  external: ['testcontainers', 'pg-native', 'typescript', 'tsx', 'ts-node'],
  logLevel: 'warning',
})
await cp(join(root, 'src/output/schemas'), join(next, 'schemas'), {recursive: true})

// put in place at once, so that a program that starts meanwhile finds the old files or the new ones
await rename(output, `${next}.old`).catch((error) => {
  if (error.code !== 'ENOENT') throw error
})
await rename(next, output)
await rm(`${next}.old`, {recursive: true, force: true})

const {Plugin} = await import('@oclif/core')
const plugin = new Plugin({root, ignoreManifest: true, errorOnManifestCreate: true, respectNoCacheDefault: true})
await plugin.load()
await writeFile(join(root, 'oclif.manifest.json'), JSON.stringify(plugin.manifest))
const names = Object.keys(plugin.manifest.commands)
console.log(`built ${names.length} commands: ${names.join(', ')}`)
