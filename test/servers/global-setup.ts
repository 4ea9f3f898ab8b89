import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { AdminError, messageOf } from '../../src/core/error.ts'
import { hasEnded, markOf } from '../../src/adapters/process-identity.ts'
import { readServer, removeServer, startServer } from '../../src/lab/servers/index.ts'
import { processesOf } from '../../src/lab/servers/local/processes.ts'
import type { ServerRecord, ServerRequest } from '../../src/lab/servers/index.ts'
import { withoutGiven } from '../adapters/own-servers.ts'
import { toldFile } from './servers.ts'
import type { TestServers } from './servers.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** where the servers of this run say that they are there: `ready.ts` */
    serversFolder: string
  }
}

const requests: Readonly<Record<keyof TestServers, Omit<ServerRequest, 'directory'>>> = {
  postgres: { kind: 'postgres', postgres: { maxConnections: 200 } },
  redis: { kind: 'redis', redis: { databases: 1000 } },
  rabbitmq3: { kind: 'rabbitmq', rabbitmq: { line: '3' } },
  rabbitmq43: { kind: 'rabbitmq', rabbitmq: { line: '4.3' } },
}
const names = Object.keys(requests) as (keyof TestServers)[]

/** Folder of the servers of all test runs: `TMP/testops-admin-tests-UID/MARK/NAME`, one set for each run. */
const allRuns = join(tmpdir(), `testops-admin-tests-${process.getuid?.() ?? 0}`)

/** Starts the servers, and returns before they are there: fetching them takes a minute, in which other tests run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const run = join(allRuns, await markOf(process.pid))
  project.provide('serversFolder', run)
  // another project has started them
  if (existsSync(run)) return async () => {}
  await removeLeftovers()
  await mkdir(run, { recursive: true, mode: 0o700 })
  const interrupted = new AbortController()
  const started = names.map((name) => {
    // tests need two lines of brokers and run each one's rabbitmqctl, so a given broker does not suffice
    const environment = requests[name].kind === 'rabbitmq' ? withoutGiven() : process.env
    return startServer(
      { ...requests[name], directory: join(run, name) },
      { progress, signal: interrupted.signal, environment },
    )
  })
  const told = Promise.all(started).then(
    async (records) => tell(run, Object.fromEntries(names.map((name, index) => [name, records[index]!]))),
    async (error: unknown) => tell(run, { failed: messageOf(error) }),
  )
  // on a signal vitest exits at once, without teardown
  process.once('exit', () => removeRunNow(run))
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      removeRunNow(run)
      process.kill(process.pid, signal)
    })
  }
  return async () => {
    interrupted.abort()
    await Promise.allSettled([...started, told])
    await removeRun(run)
  }
}

/** Writes for the workers what there is, at once and whole. */
async function tell(run: string, told: Readonly<Record<string, ServerRecord | string>>): Promise<void> {
  const file = toldFile(run)
  await writeFile(`${file}.part`, JSON.stringify(told), { mode: 0o600 })
  await rename(`${file}.part`, file)
}

function progress(message: string): void {
  process.stderr.write(`servers: ${message}\n`)
}

/** Removes the servers of runs whose vitest was killed. */
async function removeLeftovers(): Promise<void> {
  await mkdir(allRuns, { recursive: true, mode: 0o700 })
  for (const name of await readdir(allRuns)) {
    // a run of another container, which shares this folder, may be at work
    if ((await hasEnded(name)) !== true) continue
    // fails if a container engine is not running: another run removes the rest
    await removeRun(join(allRuns, name)).catch((error: unknown) => {
      if (!(error instanceof AdminError)) throw error
      progress(`what an earlier run left in ${name} stays: ${error.message}`)
    })
  }
}

async function removeRun(run: string): Promise<void> {
  for (const entry of await readdir(run, { withFileTypes: true }).catch(() => [])) {
    const record = entry.isDirectory() ? await readServer(join(run, entry.name)) : null
    if (record) await removeServer(record)
  }
  await rm(run, { recursive: true, force: true })
}

/** Removes what it can without waiting; the next run finds the rest. */
function removeRunNow(run: string): void {
  if (!existsSync(run)) return
  rmSync(toldFile(run), { force: true })
  for (const name of readdirSync(run)) {
    try {
      const { id, local } = JSON.parse(readFileSync(join(run, name, 'server.json'), 'utf8')) as ServerRecord
      if (!local) continue
      const data = join(local.home, local.programs.kind === 'postgres' ? 'disk/data' : 'data')
      for (const pid of processesOf(id, data)) process.kill(pid, 'SIGKILL')
      rmSync(local.home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
      rmSync(join(run, name), { recursive: true, force: true })
    } catch {
      continue
    }
  }
  if (readdirSync(run).length === 0) rmSync(run, { recursive: true })
}
