import type { Wanted } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import { typedOn } from '../../core/host.ts'
import type { Risk } from '../../core/plan.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import type { LogsSource, ServiceStatus } from '../../core/sources.ts'
import { stolenFrom } from '../../knowledge/log-signatures.ts'
import { traitsOf } from '../../knowledge/platforms.ts'
import { recentRecords } from '../service.ts'

/**
 * Returns who held the change-log lock that the service's last start released (FIELD-NOTES.md 2): that migration may
 * still be running. Null if the log shows no such release, or the service runs.
 */
export async function stolenLock(logs: Wanted<LogsSource>, { state }: ServiceStatus): Promise<string | null> {
  return state === 'running' ? null : stolenFrom((await recentRecords(logs)).map(({ text }) => text))
}

/** Returns what shows whether that migration still runs. `holder`: as Liquibase writes it, HOST (ADDRESS). */
export function whetherItMigrates(holder: string, deployment: Deployment): Suggestion {
  if (traitsOf(deployment).namesInstances) return '{status}'
  return typedOn(holder.split(' ')[0]!, 'ps -C java -o pid,lstart,args')
}

/** Returns the risk that starting the service now runs a second migration beside that one; empty if there is none. */
export async function secondMigrationRisks(
  logs: Wanted<LogsSource>,
  status: ServiceStatus,
  deployment: Deployment,
): Promise<Risk[]> {
  const holder = await stolenLock(logs, status)
  if (holder === null) return []
  return [
    {
      name: 'running-migration',
      message: `the service's last start released a change-log lock that ${holder} held, and that migration may still be running. If you start the service now, two migrations run at once`,
      proof: [whetherItMigrates(holder, deployment), 'testops-admin explain lock-stolen'],
    },
  ]
}
