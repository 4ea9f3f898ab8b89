import type { Fault } from '../fault.ts'
import { adminSignin } from './admin-signin.ts'
import { apiSlow } from './api-slow.ts'
import { apiTokenDirect } from './api-token-direct.ts'
import { badCredentials } from './bad-credentials.ts'
import { brokerAlarm } from './broker-alarm.ts'
import { brokerDown } from './broker-down.ts'
import { clockSkew } from './clock-skew.ts'
import { connectionsExhausted } from './connections-exhausted.ts'
import { cpuWithoutV3 } from './cpu-without-v3.ts'
import { databaseDown } from './database-down.ts'
import { debugLeftOn } from './debug-left-on.ts'
import { diskFull } from './disk-full.ts'
import { duplicateMove } from './duplicate-move.ts'
import { durableMismatch } from './durable-mismatch.ts'
import { foreignQueues } from './foreign-queues.ts'
import { imageVersionMismatch } from './image-version-mismatch.ts'
import { indexedSessions } from './indexed-sessions.ts'
import { integration400 } from './integration-400.ts'
import { jvmTimeZone } from './jvm-time-zone.ts'
import { legacyNeedless } from './legacy-needless.ts'
import { legacyTooEarly } from './legacy-too-early.ts'
import { liveLock } from './live-lock.ts'
import { lockHalfCleared } from './lock-half-cleared.ts'
import { lockStolen } from './lock-stolen.ts'
import { lockVanished } from './lock-vanished.ts'
import { noMigrationRole } from './no-migration-role.ts'
import { oldUnknownHost } from './old-unknown-host.ts'
import { outOfMemory } from './out-of-memory.ts'
import { poolExhausted } from './pool-exhausted.ts'
import { proxyLimits } from './proxy-limits.ts'
import { restartBehindProxy } from './restart-behind-proxy.ts'
import { runningMigration } from './running-migration.ts'
import { runPlanted } from './run-planted.ts'
import { serviceDown } from './service-down.ts'
import { sessionsDown } from './sessions-down.ts'
import { settingsNotApplied } from './settings-not-applied.ts'
import { staleSessions } from './stale-sessions.ts'
import { storeFull } from './store-full.ts'
import { stuckLock } from './stuck-lock.ts'
import { tokenExpired } from './token-expired.ts'
import { tokenLifetime } from './token-lifetime.ts'
import { tokenRefused } from './token-refused.ts'
import { transientAhead } from './transient-ahead.ts'
import { transientRefused } from './transient-refused.ts'
import { treesUnmigrated } from './trees-unmigrated.ts'
import { unfinishedRepair } from './unfinished-repair.ts'
import { unknownHost } from './unknown-host.ts'

/**
 * Every fault that the lab can make, and the healthy states that look like faults, in the order of the fault matrix.
 */
export const faults: readonly Fault[] = [
  stuckLock,
  liveLock,
  lockVanished,
  lockHalfCleared,
  transientRefused,
  transientAhead,
  durableMismatch,
  staleSessions,
  clockSkew,
  cpuWithoutV3,
  legacyTooEarly,
  legacyNeedless,
  imageVersionMismatch,
  settingsNotApplied,
  unknownHost,
  badCredentials,
  integration400,
  debugLeftOn,
  treesUnmigrated,
  noMigrationRole,
  tokenRefused,
  apiTokenDirect,
  tokenLifetime,
  duplicateMove,
  adminSignin,
  serviceDown,
  outOfMemory,
  databaseDown,
  brokerDown,
  sessionsDown,
  apiSlow,
  proxyLimits,
  diskFull,
  connectionsExhausted,
  poolExhausted,
  brokerAlarm,
  storeFull,
  unfinishedRepair,
  runPlanted,
  lockStolen,
  runningMigration,
  indexedSessions,
  tokenExpired,
  oldUnknownHost,
  jvmTimeZone,
  foreignQueues,
  restartBehindProxy,
]
