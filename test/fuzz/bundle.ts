import { build as bundle } from 'esbuild'
import type { Plugin } from 'esbuild'
import { compileWat } from '../../bin/wat.js'

/** As in bin/wat.js. */
const wat: Plugin = {
  name: 'wat',
  setup(build) {
    build.onLoad({ filter: /\.wat$/ }, async ({ path }) => ({
      contents: new Uint8Array(await compileWat(path)),
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
    plugins: [wat],
    external: ['pg-native', 'testcontainers'],
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    banner: {
      js: "import {createRequire as __createRequire} from 'node:module';const require=__createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  })
}
