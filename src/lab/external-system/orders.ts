import { join } from 'node:path'
import type { ProcessIdentity } from '../../adapters/process-identity.ts'
import type { LabLayout } from '../layout.ts'
import type { SideProgram } from '../side-program/files.ts'
import { readReport } from '../side-program/files.ts'

/** The orders that the lab gives the external system. */
export interface ExternalSystemOrders {
  /** the one user it lets in, by Basic authentication */
  user: string
  password: string
  /** true if a call needs a header with the API version, as after an update; without it, the call gets 400 */
  wantsVersion: boolean
}

export interface ExternalSystemReport extends ProcessIdentity {
  port: number
}

/** The path that an integration calls to test its login. */
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

export const integrationName = 'issue-tracker'

/** Returns the address that the integration calls; null if no external system is running. */
export async function addressOf(layout: LabLayout): Promise<string | null> {
  const report = await readReport<ExternalSystemReport>(filesIn(layout.externalSystem))
  return report && `http://127.0.0.1:${report.port}${currentUserPath}`
}
