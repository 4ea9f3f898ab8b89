// AssemblyScript becomes WebAssembly wherever the sources are bundled or run.
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Compiles the module whose main file that is: with SIMD if it is called simd.as. Throws what the compiler says. Our
 * files end in .as, since TypeScript would take those in .ts for its own.
 */
export async function compileWasm(path) {
  const { default: asc } = await import('assemblyscript/asc')
  const name = basename(path, '.as')
  const folder = dirname(path)
  let bytes
  const { error, stderr } = await asc.main(
    [
      `${name}.ts`,
      ...['--outFile', 'out.wasm', '--runtime', 'stub', '-O3', '--noAssert', '--zeroFilledMemory', '--use', 'abort='],
      ...[name === 'simd' ? '--enable' : '--disable', 'simd'],
    ],
    {
      readFile: (file) => readFile(join(folder, `${basename(file, '.ts')}.as`), 'utf8').catch(() => null),
      writeFile: (file, contents) => void (file === 'out.wasm' && (bytes = contents)),
    },
  )
  if (error) throw new Error(`${path}: ${stderr.toString()}`)
  return bytes
}

/** Plugin for esbuild: an import of such a file is the module. */
export const wasm = {
  name: 'wasm',
  setup({ onLoad }) {
    onLoad({ filter: /\.as$/ }, async ({ path }) => ({ contents: await compileWasm(path), loader: 'binary' }))
  },
}
