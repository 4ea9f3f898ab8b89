import { join } from 'node:path'
import type { ProcessIdentity } from '../adapters/process-identity.ts'
import type { SideProgram } from './side-program/files.ts'

/** The orders of the program that holds connections: holder.json in its folder. */
export interface HolderOrders {
  host: string
  port: number
  user: string
  password: string
  database: string
  /** number of connections; null: every free one, including those that become free later */
  count: number | null
}

/** The report of the program that holds connections: holder.pid in its folder. */
export interface HolderReport extends ProcessIdentity {
  held: number
  /** true once it holds all the connections that its orders ask for */
  done: boolean
}

export function holderIn(folder: string): SideProgram {
  return {
    program: 'lab/connection-holder.js',
    what: 'the program that holds database connections',
    folder,
    orders: join(folder, 'holder.json'),
    report: join(folder, 'holder.pid'),
  }
}
