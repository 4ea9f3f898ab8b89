import { join } from 'node:path'
import type { ProcessIdentity } from '../adapters/process-identity.ts'
import type { SideProgram } from './side-program/files.ts'

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

export function holderIn(folder: string): SideProgram {
  return {
    program: 'lab/connection-holder.js',
    what: 'the program that holds database connections',
    folder,
    orders: join(folder, 'holder.json'),
    report: join(folder, 'holder.pid'),
  }
}
