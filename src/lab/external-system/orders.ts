import { join } from 'node:path'
import type { ProcessIdentity } from '../../adapters/process-identity.ts'
import type { SideProgram } from '../side-program/files.ts'

/** What the external system is told: its orders. */
export interface ExternalSystemOrders {
  /** who may ask it, by Basic authentication */
  user: string
  password: string
  /**
   * since an update it wants a header that says which version of its API is meant: calls without it are answered 400
   */
  wantsVersion: boolean
}

export interface ExternalSystemReport extends ProcessIdentity {
  port: number
}

/** What an integration asks for, to see whether it is let in. */
export const currentUserPath = '/rest/api/2/myself'

export function filesIn(folder: string): SideProgram {
  return {
    program: 'lab/external-system/main.js',
    what: 'the external system',
    folder,
    orders: join(folder, 'external-system.json'),
    report: join(folder, 'external-system.pid'),
  }
}
