import type { Check } from '../core/check.ts'
import { apiLatency } from './api/latency.ts'
import { apiProxy } from './api/proxy.ts'
import { apiReachable } from './api/reachable.ts'
import { apiRoles } from './api/roles.ts'
import { apiSystemLogin } from './api/system-login.ts'
import { apiTokenLifetime } from './api/token-lifetime.ts'
import { apiTokenUse } from './api/token-use.ts'
import { apiToken } from './api/token.ts'
import { brokerAlarms } from './broker/alarms.ts'
import { brokerQueuesDurable } from './broker/queues-durable.ts'
import { brokerReachable } from './broker/reachable.ts'
import { brokerUpgrade } from './broker/upgrade.ts'
import { changelogLockCheck } from './database/changelog-lock.ts'
import { databaseConnections } from './database/connections.ts'
import { databaseDisk } from './database/disk.ts'
import { databaseReachable } from './database/reachable.ts'
import { integrationsAnswers } from './integrations/answers.ts'
import { integrationsCredentials } from './integrations/credentials.ts'
import { integrationsDebugLogging } from './integrations/debug-logging.ts'
import { integrationsReachable } from './integrations/reachable.ts'
import { serviceClocks } from './service/clocks.ts'
import { serviceCpuLevel } from './service/cpu-level.ts'
import { serviceCrashes } from './service/crashes.ts'
import { serviceImage } from './service/image.ts'
import { serviceLogErrors } from './service/log-errors.ts'
import { serviceReady } from './service/ready.ts'
import { serviceRunning } from './service/running.ts'
import { serviceSettings } from './service/settings.ts'
import { serviceUnfinishedRepair } from './service/unfinished-repair.ts'
import { sessionsClock } from './sessions/clock.ts'
import { sessionsMemory } from './sessions/memory.ts'
import { sessionsReachable } from './sessions/reachable.ts'
import { treesMigrated } from './trees/migrated.ts'

/** The catalogue of checks, in display order: what others need comes first. */
export const checks: readonly Check[] = [
  databaseReachable,
  changelogLockCheck,
  databaseConnections,
  databaseDisk,
  brokerReachable,
  brokerQueuesDurable,
  brokerUpgrade,
  brokerAlarms,
  sessionsReachable,
  sessionsClock,
  sessionsMemory,
  serviceRunning,
  serviceCrashes,
  serviceReady,
  serviceUnfinishedRepair,
  serviceSettings,
  serviceImage,
  serviceCpuLevel,
  serviceClocks,
  serviceLogErrors,
  apiReachable,
  apiToken,
  apiRoles,
  apiTokenLifetime,
  apiTokenUse,
  apiSystemLogin,
  apiProxy,
  apiLatency,
  treesMigrated,
  integrationsReachable,
  integrationsCredentials,
  integrationsAnswers,
  integrationsDebugLogging,
]
