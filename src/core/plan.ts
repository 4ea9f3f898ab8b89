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

/** Risks of carrying on with what a record says, whichever repair it is of. */
export const runRisks = ['foreign-run', 'record-differs', 'unfinished-run'] as const

/** The words of the command that makes such a plan. */
export function commandOf(repair: RepairId): string {
  return repair === 'set-env-values' ? 'set-env' : repair.replace(/^service-/, 'service ')
}

/** Why a plan is not carried out as it is, by a name that `--accept-risk` takes. */
export interface Risk {
  name: string
  /** what may happen */
  message: string
  /** what would show that there is no such risk: sentences, or commands to type */
  proof: readonly Suggestion[]
}

export interface Step {
  title: string
  action: Action
  /** users notice it */
  interrupts: boolean
  /** what cannot be brought back */
  loses?: string
}

/** They look, or make ready, so that there is nothing to take back of them. */
const looking: ReadonlySet<ActionKind> = new Set<ActionKind>([
  'await-quiet',
  'await-migration',
  'await-rollout',
  'fetch-image',
])

/** Whether a step changes what can be brought back. */
export function isUndoable({ action, loses }: Step): boolean {
  // what was started stays up, but where it says so
  if (action.kind === 'start-service') return action.stopsOnUndo === true
  return loses === undefined && !looking.has(action.kind)
}

/**
 * Whether a step leaves the deployment and its files as they are: an image that was fetched lies ready, and no more.
 */
export function changesNothing({ action }: Step): boolean {
  return action.kind === 'fetch-image'
}

/** They work on queues and exchanges of the broker. */
const onQueues: ReadonlySet<ActionKind> = new Set<ActionKind>([
  'hold-queues',
  'keep-queues',
  'move-messages',
  'delete-queues',
  'switch-exchanges',
  'redeclare-queues',
  'delete-held',
])

/** Whether any step works on queues or exchanges of the broker. */
export function worksOnQueues({ steps }: Pick<Plan, 'steps'>): boolean {
  return steps.some(({ action }) => onQueues.has(action.kind))
}

/**
 * Whether there is something to take back once all of it is done: a service that was stopped and started again is as it
 * was.
 */
export function leavesChange({ steps }: Pick<Plan, 'steps'>): boolean {
  const isStarted = steps.some(({ action }) => action.kind === 'start-service')
  return steps.some((step) => isUndoable(step) && !(isStarted && step.action.kind === 'stop-service'))
}

/**
 * Everything that a repair is going to do: made without changing anything, and carried out to the letter (DESIGN.md 6).
 */
export interface Plan {
  repair: RepairId
  deployment: string
  /** what is worked on, by part: host, database or vhost or key space, version */
  target: Readonly<Record<string, string>>
  /** what it costs, counted live */
  impact: Readonly<Record<string, number>>
  /** what shows that this is the right thing to do */
  evidence: readonly string[]
  /** what is to be known beside it */
  notes: readonly string[]
  /** to be accepted by name, each */
  risks: readonly Risk[]
  /** none: there is nothing to do */
  steps: readonly Step[]
  /** checks that judge the outcome */
  verifiedBy: readonly string[]
  /** from which the plan can be made again */
  options: Readonly<Record<string, unknown>>
  /** how long each step has taken on this deployment before, in milliseconds; null: not known (DESIGN.md 6.1) */
  expectedMs?: readonly (number | null)[]
}

/** The file of settings that a plan works on in place of a deployment; undefined: it works on a deployment. */
export function fileOf({ options: { values, compose, main } }: Pick<Plan, 'options'>): NamedFile | undefined {
  if (typeof main !== 'string') return undefined
  const flag = typeof compose === 'string' ? '--compose' : Array.isArray(values) ? '--values' : null
  return flag === null ? undefined : { flag, path: main }
}
