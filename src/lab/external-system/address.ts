import type { LabLayout } from '../layout.ts'
import { readReport } from '../side-program/files.ts'
import { currentUserPath, filesIn } from './orders.ts'
import type { ExternalSystemReport } from './orders.ts'

export const integrationName = 'issue-tracker'

/** Returns the address that the integration calls; null if no external system is running. */
export async function addressOf(layout: LabLayout): Promise<string | null> {
  const report = await readReport<ExternalSystemReport>(filesIn(layout.externalSystem))
  return report && `http://127.0.0.1:${report.port}${currentUserPath}`
}
