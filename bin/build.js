// Bundles src/ into dist/. The program is one file, which V8 can keep compiled (bin/load.cjs). What only some commands
// need is in it too, but runs only when such a command needs it. The lab's own programs are beside it, and oclif's
// manifest is above.
import { existsSync, renameSync, rmSync } from 'node:fs'
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import Module, { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Plugin } from '@oclif/core'
import { explainTexts, textsOnce } from './explain-texts.js'
import { manPages } from './man.js'
import { restore } from './packed.js'
import { bundledPackages, library, noticesOf, sbomOf } from './third-party.js'
import { wasm } from './wasm.js'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const output = join(root, 'dist')
const next = join(root, `dist.next-${process.pid}`)
const old = `${next}.old`

restore()
// however this ends, nothing unfinished is left, and the earlier build is in its place
process.once('exit', () => {
  if (!existsSync(output) && existsSync(old)) renameSync(old, output)
  for (const folder of [next, old]) rmSync(folder, { recursive: true, force: true })
})
for (const [signal, number] of [
  ['SIGHUP', 1],
  ['SIGINT', 2],
  ['SIGTERM', 15],
])
  process.once(signal, () => process.exit(128 + number))

/** Lines of libraries that cost more at every start than all else there; the build fails if one has changed. */
const patches = [
  {
    // V8 copies the prototype's shape for each of its 600 functions; an object that has lost a property is a dictionary
    file: /ioredis[/\\]built[/\\]utils[/\\]Commander\.js$/,
    lines: [['commands.forEach(', 'Commander.prototype._ = 0; delete Commander.prototype._;\ncommands.forEach(']],
  },
  {
    file: /@kubernetes[/\\]client-node[/\\]dist[/\\]config\.js$/,
    lines: [
      // loads the API's generated classes, two thirds of that library, for a method that is never called
      [
        "import { createConfiguration, ServerConfiguration, } from './gen/index.js';",
        'const createConfiguration = undefined, ServerConfiguration = undefined;',
      ],
      // what Node has itself, with tables for names in all scripts; asked for, it loads all of fetch()
      ["import { Headers } from 'node-fetch';", ''],
      ['const headers = new Headers();', 'const headers = new globalThis.Headers();'],
      // this program connects through proxies itself, and supports none of SOCKS
      ["import { SocksProxyAgent } from 'socks-proxy-agent';", 'const SocksProxyAgent = Object;'],
      [
        "import { HttpProxyAgent, HttpsProxyAgent } from 'hpagent';",
        'const HttpProxyAgent = Object, HttpsProxyAgent = Object;',
      ],
    ],
  },
  {
    // semver compiles 50 patterns to compare one number
    file: /@oclif[/\\]core[/\\]lib[/\\]index\.js$/,
    lines: [
      ["const semver = require('semver');", ''],
      [
        '!semver.satisfies(process.versions.node, pjson.engines.node)',
        '(([major, minor], [least, leastMinor]) => major < least || (major === least && minor < ' +
          'leastMinor))(...[process.versions.node, pjson.engines.node].map((it) => ' +
          'it.match(/\\d+/g).map(Number)))',
      ],
    ],
  },
  {
    // localeCompare loads the sorting rules of a language
    file: /@oclif[/\\]core[/\\]lib[/\\]config[/\\]plugin\.js$/,
    lines: [['a.id.localeCompare(b.id)', '(a.id < b.id ? -1 : 1)']],
  },
]
const patched = {
  name: 'patched',
  setup({ onLoad }) {
    for (const { file, lines } of patches) {
      onLoad({ filter: file }, async ({ path }) => {
        const text = await readFile(path, 'utf8')
        const changed = lines.find(([from]) => !text.includes(from))
        if (changed)
          return {
            errors: [{ text: `${path} has no line \`${changed[0]}\` any more: see \`patches\` in bin/build.js` }],
          }
        return { contents: lines.reduce((so, [from, to]) => so.replace(from, to), text) }
      })
    }
  },
}

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  external: ['testcontainers', 'pg-native', 'typescript', 'tsx', 'ts-node'],
  plugins: [patched, wasm, explainTexts],
  // its main module is UMD, whose inner require() esbuild does not see
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  metafile: true,
  logLevel: 'warning',
}
/** Bundles, and writes from here: esbuild's own process may still write after this one has ended, and cleaned up. */
async function bundled(options) {
  const { outputFiles, ...result } = await build({ ...options, write: false })
  for (const { path, contents } of outputFiles) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, contents)
  }
  return result
}

/** What `mcp` alone needs: beside the program, no other start reads it. */
const sdk = { source: 'src/cli/mcp/sdk.ts', file: 'mcp-sdk.cjs' }
const apart = {
  name: 'apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/sdk\.ts$/ }, ({ resolveDir, path }) =>
      join(resolveDir, path) === join(root, sdk.source) ? { path: `./${sdk.file}`, external: true } : null,
    )
  },
}

