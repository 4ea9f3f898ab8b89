// Bundles src/ into dist/: one file a command with its dependencies in shared chunks, and oclif's manifest beside it.
// Code that only some path needs stays in chunks of its own, because it is reached by `import()`.
import {cp, readFile, readdir, rm, writeFile} from 'node:fs/promises'
import {dirname, join, relative} from 'node:path'
import {fileURLToPath} from 'node:url'
import {build} from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const output = join(root, 'dist')

const commands = (await readdir(join(root, 'src/commands'), {recursive: true}))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join('src/commands', name))

await rm(output, {recursive: true, force: true})
const result = await build({
  absWorkingDir: root,
  entryPoints: [...commands, 'src/main.ts', 'src/lab/practice-service/main.ts', 'src/lab/service-control.ts'].map((path) => ({
    in: path,
    out: relative('src', path).replace(/\.ts$/, ''),
  })),
  outdir: output,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  keepNames: true,
  legalComments: 'none',
  // bundled CommonJS packages call require() for Node's own modules
  banner: {js: "import {createRequire as __createRequire} from 'node:module';const require=__createRequire(import.meta.url);"},
  external: ['testcontainers', 'pg-native', 'typescript', 'tsx', 'ts-node'],
  metafile: true,
  logLevel: 'warning',
})
await writeFile(join(output, 'meta.json'), JSON.stringify(result.metafile))
await cp(join(root, 'src/output/schemas'), join(output, 'schemas'), {recursive: true})

const {Plugin} = await import('@oclif/core')
const plugin = new Plugin({root, ignoreManifest: true, errorOnManifestCreate: true, respectNoCacheDefault: true})
await plugin.load()
await writeFile(join(root, 'oclif.manifest.json'), JSON.stringify(plugin.manifest))
const names = Object.keys(plugin.manifest.commands)
console.log(`built ${names.length} commands: ${names.join(', ')}`)
