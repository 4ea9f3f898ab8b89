import { handlerOf } from '../actions/index.ts'
import type { Shown } from '../actions/index.ts'
import { isNoteOfMoves } from '../core/notes.ts'
import type { ActionKind } from '../core/action.ts'
import { AdminError } from '../core/error.ts'
import type { Plan, Step } from '../core/plan.ts'
import type { RunEvent } from '../core/run.ts'
import { progressOf } from '../core/run-state.ts'
import type { Run } from './run.ts'
import { workshopOf } from './run.ts'
import { prepares, stepsUnder } from './while-stopped.ts'
import type { Suggestion } from '../core/shell-command.ts'

/** A contradiction between the record of a run and the deployment or this machine's journal. */
export interface Differing {
  /** Null: it concerns the whole run, and only the two journals can show it */
  step: number | null
  recorded: string
  shown: string
  /** It concerns notes of moves that another machine wrote; the deployment shows no trace of them */
  isNote?: true
  /** The record says that the step is undone */
  isOfUndo?: true
}

/** How far the deployment agrees with a record. */
export interface Compared {
  differing: readonly Differing[]
  /** Steps that only another machine recorded as done and of which the deployment shows no trace: these run again */
  repeated: ReadonlySet<number>
}

/** Kinds of a later step that, once done, removes the trace of a step. */
const traceEnds: { readonly [K in ActionKind]?: readonly ActionKind[] } = {
  'hold-queues': ['delete-held', 'delete-queues'],
  'move-messages': ['delete-queues', 'delete-held'],
  'redeclare-queues': ['delete-held'],
}

/** Kinds whose effect the running service may change by itself. */
const ofLocks: readonly ActionKind[] = ['release-lock', 'insert-lock-row', 'remove-lock-rows']

/** Kinds whose `isDone` also shows whether they were undone. */
const tellsUndone: readonly ActionKind[] = [
  'stop-service',
  'set-setting',
  'set-secret',
  'edit-values',
  'upgrade-release',
  'switch-exchanges',
  ...ofLocks,
]

/** True if a step leaves something in place until it is undone, which `standsAs` or `isDone` shows. */
const leavesStanding = ({ action }: Step): boolean =>
  ['hold-queues', 'delete-queues', 'redeclare-queues'].includes(action.kind) ||
  (action.kind === 'move-messages' && action.direction === 'aside')

/** Kinds whose undo removes the trace of another kind's undo. */
const undoneTraceEnds: { readonly [K in ActionKind]?: readonly ActionKind[] } = {
  'start-service': ['stop-service'],
  'delete-held': ['hold-queues'],
  'move-messages': ['delete-queues', 'hold-queues'],
  'redeclare-queues': ['delete-queues'],
  'keep-queues': ['hold-queues'],
}

/** True if a step only looks, waits, or holds something for the steps after it. */
const isForOthers = (step: Step): boolean =>
  step.action.kind === 'keep-queues' || (step.action.kind !== 'hold-queues' && prepares(step))

/**
 * Asks the deployment about each step that the record calls done or undone. Anybody who may write to the deployment may
 * have changed a record. So what this machine did not write proves nothing: it differs if the deployment cannot show
 * it. Changes nothing. Throws what keeps a step from being asked about.
 */
