import { holderIn } from './holder-orders.ts'
import type { HolderOrders, HolderReport } from './holder-orders.ts'
import { labNames, serversOf } from './lab.ts'
import type { Lab } from './lab.ts'
import type { LabLayout } from './layout.ts'
import { removeSideProgram, startSideProgram } from './side-program/control.ts'

/** Starts a program that holds connections of the service's user, as a leaking job does. Returns once it has them. */
export async function startHolder(lab: Lab, count: number | null): Promise<void> {
  const servers = await serversOf(lab)
  const { host, port } = servers.postgres
  const { role, database } = labNames(lab.state, servers)
  const orders: HolderOrders = { host, port, user: role, password: lab.state.databasePassword, database, count }
  await startSideProgram<HolderReport>(lab, holderIn(lab.layout.holder), orders, ({ done }) => done)
}

/** Stops the program that holds connections. Returns true if one was running. */
export async function stopHolder(layout: LabLayout): Promise<boolean> {
  return removeSideProgram(holderIn(layout.holder))
}
