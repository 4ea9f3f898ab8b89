import type { Plan } from './plan.ts'
import { changesNothing, isUndoable } from './plan.ts'
import type { RunEvent, RunHistory, WorkloadIdentity } from './run.ts'
import type { ShellCommand } from './shell-command.ts'
import { command, nested } from './shell-command.ts'

/** Returns true if both run the same service, whatever its deployment's name; also if it was deleted and recreated. */
export function isSameWorkload(one: WorkloadIdentity, other: WorkloadIdentity): boolean {
  return one.kind === other.kind && one.namespace === other.namespace && one.name === other.name
}

/**
 * Returns the workload of a run: as its record says, else as it noted the replicas to restore. Null: neither tells, as
 * in runs of older versions.
 */
export function workloadOf({ record, events }: RunHistory): WorkloadIdentity | null {
  if (record.workload) return record.workload
  for (const event of events) {
    const [, resource, namespace, name] =
      event.event === 'noted'
        ? (/^replicas (deployments|statefulsets)\/([^/ ]+)\/([^/ ]+) \d+$/.exec(event.note) ?? [])
        : []
    if (namespace !== undefined && name !== undefined)
      return { kind: resource === 'deployments' ? 'Deployment' : 'StatefulSet', namespace, name }
  }
  return null
}

/**
 * Returns true if a run is of this workload, or may be: it is unfinished, at the same cluster, and nothing names
 * another.
 */
export function mayBeOf(own: WorkloadIdentity, cluster: string | undefined, history: RunHistory): boolean {
  const its = workloadOf(history)
  if (its) return isSameWorkload(its, own)
  return cluster !== undefined && history.record.plan.target.cluster === cluster && isUnfinished(history)
}

/** Where a run stands, step by step. */
interface Progress {
  /** Steps with a recorded outcome, and not undone */
  done: ReadonlySet<number>
  /** The step that was begun and has no outcome */
  begun: number | null
  /** Steps that were begun or done, and not undone: what an undo has to look at */
  touched: readonly number[]
  ended: Extract<RunEvent, { event: 'ended' }> | null
  /** True if the journal ends while the run is being undone: resuming it undoes what is left */
  isGoingBack: boolean
  /** True if the deployment was given a copy of the journal */
  isCopied: boolean
}

/** Returns where a run stands, from the events of its journal. */
export function progressOf(events: readonly RunEvent[]): Progress {
  const done = new Set<number>()
  const touched = new Set<number>()
  let begun: number | null = null
  let ended: Progress['ended'] = null
  let isGoingBack = false
  let isTakenBack = false
  let isCopied = false
  const takenBack = new Set<number>()
  for (const event of events) {
    if (event.event !== 'copied') ended = event.event === 'ended' ? event : null
    switch (event.event) {
      case 'copied':
        isCopied = true
        break
      case 'intent':
        isGoingBack = isTakenBack = false
        begun = event.step
        touched.add(event.step)
        break
      case 'done':
        isGoingBack = isTakenBack = false
        begun = null
        done.add(event.step)
        if (!event.already) touched.add(event.step)
        break
      case 'undone':
        done.delete(event.step)
        touched.delete(event.step)
        takenBack.add(event.step)
        if (begun === event.step) begun = null
        isTakenBack = true
        break
      case 'undo-intent':
        isGoingBack = true
        break
      case 'undo-failed':
        // an undo that was refused before it changed anything leaves the run as it was
        isGoingBack = isTakenBack || event.error.code !== 'REFUSED'
        break
      case 'redo':
        done.delete(event.step)
        // the step is not undone after all, and an undo must look at it again
        if (takenBack.delete(event.step)) touched.add(event.step)
        break
      case 'noted':
      case 'failed':
      case 'ended':
        break
    }
  }
  return { done, begun, touched: [...touched].sort((a, b) => a - b), ended, isGoingBack, isCopied }
}

