import { build as bundle } from 'esbuild'
import type { Plugin } from 'esbuild'
import { compileWasm } from '../../bin/wasm.js'

/** As in bin/wasm.js. */
const wasm: Plugin = {
  name: 'wasm',
  setup(build) {
    build.onLoad({ filter: /\.as$/ }, async ({ path }) => ({
      contents: new Uint8Array(await compileWasm(path)),
      loader: 'binary',
    }))
  },
}

/** Writes the program that gives a reader its inputs, as one file that Node runs. */
export async function bundleChild(outfile: string): Promise<void> {
  await bundle({
    entryPoints: ['test/fuzz/child.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    keepNames: true,
    plugins: [wasm],
    external: ['pg-native', 'testcontainers'],
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    banner: {
      js:
        "import {createRequire as __createRequire} from 'node:module';" +
        'const require=__createRequire(import.meta.url);',
    },
    logLevel: 'warning',
  })
}