export async function differingFrom(run: Run): Promise<Compared> {
  const {
    record: { plan },
    events,
  } = run
  const { done } = progressOf(events)
  const undone = undoneIn(events)
  const foreign = ofOthers(run)
  const differing: Differing[] = [...turned(run)]
  const repeated = new Set<number>()
  /** True if, in a run of this machine, another machine alone recorded the undo of the step */
  const isOfOthers = (step: number): boolean => foreign.undone.has(step) && run.foreign?.isAdopted === false
  const isAskedUndone = (it: Step, step: number): boolean => {
    if (!isOfOthers(step)) return leavesStanding(it)
    const handler = handlerOf(it.action)
    const ends = undoneTraceEnds[it.action.kind] ?? []
    const isGone = [...undone].some((at) => at < step && ends.includes(plan.steps[at]!.action.kind))
    return handler.undo !== null && handler.isTakenBack?.(it.action) !== false && !isGone
  }
  const isLeft = (step: number): boolean =>
    !done.has(step) || repeated.has(step) || differing.some((it) => it.step === step)
  /** True if something that a step serves is left to do: users must not be cut off again for nothing */
  const isNeeded = (step: number): boolean => {
    const under = stepsUnder(plan, step).filter((at) => !isForOthers(plan.steps[at]!))
    const start = plan.steps.findIndex(({ action }, at) => at > step && action.kind === 'start-service')
    const witnesses = under.length > 0 || start < 0 ? under : [start]
    return witnesses.length === 0 || witnesses.some(isLeft)
  }
  // in a run that is being undone, a done step may have left no trace, and each undo compares for itself; what other
  // machines recorded about a run of this machine is always asked
  const isAsked = (step: number): boolean =>
    !progressOf(events).isGoingBack || (foreign.done.has(step) && run.foreign?.isAdopted === false)
  const standing = [...done].filter(isAsked)
  for (const step of standing.sort((a, b) => a - b)) {
    if (hasNoTrace(plan, step, done)) continue
    const found = await shown(run, step)
    if (found === 'not-done') differing.push({ step, recorded: 'is done', shown: 'that it is not done' })
    // if the service waits for no queue, there is none to redeclare
    else if (found === 'untold' && foreign.done.has(step) && plan.steps[step]!.action.kind !== 'redeclare-queues')
      repeated.add(step)
  }
  for (const step of [...repeated].reverse())
    if (isForOthers(plan.steps[step]!) && !isNeeded(step)) repeated.delete(step)
  for (const step of foreign.answered)
    differing.push({
      step,
      recorded: 'was run on another machine and the service answered it',
      shown: 'no sign of an answer',
    })
  for (const step of foreign.moved)
    differing.push({
      step,
      recorded: 'was run on another machine and moved or compared messages',
      shown: 'no sign that it did',
      isNote: true,
    })
  const isUp = [...undone].some((step) => plan.steps[step]?.action.kind === 'stop-service')
  for (const step of [...undone].sort((a, b) => a - b)) {
    const it = plan.steps[step]!
    const { kind } = it.action
    // a service that was stopped before the run stays stopped
    if (it.action.kind === 'stop-service' && !it.action.wasRunning) continue
    if (
      tellsUndone.includes(kind)
        ? isUp && ofLocks.includes(kind) && !isOfOthers(step)
        : !foreign.undone.has(step) || !isAskedUndone(it, step)
    )
      continue
    const found = tellsUndone.includes(kind)
      ? (await handlerOf(it.action).isDone(it.action, workshopOf(run, step)))
        ? 'done'
        : 'not-done'
      : await shown(run, step)
    if (found === 'done' || (found === 'untold' && isOfOthers(step)))
      differing.push({ step, recorded: 'is undone', shown: 'that it is not undone', isOfUndo: true })
  }
  return { differing, repeated }
}

/** Returns journal events that repeat these steps, and the starts that follow a repeated stop. */
export function redone(
  {
    record: { plan },
    events,
    by,
    foreign,
  }: Pick<Run, 'events' | 'by' | 'foreign'> & { record: Pick<Run['record'], 'plan'> },
  steps: ReadonlySet<number>,
): RunEvent[] {
  // in an adopted run, everything that counts was accepted as recorded by other machines
  const since = foreign && !foreign.isAdopted ? events.length - foreign.events : events.length
  const at = new Date().toISOString()
  return [...withStarts(plan, steps)]
    .sort((a, b) => a - b)
    .map((step): RunEvent => ({ at, by, event: 'redo', step, since }))
}

