import { defaultVendor, settingNames } from '../../knowledge/settings.ts'
import { onDatabase } from '../access/database.ts'
import type { Changes } from '../changes.ts'
import type { Lab } from '../lab.ts'
import type { LabLayout } from '../layout.ts'
import { restartLabService, waitForLog, waitUntilServing } from '../service.ts'
import { removeSideProgram, startSideProgram } from '../side-program/control.ts'
import { addressOf, currentUserPath, filesIn, integrationName as name } from './orders.ts'
import type { ExternalSystemReport } from './orders.ts'

/** The one user whom the external system lets in. */
export const trackerUser = { user: 'testops', password: 'green-harbour-7' } as const

const { integrationLogLevel } = settingNames(defaultVendor)

/**
 * Returns the changes for an integration that calls the external system with this password. They turn on debug output,
 * as if somebody were searching for the fault.
 */
export function integrationChanges(password: string): Changes {
  return {
    environment: { [integrationLogLevel]: 'debug' },
    declared: { integration: { user: trackerUser.user, password } },
  }
}

/**
 * Starts the external system and sets up an integration with it. Returns once the service has logged an answer with
 * this status.
 */
export async function integrate(
  lab: Lab,
  { password, wantsVersion, status }: { password: string; wantsVersion: boolean; status: number },
): Promise<void> {
  await startSideProgram<ExternalSystemReport>(lab, filesIn(lab.layout.externalSystem), {
    ...trackerUser,
    wantsVersion,
  })
  const url = await addressOf(lab.layout)
  await onDatabase(lab, (sql) =>
    sql(
      `INSERT INTO integration (name, url, username, password) VALUES ($1, $2, $3, $4)
       ON CONFLICT (name) DO UPDATE SET url = excluded.url, username = excluded.username, password = excluded.password`,
      [name, url, trackerUser.user, password],
    ),
  )
  await restartLabService(lab)
  await waitUntilServing(lab)
  await waitForLog(lab, new RegExp(`<-- ${status} [^\\n<]*${currentUserPath}`))
}

/** Removes the integration and the external system. */
export async function removeIntegration(lab: Lab): Promise<void> {
  await onDatabase(lab, (sql) => sql('DELETE FROM integration WHERE name = $1', [name]))
  await stopExternalSystem(lab.layout)
}

/** Stops the external system and removes its files. Returns true if one was running. */
export async function stopExternalSystem(layout: LabLayout): Promise<boolean> {
  return removeSideProgram(filesIn(layout.externalSystem))
}
