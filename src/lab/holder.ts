import { spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AdminError } from '../core/error.ts'
import { labNames, serversOf } from './lab.ts'
import type { Lab } from './lab.ts'
import { builtProgram } from './layout.ts'
import type { LabLayout } from './layout.ts'
import { until } from './service.ts'
import { markOf } from './servers/local/processes.ts'
import { isAlive } from '../adapters/process-identity.ts'
import type { ProcessIdentity } from '../adapters/process-identity.ts'
import { writePrivate } from './servers/private-file.ts'

/** What the program that holds connections is told: holder.json in its folder. */
export interface HolderOrders {
  host: string
  port: number
  user: string
  password: string
  database: string
  /** how many connections; null: every one that is to be had, and those that become free */
  count: number | null
}

/** What it says of itself: holder.pid. */
export interface HolderReport extends ProcessIdentity {
  held: number
  /** it holds what it was told to */
  done: boolean
}

/** Starts a program that holds connections of the service's user, as a leaking job does; returns once it has them. */
export async function startHolder(lab: Lab, count: number | null): Promise<void> {
  await stopHolder(lab.layout)
  const servers = await serversOf(lab)
  const { host, port } = servers.postgres
  const { role, database } = labNames(lab.state, servers)
  const orders: HolderOrders = { host, port, user: role, password: lab.state.databasePassword, database, count }
  const { holder } = lab.layout
  await writePrivate(join(holder, 'holder.json'), JSON.stringify(orders))
  const program = await builtProgram('lab/connection-holder.js')
  const child = spawn(process.execPath, [program, holder], { detached: true, stdio: 'ignore', env: { PATH: '/usr/bin:/bin', ...markOf(holder) } })
  let failed = false
  child.once('exit', () => (failed = true))
  child.once('error', () => (failed = true))
  child.unref()
  await until(lab, 'the connections are in use', async () => {
    if (failed) throw new AdminError('FAILED', 'the program that holds database connections ended', ['testops-admin lab mend'])
    return (await holderReport(lab.layout))?.done === true
  })
}

/** Ends the program that holds connections. Gives whether one ran. */
export async function stopHolder(layout: LabLayout): Promise<boolean> {
  const report = await holderReport(layout)
  // it ends by itself once its orders are gone, should it not have said yet who it is
  await rm(layout.holder, { recursive: true, force: true })
  if (!report || !(await isAlive(report))) return false
  process.kill(report.pid, 'SIGKILL')
  await until({}, 'the program that holds connections has gone', async () => !(await isAlive(report)))
  return true
}

async function holderReport({ holder }: LabLayout): Promise<HolderReport | null> {
  try {
    return JSON.parse(await readFile(join(holder, 'holder.pid'), 'utf8')) as HolderReport
  } catch {
    return null
  }
}