/** Returns the events that still count (`redo`), oldest first. */
export function eventsThatCount(events: readonly RunEvent[]): RunEvent[] {
  // per step, the earliest event that a later `redo` cancels, with those after it
  const since = new Map<number, number>()
  const counting: RunEvent[] = []
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const event = events[index]!
    if (!('step' in event) || index < (since.get(event.step) ?? Infinity)) counting.push(event)
    if (event.event === 'redo') since.set(event.step, Math.min(event.since, since.get(event.step) ?? Infinity))
  }
  return counting.reverse()
}

/** Returns those events of one step alone. */
export function eventsOfStep(events: readonly RunEvent[], step: number): RunEvent[] {
  return eventsThatCount(events).filter((event) => 'step' in event && event.step === step)
}

/** Returns the notes of one step that still count, oldest first. */
export function notesOfStep(events: readonly RunEvent[], step: number): string[] {
  return eventsOfStep(events, step).flatMap((event) => (event.event === 'noted' ? [event.note] : []))
}

/**
 * Returns true if `resume` has something to do. A run that failed or was interrupted before it touched anything is
 * over. So is one that did everything, even if the checks find problems afterwards.
 */
export function isUnfinished({ record, events }: RunHistory): boolean {
  const { ended, touched, done, isGoingBack } = progressOf(events)
  if (ended === null) return true
  if (ended.outcome === 'done' || ended.outcome === 'undone' || ended.outcome === 'refused') return false
  return (
    touched.some((step) => !changesNothing(record.plan.steps[step]!)) &&
    (isGoingBack || done.size < record.plan.steps.length)
  )
}

export function runState({ record, events }: RunHistory): RunState {
  const { done, begun, ended, isGoingBack } = progressOf(events)
  const unfinished = isUnfinished({ record, events })
  return {
    run: record.run,
    repair: record.plan.repair,
    by: record.by,
    startedAt: record.startedAt,
    ...(!unfinished && ended?.outcome === 'failed' && unhealthyIn(ended)),
    state: unfinished ? 'unfinished' : (ended?.outcome ?? 'unfinished'),
    done: done.size,
    steps: record.plan.steps.length,
    within: begun === null ? null : (record.plan.steps[begun]?.title ?? null),
    ...(begun !== null &&
      !isGoingBack &&
      done.size === begun &&
      record.plan.steps[begun]?.action.kind === 'start-service' && { isAtStart: true }),
    ...(onlyCloses(record.plan) && { onlyCloses: true }),
  }
}

/** Returns the checks that found an error once all steps were done. */
function unhealthyIn({ verification = {} }: Extract<RunEvent, { event: 'ended' }>): Pick<RunState, 'unhealthy'> {
  const ids = Object.keys(verification).filter((id) => verification[id] === 'error')
  return ids.length === 0 ? {} : { unhealthy: ids }
}

/** Returns true if nothing in a plan can be undone, so that `undo` only closes its run. */
export function onlyCloses({ steps }: Plan): boolean {
  return !steps.some(isUndoable)
}

/** Returns the command that undoes a run, and says if it only closes it. `on`: the deployment's flags. */
export function undoCommand(
  { run, onlyCloses: closes = false }: { run: string; onlyCloses?: boolean },
  on = command`-d {deployment}`,
): ShellCommand {
  return command`testops-admin undo ${run}
    ${nested(on)}${nested(closes ? command`   # closes the run without undoing its changes` : command``)}`
}

/** What the journals say of one run, for `service/unfinished-repair` and `history`. */
export interface RunState {
  run: string
  repair: string
  by: string
  startedAt: string
  state: 'done' | 'undone' | 'refused' | 'failed' | 'interrupted' | 'unfinished'
  /** Checks that found an error after everything was done */
  unhealthy?: readonly string[]
  /** Number of steps that are done, of `steps` */
  done: number
  steps: number
  /** Title of the step that was begun last and has no outcome */
  within: string | null
  /** Set if that step starts the service, and everything before it is done */
  isAtStart?: true
  /** Set if `undo` only closes it, since nothing of what it does can be undone */
  onlyCloses?: true
}
