import { readdir, rm, rmdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { dropVhost } from './access/broker.ts'
import { dropDatabase } from './access/database.ts'
import { removeSessions } from './access/sessions.ts'
import { stopHolder } from './holder.ts'
import { allServers, goOn, serversOf } from './lab.ts'
import type { LabOptions } from './lab.ts'
import { labLayout } from './layout.ts'
import type { LabLayout } from './layout.ts'
import { serverTitles } from './lab-servers.ts'
import { asOperator } from './operator-lock.ts'
import { removeServer } from './servers/index.ts'
import { stop } from './service-control/control.ts'
import { unitIn } from './service-control/unit.ts'
import { readState, writeState } from './state.ts'
import type { LabState } from './state.ts'

export interface Down {
  /** false: there was no lab */
  found: boolean
  /** what was taken away, for people */
  removed: readonly string[]
}

/** Stops and removes everything of the lab, also what a killed `lab up` left. Harmless where there is none. */
export async function takeLabDown(options: LabOptions): Promise<Down> {
  const layout = labLayout(options.root)
  if (!(await exists(layout.root))) return { found: false, removed: [] }
  const removed = await asOperator(layout, 'lab down', () => removeLab(layout, options))
  // an operator who reached for the lock meanwhile keeps the folder
  await rmdir(layout.root).catch(() => undefined)
  return { found: true, removed }
}

/** As `takeLabDown`, for whoever holds the operator's lock. */
export async function removeLab(layout: LabLayout, options: Omit<LabOptions, 'root' | 'diagnose'>): Promise<string[]> {
  const removed: string[] = []
  const gone = (what: string): void => {
    removed.push(what)
    options.progress(`${what} is gone`)
  }
  // a damaged state must not keep anything running
  const state = await readState(layout).catch(() => null)
  if (state) await writeState(layout, { ...state, phase: 'stopping' })
  for (const directory of [layout.secondService, layout.service]) {
    if ((await stop(unitIn(directory)).catch(ifMissing)) === 'stopped') gone(directory === layout.service ? 'the practice service' : 'its second instance')
  }
  if (await stopHolder(layout)) gone('the program that held database connections')
  if (state) await cleanGiven({ ...options, layout, state })
  for (const record of await allServers(layout)) {
    goOn(options)
    await removeServer(record)
    gone(record.way === 'given' ? `what the lab had on the given ${serverTitles[record.kind]}` : `${serverTitles[record.kind]} at ${record.host}:${record.port}`)
  }
  for (const name of await readdir(layout.root)) {
    if (name !== basename(layout.lock)) await rm(join(layout.root, name), { recursive: true, force: true })
  }
  return removed
}

/** Takes what is the lab's from servers that go on running. */
async function cleanGiven(lab: Omit<LabOptions, 'root' | 'diagnose'> & { layout: LabLayout; state: LabState }): Promise<void> {
  const servers = await serversOf(lab).catch(() => null)
  if (!servers) return
  const { postgres, rabbitmq, redis } = servers
  const complain = (what: string) => (error: unknown) => lab.progress(`${what} could not be removed: ${error instanceof Error ? error.message : String(error)}`)
  if (postgres.way === 'given') await dropDatabase(lab, servers).catch(complain('the database of the lab'))
  if (rabbitmq.way === 'given') await dropVhost(lab, servers).catch(complain('the virtual host of the lab'))
  if (redis.way === 'given') await removeSessions(lab).catch(complain('the sessions of the lab'))
}

function ifMissing(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
  throw error
}

async function exists(folder: string): Promise<boolean> {
  return readdir(folder).then(() => true, () => false)
}