// loads while esbuild works
void library()
const { metafile: ofMain } = await bundled({
  ...common,
  plugins: [...common.plugins, apart],
  entryPoints: ['src/main.ts'],
  outfile: join(next, 'main.cjs'),
  format: 'cjs',
  // code that comes from V8's cache can call require(), not import()
  supported: { 'dynamic-import': false },
  banner: {
    js: [
      "const __url=require('node:url').pathToFileURL(__filename).href;",
      // as in Node since version 21; without it, pg loads Node's fetch() to find out where it runs
      "if(!('navigator' in globalThis))globalThis.navigator={userAgent:`Node.js/${process.versions.node}`};",
    ].join(''),
  },
  define: { 'import.meta.url': '__url' },
})
// bin/load.cjs reads it as Latin-1; esbuild escapes other characters in texts, but not in regular expressions (one of
// ansis has U+009B)
const main = await readFile(join(next, 'main.cjs'), 'utf8')
const foreign = /.{0,80}[^\x00-\x7f\x9b].{0,80}/.exec(main)
if (foreign) throw new Error(`not in ASCII, so it has to be made by new RegExp('…'): ${foreign[0]}`)
// adds the function that require() would put around it at every start, with a copy of it all
await writeFile(join(next, 'main.cjs'), Module.wrap(main), 'latin1')
const programs = [
  'src/docs.ts',
  'src/logs/scan/worker.ts',
  'src/results/run/worker.ts',
  'src/runtime/own-checks/program.ts',
  'src/lab/practice-service/main.ts',
  'src/lab/service-control.ts',
  'src/lab/connection-holder.ts',
  'src/lab/reverse-proxy/main.ts',
  'src/lab/external-system/main.ts',
]
const { metafile: ofPrograms } = await bundled({
  ...common,
  entryPoints: programs.map((path) => ({ in: path, out: relative('src', path).replace(/\.ts$/, '') })),
  outdir: next,
  format: 'esm',
  // bundled CommonJS packages call require() for Node's own modules; in the one file, a program has no path
  banner: { js: 'const require=process.getBuiltinModule;' },
})
const { metafile: ofSdk } = await bundled({
  ...common,
  entryPoints: [sdk.source],
  outfile: join(next, sdk.file),
  format: 'cjs',
})
// bin/load.cjs uses this to judge kept compiled code before it loads that
await bundled({
  ...common,
  entryPoints: ['src/adapters/trust/index.ts'],
  outfile: join(next, 'trust.cjs'),
  format: 'cjs',
})
await cp(join(root, 'src/output/schemas'), join(next, 'schemas'), { recursive: true })

// loaded only where that language is wanted
for (const [language, texts] of Object.entries((await textsOnce(join(root, 'explain'))).translations))
  await writeFile(join(next, `texts.${language}.json`), JSON.stringify(texts))

// for the test that compares
const [flag, file] = process.argv.slice(2)
if (flag === '--metafiles') await writeFile(file, JSON.stringify([ofMain, ofSdk, ofPrograms]))
const own = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
const packages = bundledPackages(root, [ofMain, ofSdk, shippedOf(ofPrograms)])
await writeFile(join(next, 'THIRD-PARTY-NOTICES.txt'), noticesOf(packages, own.name))
await writeFile(join(next, 'sbom.cdx.json'), await sbomOf(packages, own))

/** Leaves out the program that makes the documents: it is not shipped (`files` in package.json). */
function shippedOf({ inputs, outputs }) {
  return { inputs, outputs: Object.fromEntries(Object.entries(outputs).filter(([path]) => !path.endsWith('/docs.js'))) }
}

// put in place at once, so that a program that starts meanwhile finds the old files or the new ones
await rename(output, old).catch((error) => {
  if (error.code !== 'ENOENT') throw error
})
await rename(next, output)
await rm(old, { recursive: true, force: true })

/** Gives oclif all commands from one file; oclif expects a file for each. */
class Bundled extends Plugin {
  #commands = createRequire(import.meta.url)('./load.cjs').load(join(output, 'main.cjs'), '').commands
  async getCommandIDs() {
    return Object.keys(this.#commands)
  }
  async findCommand(id) {
    const { default: command } = await this.#commands[id]()
    return Object.assign(command, { id, plugin: this })
  }
}
const plugin = new Bundled({ root, ignoreManifest: true, errorOnManifestCreate: true, respectNoCacheDefault: true })
await plugin.load()
await writeFile(join(root, 'oclif.manifest.json'), JSON.stringify(plugin.manifest))
await mkdir(join(output, 'man'), { recursive: true })
for (const [name, text] of manPages(plugin.manifest.commands, plugin.pjson))
  await writeFile(join(output, 'man', name), text)
const names = Object.keys(plugin.manifest.commands)
console.log(`built ${names.length} commands: ${names.join(', ')}`)
