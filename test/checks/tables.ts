import { apiProxyTable, apiSystemLoginTable, apiTokenUseTable } from './api/access.ts'
import { apiLatencyTable, apiReachableTable, apiTokenLifetimeTable, apiTokenTable } from './api/all.ts'
import { apiRolesTable } from './api/roles.ts'
import { brokerAlarmsTable, brokerReachableTable } from './broker/others.ts'
import { queuesDurableTable } from './broker/queues-durable.ts'
import { upgradeTable } from './broker/upgrade.ts'
import { changelogLockTable } from './database/changelog-lock.ts'
import { databaseConnectionsTable, databaseDiskTable, databaseReachableTable } from './database/others.ts'
import { integrationsAnswersTable, integrationsCredentialsTable } from './integrations/calls.ts'
import { integrationsDebugLoggingTable, integrationsReachableTable } from './integrations/all.ts'
import { serviceUnfinishedRepairTable } from './service/unfinished-repair.ts'
import { serviceClocksTable, serviceCpuLevelTable, serviceImageTable, serviceRunningTable } from './service/all.ts'
import { serviceLogErrorsTable } from './service/log-errors.ts'
import { serviceCrashesTable } from './service/crashes.ts'
import { serviceReadyTable } from './service/ready.ts'
import { serviceSettingsTable } from './service/settings.ts'
import { sessionsClockTable, sessionsMemoryTable, sessionsReachableTable } from './sessions/all.ts'
import type { CheckTable } from './table.ts'
import { treesMigratedTable } from './trees/migrated.ts'

/** The situations of every check. */
export const tables: readonly CheckTable[] = [
  databaseReachableTable,
  changelogLockTable,
  databaseConnectionsTable,
  databaseDiskTable,
  brokerReachableTable,
  queuesDurableTable,
  upgradeTable,
  brokerAlarmsTable,
  sessionsReachableTable,
  sessionsClockTable,
  sessionsMemoryTable,
  serviceRunningTable,
  serviceCrashesTable,
  serviceReadyTable,
  serviceUnfinishedRepairTable,
  serviceSettingsTable,
  serviceImageTable,
  serviceCpuLevelTable,
  serviceClocksTable,
  serviceLogErrorsTable,
  apiReachableTable,
  apiTokenTable,
  apiRolesTable,
  apiTokenLifetimeTable,
  apiTokenUseTable,
  apiSystemLoginTable,
  apiProxyTable,
  apiLatencyTable,
  treesMigratedTable,
  integrationsReachableTable,
  integrationsCredentialsTable,
  integrationsAnswersTable,
  integrationsDebugLoggingTable,
]
