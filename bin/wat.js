// WebAssembly is written as text, and becomes bytes wherever the sources are bundled or run.
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import wabt from 'wabt'

/** Compiles the WebAssembly text in that file to bytes. */
export async function compileWat(path) {
  const { parseWat } = await wabt()
  const module = parseWat(basename(path), await readFile(path, 'utf8'), { simd: true })
  try {
    module.validate()
    return module.toBinary({}).buffer
  } finally {
    module.destroy()
  }
}

/** Plugin for esbuild: an import of such a file is the module. */
export const wat = {
  name: 'wat',
  setup({ onLoad }) {
    onLoad({ filter: /\.wat$/ }, async ({ path }) => ({ contents: await compileWat(path), loader: 'binary' }))
  },
}
