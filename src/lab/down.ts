import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../core/error.ts'
import { dropVhost } from './access/broker.ts'
import { dropDatabase } from './access/database.ts'
import { removeSessions } from './access/sessions.ts'
import { holdsLab, locksIn, othersIn, partsIn, tracesIn } from './contents.ts'
import { endDrill } from './drill-record.ts'
import { stopExternalSystem } from './external-system/control.ts'
import { isNoRoom, labLayout } from './layout.ts'
import { stopHolder } from './holder.ts'
import { allServers, goOn, serversOf } from './lab.ts'
import type { LabOptions } from './lab.ts'
import type { LabLayout } from './layout.ts'
import { forgetRepairs } from './repairs.ts'
import { asOperator } from './operator-lock.ts'
import { stopProxy } from './reverse-proxy/control.ts'
import { removeServer, serverNames } from './servers/index.ts'
import { dropOldClaims } from './servers/local/ports.ts'
import { endStragglers, stop } from './service-control/control.ts'
import { unitIn } from './service-control/unit.ts'
import { readState, writeState } from './state.ts'
import type { LabState } from './state.ts'

export interface Down {
  /** true if there was a lab */
  found: boolean
  /** what was removed, for people */
  removed: readonly string[]
}

/**
 * Stops and removes the whole lab, including what a killed `lab up` left. Other files in its folder stay. Harmless if
 * there is no lab. Throws BUSY; UNAVAILABLE if the folder cannot be used.
 */
export async function takeLabDown(options: LabOptions): Promise<Down> {
  const layout = labLayout(options.root)
  if ((await tracesIn(layout)).length === 0) return { found: false, removed: [] }
  // on a full disk, this makes room
  return asOperator(
    layout,
    'lab down',
    async () => {
      const found = await holdsLab(layout)
      const removed = found ? await removeLab(layout, options) : []
      for (const left of await locksIn(layout)) await rm(join(layout.root, left), { force: true })
      await dropOldClaims()
      return { found, removed }
    },
    { evenIfFull: true, signal: options.signal },
  )
}

/** Like `takeLabDown`. The caller holds the operator lock. */
export async function removeLab(layout: LabLayout, options: Omit<LabOptions, 'root' | 'diagnose'>): Promise<string[]> {
  const removed: string[] = []
  const gone = (what: string): void => {
    removed.push(what)
    options.progress(`${what} is gone`)
  }
  // a damaged state must not keep anything running
  const state = await readState(layout).catch(() => null)
  if (state) await rememberStopping(layout, state)
  if (await endDrill(layout, 'abandoned', options.progress).catch(() => null)) gone('the drill that was under way')
  const units = [unitIn(layout.secondService), unitIn(layout.service)]
  for (const unit of units) {
    if ((await stop(unit).catch(ifMissing)) === 'stopped')
      gone(unit.directory === layout.service ? 'the practice service' : 'the second instance of the practice service')
  }
  if (await stopHolder(layout)) gone('the program that held database connections')
  if (await stopProxy(layout)) gone('the reverse proxy in front of the service')
  if (await stopExternalSystem(layout)) gone('the external system of the integrations')
  if (state) await cleanGiven({ ...options, layout, state })
  const servers = await allServers(layout)
  await forgetRepairs(layout.root)
  for (const record of servers) {
    goOn(options)
    await removeServer(record)
    gone(
      record.way === 'given'
        ? `the lab's data on your ${serverNames[record.kind]}`
        : `${serverNames[record.kind]} at ${record.host}:${record.port}`,
    )
  }
  for (const name of await partsIn(layout))
    await rm(join(layout.root, name), { recursive: true, force: true, maxRetries: 5 })
  for (const directory of [layout.secondService, layout.service, layout.holder, layout.proxy, layout.externalSystem])
    await endStragglers(directory)
  // removed last: while the state exists, the rest is known to belong to a lab
  await rm(layout.state, { force: true })
  const others = await othersIn(layout)
  if (others.length > 0)
    options.progress(`${layout.root} was not removed: the folder contains other files (${others.join(', ')})`)
  return removed
}

/** Records that the lab is being taken down. On a full disk it skips the record. */
async function rememberStopping(layout: LabLayout, state: LabState): Promise<void> {
  try {
    await writeState(layout, { ...state, phase: 'stopping' })
  } catch (error) {
    if (!isNoRoom(error)) throw error
  }
}

/** Removes the lab's data from given servers, which keep running. */
async function cleanGiven(
  lab: Omit<LabOptions, 'root' | 'diagnose'> & { layout: LabLayout; state: LabState },
): Promise<void> {
  const servers = await serversOf(lab).catch(() => null)
  if (!servers) return
  const { postgres, rabbitmq, redis } = servers
  const complain = (what: string) => (error: unknown) =>
    lab.progress(`could not remove ${what}: ${error instanceof Error ? error.message : String(error)}`)
  if (postgres.way === 'given') await dropDatabase(lab, servers).catch(complain('the database of the lab'))
  if (rabbitmq.way === 'given') await dropVhost(lab, servers).catch(complain('the virtual host of the lab'))
  if (redis.way === 'given') await removeSessions(lab).catch(complain('the sessions of the lab'))
}

function ifMissing(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null
  throw error
}
