import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { installedPrograms, readServer, removeServer, startServer } from '../../../src/lab/servers/index.ts'
import type { ServerRecord, ServerRequest, ServerWay } from '../../../src/lab/servers/index.ts'
import { processesOf } from '../../../src/lab/servers/local/processes.ts'

/** A folder for servers of one test, removed with whatever was started in it. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin servers-'))
  onTestFinished(async () => {
    for (const name of await readdir(folder)) {
      const record = await readServer(join(folder, name))
      if (record) await removeServer(record)
    }
    await rm(folder, { recursive: true, force: true })
  })
  return folder
}

/** The folder of a server that is not there yet. */
export async function freshDirectory(): Promise<string> {
  return join(await temporaryFolder(), 'server')
}

export const silent = { progress: () => {} }

/** Starts a server of the test's own, by one way alone where that is given. */
export async function ownServer(request: Omit<ServerRequest, 'directory'>, way?: ServerWay): Promise<ServerRecord> {
  const directory = join(await temporaryFolder(), request.kind)
  return startServer({ ...request, directory }, { ...silent, environment: environmentFor(way) })
}

export function environmentFor(way?: ServerWay): NodeJS.ProcessEnv {
  return way ? { ...process.env, TESTOPS_ADMIN_LAB_SERVERS: way } : process.env
}

/** Something that listens on this machine, and never answers. */
export async function listening(onPort = 0): Promise<{ server: Server; port: number }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(onPort, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { server, port: (server.address() as AddressInfo).port }
}

/** The ways without an engine that this machine allows for that request. */
export async function localWays(request: Omit<ServerRequest, 'directory'>): Promise<ServerWay[]> {
  const installed = await installedPrograms({ ...request, directory: '/' }, process.env).catch(() => null)
  return installed ? ['programs', 'packages'] : ['packages']
}

/** What is left of a local server: processes, folders, mounted disks. */
export async function leftOf(record: ServerRecord): Promise<readonly string[]> {
  const home = record.local?.home ?? record.directory
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').filter((line) => line.includes(home))
  const folders = await Promise.all(
    [home, record.directory].map(async (path) => ((await readdir(path).catch(() => null)) ? [path] : [])),
  )
  const data = join(home, record.kind === 'postgres' ? 'disk/data' : 'data')
  return [...processesOf(record.id, data).map((pid) => `process ${pid}`), ...folders.flat(), ...mounts]
}