/** Returns the steps whose state is known only from events of other machines. */
function ofOthers(run: Run): {
  done: ReadonlySet<number>
  undone: ReadonlySet<number>
  answered: ReadonlySet<number>
  moved: ReadonlySet<number>
} {
  const {
    record: { plan },
    foreign,
  } = run
  const theirs = eventsOfOthers(run)
  const steps = (of: (event: RunEvent) => boolean): Set<number> =>
    new Set(theirs.flatMap((event) => ('step' in event && of(event) ? [event.step] : [])))
  return {
    done: steps(({ event }) => event === 'done'),
    undone: steps(({ event }) => event === 'undone'),
    // the service leaves no trace of an accepted call
    answered: steps(
      (event) =>
        foreign?.isAdopted === false &&
        event.event === 'noted' &&
        plan.steps[event.step]?.action.kind === 'migrate-trees',
    ),
    // these notes decide whether messages count as lost
    moved: steps((event) => foreign?.isAdopted === false && event.event === 'noted' && isNoteOfMoves(event.note)),
  }
}

function eventsOfOthers({ events, foreign }: Run): readonly RunEvent[] {
  return foreign ? events.slice(events.length - foreign.events) : []
}

/**
 * Finds whether other machines alone recorded the direction of this machine's run, or steps to repeat. Neither is
 * believed.
 */
function turned(run: Run): Differing[] {
  const { events, foreign } = run
  if (!foreign || foreign.isAdopted) return []
  const redo = eventsOfOthers(run).find(({ event }) => event === 'redo')
  if (redo)
    return [
      {
        step: null,
        recorded: 'repeats steps',
        shown: 'repeats no steps',
      },
    ]
  const [own, all] = [
    progressOf(events.slice(0, events.length - foreign.events)).isGoingBack,
    progressOf(events).isGoingBack,
  ]
  if (own === all) return []
  const way = (isGoingBack: boolean): string => (isGoingBack ? 'is being undone' : 'is being applied')
  return [{ step: null, recorded: way(all), shown: way(own) }]
}

/** Adds the starts of the service that follow a repeated stop. */
function withStarts({ steps }: Plan, repeated: ReadonlySet<number>): ReadonlySet<number> {
  const stop = steps.findIndex(({ action }, at) => repeated.has(at) && action.kind === 'stop-service')
  const starts =
    stop < 0 ? [] : steps.flatMap(({ action }, at) => (at > stop && action.kind === 'start-service' ? [at] : []))
  return new Set([...repeated, ...starts])
}

/**
 * Throws REFUSED with both sides of each contradiction, if there are any: neither side alone justifies moving or
 * deleting anything.
 */
export function refuseDiffering(plan: Plan, differing: readonly Differing[], next: readonly Suggestion[]): void {
  if (differing.length === 0) return
  throw new AdminError(
    'REFUSED',
    `Nothing was changed: the saved record of the run does not match the deployment: ${differingText(plan, differing)}`,
    next,
  )
}

/** Describes both sides of each contradiction for people. */
function differingText({ steps }: Plan, differing: readonly Differing[]): string {
  const told = differing.map(({ step, recorded, shown: seen }) =>
    step === null
      ? `the record from another machine says that the run ${recorded}, but the record on this machine says that ` +
        `the run ${seen}`
      : `the record says that step ${step + 1} (${steps[step]!.title}) ${recorded}, but the deployment shows ${seen}`,
  )
  return told.join('; ')
}

async function shown(run: Run, step: number): Promise<Shown> {
  const { action } = run.record.plan.steps[step]!
  const handler = handlerOf(action)
  const workshop = workshopOf(run, step)
  if (handler.standsAs) return handler.standsAs(action, workshop)
  return (await handler.isDone(action, workshop)) ? 'done' : 'not-done'
}

function hasNoTrace({ steps }: Plan, step: number, done: ReadonlySet<number>): boolean {
  const ends = traceEnds[steps[step]!.action.kind] ?? []
  return steps.some(({ action }, at) => at > step && done.has(at) && ends.includes(action.kind))
}

/** Returns the steps that the record calls undone and that have not begun again since. */
function undoneIn(events: readonly RunEvent[]): ReadonlySet<number> {
  const undone = new Set<number>()
  for (const event of events) {
    if (event.event === 'undone') undone.add(event.step)
    if (event.event === 'intent' || event.event === 'done' || event.event === 'redo') undone.delete(event.step)
  }
  return undone
}
