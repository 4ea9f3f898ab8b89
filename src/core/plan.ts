import { scryptSync } from 'node:crypto'
import type { Action, ActionKind } from './action.ts'
import type { NamedFile } from './deployment.ts'
import type { Suggestion } from './shell-command.ts'

export type RepairId =
  | 'unlock-changelog'
  | 'flush-sessions'
  | 'reset-queues'
  | 'migrate-trees'
  | 'use-legacy-image'
  | 'set-env'
  | 'set-env-values'
  | 'service-stop'
  | 'service-start'
  | 'service-restart'

/** The risks that the plans of each repair may name. */
export const risksOf: { readonly [K in RepairId]: readonly string[] } = {
  'unlock-changelog': ['live-holder', 'unproven-holder', 'running-migration', 'stuck-rollout', 'controller'],
  'flush-sessions': [],
  'reset-queues': ['foreign-clients', 'unseen-policies', 'running-migration', 'stuck-rollout', 'controller'],
  'migrate-trees': [],
  'use-legacy-image': [
    'unknown-build',
    'other-image',
    'unknown-chart',
    'other-changes',
    'running-migration',
    'stuck-rollout',
    'controller',
  ],
  'set-env': ['running-migration', 'queues-mismatch', 'stuck-rollout', 'controller'],
  'set-env-values': [
    'unknown-chart',
    'other-changes',
    'running-migration',
    'queues-mismatch',
    'stuck-rollout',
    'controller',
  ],
  'service-stop': ['running-migration', 'stuck-rollout', 'controller'],
  'service-start': ['running-migration'],
  'service-restart': ['running-migration', 'stuck-rollout', 'controller'],
}

/** Risks of continuing from what a record says, for every repair. */
export const runRisks = ['foreign-run', 'record-differs', 'unfinished-run'] as const

/** Returns the words of the command that makes such a plan. */
export function commandOf(repair: RepairId): string {
  return repair === 'set-env-values' ? 'set-env' : repair.replace(/^service-/, 'service ')
}

/** A reason to refuse a plan, by a name that `--accept-risk` takes. */
export interface Risk {
  name: string
  /** What may happen */
  message: string
  /** What would show that the risk does not exist: sentences, or commands to type */
  proof: readonly Suggestion[]
}

export interface Step {
  title: string
  action: Action
  /** True if users notice it */
  interrupts: boolean
  /** What cannot be restored */
  loses?: string
}

/** Kinds of steps that only look or prepare, so that nothing needs an undo. */
const looking: ReadonlySet<ActionKind> = new Set<ActionKind>([
  'await-quiet',
  'await-migration',
  'await-rollout',
  'fetch-image',
])

/** Returns true if a step changes something that can be undone. */
export function isUndoable({ action, loses }: Step): boolean {
  // a started service stays up, unless the action says otherwise
  if (action.kind === 'start-service') return action.stopsOnUndo === true
  return loses === undefined && !looking.has(action.kind)
}

/** Returns true if a step leaves the deployment and its files as they are: a fetched image only lies ready. */
export function changesNothing({ action }: Step): boolean {
  return action.kind === 'fetch-image'
}

/** Kinds of steps that work on queues and exchanges of the broker. */
const onQueues: ReadonlySet<ActionKind> = new Set<ActionKind>([
  'hold-queues',
  'keep-queues',
  'move-messages',
  'delete-queues',
  'switch-exchanges',
  'redeclare-queues',
  'delete-held',
])

/** Returns true if any step works on queues or exchanges of the broker. */
export function worksOnQueues({ steps }: Pick<Plan, 'steps'>): boolean {
  return steps.some(({ action }) => onQueues.has(action.kind))
}

/**
 * Returns true if the finished plan leaves something to undo: a service that was stopped and started again is as it
 * was.
 */
export function leavesChange({ steps }: Pick<Plan, 'steps'>): boolean {
  const isStarted = steps.some(({ action }) => action.kind === 'start-service')
  return steps.some((step) => isUndoable(step) && !(isStarted && step.action.kind === 'stop-service'))
}

/** Everything that a repair is going to do: made without changing anything, and applied exactly (DESIGN.md 6). */
export interface Plan {
  repair: RepairId
  deployment: string
  /** What is worked on, by part: host, database or vhost or key space, version */
  target: Readonly<Record<string, string>>
  /** What it costs, counted live */
  impact: Readonly<Record<string, number>>
  /** What shows that the repair is right */
  evidence: readonly string[]
  /** What the operator should also know */
  notes: readonly string[]
  /** Risks to accept, each by its name */
  risks: readonly Risk[]
  /** Empty: there is nothing to do */
  steps: readonly Step[]
  /** Checks that judge the outcome */
  verifiedBy: readonly string[]
  /** Options from which the plan can be made again */
  options: Readonly<Record<string, unknown>>
  /** How long each step took on this deployment before, in milliseconds; null: not known (DESIGN.md 6.1) */
  expectedMs?: readonly (number | null)[]
}

/** Returns the settings file that a plan works on instead of a deployment; undefined: it works on a deployment. */
export function fileOf({ options: { values, compose, main } }: Pick<Plan, 'options'>): NamedFile | undefined {
  if (typeof main !== 'string') return undefined
  const flag = typeof compose === 'string' ? '--compose' : Array.isArray(values) ? '--values' : null
  return flag === null ? undefined : { flag, path: main }
}

/**
 * Returns what identifies a secret without storing it; null for null. It is slow to compute, so that a short secret is
 * not found by trying. The salt is one plan's, so that two plans do not show that they hold the same secret.
 */
export function fingerprint(value: string | null, salt: string): string | null {
  return value === null ? null : scryptSync(value, salt, 16).toString('hex')
}
