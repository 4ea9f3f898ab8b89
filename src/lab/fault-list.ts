import type { Severity } from '../core/check.ts'
import { AdminError } from '../core/error.ts'
import { closestNames, closestTo } from '../core/nearest.ts'
import { command } from '../core/shell-command.ts'
import type { Fault, FaultCase } from './fault.ts'
import { caseName } from './fault.ts'
import type { ServerKind } from './servers/index.ts'
import {
  adminSignin,
  apiSlow,
  apiTokenDirect,
  noMigrationRole,
  tokenExpired,
  tokenLifetime,
  tokenRefused,
} from './faults/api.ts'
import { badCredentials, integration400, oldUnknownHost, unknownHost } from './faults/integrations.ts'
import { brokerAlarm, brokerDown } from './faults/queues.ts'
import { clockSkew, debugLeftOn, outOfMemory, serviceDown, settingsNotApplied } from './faults/service.ts'
import { connectionsExhausted, databaseDown, diskFull, poolExhausted } from './faults/database.ts'
import { cpuWithoutV3, imageVersionMismatch, legacyNeedless, legacyTooEarly } from './faults/images.ts'
import { duplicateMove, treesUnmigrated } from './faults/trees.ts'
import { durableMismatch, foreignQueues, transientAhead, transientRefused } from './faults/queues.ts'
import { indexedSessions, jvmTimeZone, sessionsDown, staleSessions, storeFull } from './faults/sessions.ts'
import { liveLock, lockHalfCleared, lockStolen, lockVanished, stuckLock } from './faults/lock.ts'
import { proxyLimits, restartBehindProxy } from './faults/proxy.ts'
import { runningMigration } from './faults/trees.ts'
import { runPlanted, unfinishedRepair } from './faults/unfinished-repairs.ts'

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

export interface NamedCase {
  /** `fault` or `fault/variant` */
  name: string
  fault: Fault
  case: FaultCase
}

/** Lists every way to break the lab, in the order of the fault matrix. */
export function allCases(): NamedCase[] {
  return faults.flatMap((fault) => fault.cases.map((it) => ({ name: caseName(fault, it), fault, case: it })))
}

/**
 * Finds the case named `typed`; a fault's id alone means its first case. Throws USAGE, which suggests the closest names
 * as arguments of `lab VERB`.
 */
export function findCase(typed: string, verb: 'break' | 'mend'): NamedCase {
  const cases = allCases()
  const found = cases.find(({ name, fault }) => name === typed || fault.id === typed)
  if (found) return found
  const known = cases.flatMap(({ name, fault }) => [fault.id, name])
  throw new AdminError('USAGE', `no fault \`${typed}\`; ${closestTo(typed, known)}`, [
    ...closestNames(typed, known).map((name) => command`testops-admin lab ${verb} ${name}`),
    'testops-admin lab faults',
  ])
}

/** One row of the fault matrix. */
export interface FaultRow {
  /** argument of `lab break` */
  name: string
  fault: string
  variant: string | null
  kind: Fault['kind']
  title: string
  made: string
  repair: string
  /** words of the command after which `doctor` finds nothing; null: no single command does it */
  repairedBy: readonly string[] | null
  /** words of a command that is refused and changes nothing; null: none known */
  refused: readonly string[] | null
  expected: {
    exitCode: 0 | 1 | 2
    /** every problem that no other problem explains */
    problems: readonly { check: string; severity: Severity }[]
    rootCauses: readonly string[]
    /** checks whose problems may follow */
    allowedConsequences: readonly string[]
  }
  needs: { own: readonly ServerKind[]; broker: string | null }
}

/** The fault matrix, as data. */
export function faultRows(): FaultRow[] {
  return allCases().map(({ name, fault, case: { variant, made, expected, repairedBy, refused, needs } }) => ({
    name,
    fault: fault.id,
    variant,
    kind: fault.kind,
    title: fault.title,
    made,
    repair: fault.repair,
    repairedBy: repairedBy ?? null,
    refused: refused ?? null,
    expected: {
      exitCode: expected.exitCode,
      problems: Object.entries(expected.problems).map(([check, severity]) => ({ check, severity })),
      rootCauses: Object.keys(expected.problems),
      allowedConsequences: expected.allowedConsequences,
    },
    needs: { own: needs?.own ?? [], broker: needs?.broker ?? null },
  }))
}
