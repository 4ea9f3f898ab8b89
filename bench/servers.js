// Starts servers for benchmarks as the lab starts its own, and loads the parts of the sources that are measured alone.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromSources } from './bundle.js'

const wanted = `export {openMessageMover} from './src/adapters/rabbitmq/messages/index.ts'
  export {Secret} from './src/core/secret.ts'
  export {startServer, removeServer} from './src/lab/servers/index.ts'`

/** Calls `run` with a function that starts servers. Removes all of them afterwards. */
export async function withServers(run) {
  const folder = mkdtempSync(join(tmpdir(), 'testops-admin-bench-'))
  const started = []
  try {
    const { startServer, removeServer, ...parts } = await fromSources(wanted)
    const start = async (request) => {
      const server = await startServer(
        { ...request, directory: join(folder, String(started.length)) },
        { progress: console.log },
      )
      started.push(() => removeServer(server))
      return server
    }
    return await run(start, parts)
  } finally {
    for (const remove of started.reverse()) await remove()
    rmSync(folder, { recursive: true, force: true })
  }
}
