import type { Fault } from '../fault.ts'
import {
  adminSignin,
  apiSlow,
  apiTokenDirect,
  noMigrationRole,
  tokenExpired,
  tokenLifetime,
  tokenRefused,
} from './api.ts'
import { badCredentials, integration400, oldUnknownHost, unknownHost } from './integrations.ts'
import { brokerAlarm, brokerDown } from './broker.ts'
import { clockSkew, debugLeftOn, outOfMemory, serviceDown, settingsNotApplied } from './service.ts'
import { connectionsExhausted, databaseDown, diskFull, poolExhausted } from './database.ts'
import { cpuWithoutV3, imageVersionMismatch, legacyNeedless, legacyTooEarly } from './images.ts'
import { duplicateMove, treesUnmigrated } from './trees.ts'
import { durableMismatch, foreignQueues, transientAhead, transientRefused } from './queues.ts'
import { indexedSessions, jvmTimeZone, sessionsDown, staleSessions, storeFull } from './sessions.ts'
import { liveLock, lockHalfCleared, lockStolen, lockVanished, stuckLock } from './lock.ts'
import { proxyLimits, restartBehindProxy } from './proxy.ts'
import { runningMigration } from './migration.ts'
import { runPlanted, unfinishedRepair } from './unfinished-repairs.ts'

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
