import { changesNothing, isUndoable } from './plan.ts'
import type { Plan } from './plan.ts'
import type { RunEvent, RunHistory, WorkloadIdentity } from './run.ts'
import type { RunState } from './run-summary.ts'
import { command, nested } from './shell-command.ts'
import type { ShellCommand } from './shell-command.ts'

/** Whether both run the same service, whatever its deployment is called: one that was deleted and made again, too. */
export function isSameWorkload(one: WorkloadIdentity, other: WorkloadIdentity): boolean {
  return one.kind === other.kind && one.namespace === other.namespace && one.name === other.name
}

/**
 * What a run was of: as its record says, else as it noted the replicas that it was to come back to. Null: neither
 * tells, as of former versions, which did not know it.
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
 * Whether a run is of this workload, or may be: one that is not finished, at the same cluster, and of which nothing
 * tells another.
 */
export function mayBeOf(own: WorkloadIdentity, cluster: string | undefined, history: RunHistory): boolean {
  const its = workloadOf(history)
  if (its) return isSameWorkload(its, own)
  return cluster !== undefined && history.record.plan.target.cluster === cluster && isUnfinished(history)
}

/** Where a run stands, step by step. */
export interface Progress {
  /** with an outcome on record, and not taken back */
  done: ReadonlySet<number>
  /** begun, with no outcome */
  begun: number | null
  /** begun or done, and not taken back: what an undo has to look at */
  touched: readonly number[]
  ended: Extract<RunEvent, { event: 'ended' }> | null
  /** it was being taken back when it was heard of last: whoever goes on with it takes back what is left */
  isGoingBack: boolean
  /** the deployment was given a copy of the journal */
  isCopied: boolean
}

/** Reads a journal from its first line to its last. */
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
        // an undo that was refused before it changed anything leaves the run as it stood
        isGoingBack = isTakenBack || event.error.code !== 'REFUSED'
        break
      case 'redo':
        done.delete(event.step)
        // what was not taken back after all still is to be
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

/** What is on record and still counts (`redo`), oldest first. */
export function eventsThatCount(events: readonly RunEvent[]): RunEvent[] {
  // of each step, the earliest event from which on a later `redo` lets it count no more
  const since = new Map<number, number>()
  const counting: RunEvent[] = []
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const event = events[index]!
    if (!('step' in event) || index < (since.get(event.step) ?? Infinity)) counting.push(event)
    if (event.event === 'redo') since.set(event.step, Math.min(event.since, since.get(event.step) ?? Infinity))
  }
  return counting.reverse()
}

/** The same of one step alone. */
export function eventsOfStep(events: readonly RunEvent[], step: number): RunEvent[] {
  return eventsThatCount(events).filter((event) => 'step' in event && event.step === step)
}

/** The notes among them. */
export function notesOfStep(events: readonly RunEvent[], step: number): string[] {
  return eventsOfStep(events, step).flatMap((event) => (event.event === 'noted' ? [event.note] : []))
}

/**
 * Whether `resume` has something to do. What failed or was interrupted before it touched anything is over, and so is
 * what did all that it was to do, even where the checks are not content afterwards.
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

/** The checks that found an error once all steps were done. */
function unhealthyIn({ verification = {} }: Extract<RunEvent, { event: 'ended' }>): Pick<RunState, 'unhealthy'> {
  const ids = Object.keys(verification).filter((id) => verification[id] === 'error')
  return ids.length === 0 ? {} : { unhealthy: ids }
}

/** Whether nothing of what a plan does can be taken back, so that `undo` ends its run and no more. */
export function onlyCloses({ steps }: Plan): boolean {
  return !steps.some(isUndoable)
}

/** What is typed to take a run back, with what that comes to. `on`: the deployment's flags. */
export function undoCommand(
  { run, onlyCloses: closes = false }: { run: string; onlyCloses?: boolean },
  on = command`-d {deployment}`,
): ShellCommand {
  return command`testops-admin undo ${run} ${nested(on)}${nested(closes ? command`   # only closes the run: what it did stays` : command``)}`
}
