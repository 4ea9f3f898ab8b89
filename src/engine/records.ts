import { AdminError } from '../core/error.ts'
import { moment } from '../core/format.ts'
import type { Journals, RunEvent, RunHistory, RunStore, UnreadableRun } from '../core/run.ts'
import { isUnfinished, progressOf } from '../core/run-state.ts'
import { canonical } from './plan.ts'
import { command } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'

/** What one place has on record of a run: its history, or why none. `absent`: the place answered and has none. */
type Found = { history: RunHistory } | { absent: AdminError } | { unreadable: AdminError } | { unreached: AdminError }

/** What both places have on record of a run; the longer journal counts. */
export interface Standing {
  /** Without the ends that others wrote: anybody who may write to the deployment could call a run over */
  history: RunHistory
  /** Every event literally, as both journals must have it */
  whole: RunHistory
  /** What each place has */
  here: Found
  there: Found
  /** The deployment's copy is gone: another machine ended the unfinished run, or the copy was lost */
  isGone: boolean
  /** Number of last events known from the deployment alone, where others may write; all events if `here` has none */
  foreign: number
}

/**
 * Reads the record of a run from both places. `adopt`: accepts a run known from the deployment alone, and ignores an
 * unreadable journal on this machine. Throws USAGE if there is no such run, UNEXPECTED_ANSWER if it cannot be read,
 * REFUSED if the two journals differ.
 */
export async function standingOf(journals: Journals, run: string, { adopt }: { adopt: boolean }): Promise<Standing> {
  const [here, there] = await Promise.all([lookInto(async () => journals.here, run), lookInto(journals.there, run)])
  if ('unreached' in here) throw here.unreached
  // a run that is over on this machine is over, whatever the copy says
  if ('history' in here && !isUnfinished(here.history))
    return { history: here.history, whole: here.history, here, there, isGone: false, foreign: 0 }
  if ('unreadable' in there) throw 'history' in here ? spoiled(there.unreadable, run) : there.unreadable
  const copy = 'history' in there ? there.history : null
  if ('history' in here) {
    const whole = copy === null ? here.history : longer({ here: here.history, there: copy }, journals.here.where)
    const foreign = whole.events.length - here.history.events.length
    const history = withoutEnds(whole, foreign)
    return { history, whole, here, there, isGone: isGone(history, there), foreign }
  }
  if (copy === null) {
    const isEmpty = 'absent' in there && there.absent.code === 'REFUSED'
    throw isEmpty || (adopt && 'absent' in here) ? faultOf(there) : faultOf(here)
  }
  if (!adopt) {
    const { code, message } = faultOf(here)
    throw new AdminError(code, `${message}; the deployment has a copy of the run's record`, [
      command`testops-admin resume --adopt ${run} -d {deployment} --dry-run`,
    ])
  }
  return {
    history: withoutEnds(copy, copy.events.length),
    whole: copy,
    here,
    there,
    isGone: false,
    foreign: copy.events.length,
  }
}

/** Replaces the ends among the last `foreign` events by `copied`: `redo` counts events, so each keeps its position. */
function withoutEnds({ record, events }: RunHistory, foreign: number): RunHistory {
  const since = events.length - foreign
  return {
    record,
    events: events.map((event, index) =>
      index >= since && event.event === 'ended' ? { at: event.at, by: event.by, event: 'copied' } : event,
    ),
  }
}

/** Every run on record. */
export interface OnRecord {
  /**
   * Each run by its longer journal, and whether this machine has one. `isSpoiled`: that one is intact, and the
   * deployment's copy cannot be read
   */
  all: readonly ({ isHere: boolean; isGone: boolean; isSpoiled?: true } & (RunHistory | UnreadableRun))[]
  /** Why the deployment's journals could not be read; null: they were, or the deployment has no place for any */
  unasked: AdminError | null
}

export async function onRecord(journals: Journals): Promise<OnRecord> {
  const [here, asked] = await Promise.all([journals.here.list(), listThere(journals)])
  const there = asked instanceof AdminError ? null : asked.runs
  const unseen = asked instanceof AdminError ? asked : asked.unseen
  const copies = new Map((there ?? []).map((it) => [nameOf(it), it]))
  const own = here.map((it) => {
    const copy = copies.get(nameOf(it))
    copies.delete(nameOf(it))
    const ours = { isHere: true, isGone: false }
    if (!('record' in it) || copy === undefined) {
      const gone =
        'record' in it && there !== null && unseen === null && isUnfinished(it) && progressOf(it.events).isCopied
      return { ...ours, ...it, isGone: gone }
    }
    const whole = 'record' in copy ? merged(it, copy, journals.here.where) : copy
    // a run that is over on this machine is over, whatever the copy says
    if (!('record' in whole))
      return isUnfinished(it) ? { ...ours, ...whole, isSpoiled: true as const } : { ...ours, ...it }
    // the copy alone proves neither that a run is over, for which `resume` asks the deployment, nor that it is not over
    // if it is over here
    return { ...ours, ...(isUnfinished(it) && isUnfinished(whole) ? whole : it) }
  })
  const unasked = unseen !== null && unseen.code !== 'NOT_CONFIGURED' ? unseen : null
  return { all: [...own, ...[...copies.values()].map((it) => ({ isHere: false, isGone: false, ...it }))], unasked }
}

/** Both journals of one run. */
interface Pair {
  here: RunHistory
  there: RunHistory
}

/**
 * Returns the events that one of two journals lacks; none if it is the longer one. Throws REFUSED if the two journals
 * differ.
 */
export function missingFrom(place: keyof Pair, pair: Pair, where: string): readonly RunEvent[] {
  const { here, there } = pair
  const shorter = Math.min(here.events.length, there.events.length)
  const common = here.events.slice(0, shorter).findIndex((event, index) => exact(event) !== exact(there.events[index]))
  if (common >= 0 || exact(here.record) !== exact(there.record)) throw apart(pair, common, where)
  return pair[place === 'here' ? 'there' : 'here'].events.slice(pair[place].events.length)
}

/** Literal text of a value: journals must agree even where a comparison of plans ignores a difference. */
function exact(value: unknown): string {
  return canonical(value, new Set())
}

/**
 * Removes the deployment's copies of finished runs, left by processes that were killed before they removed them. A run
 * of another machine counts as finished only if `isOver` confirms that nothing of it is left in the deployment. Call it
 * only while holding the locks.
 */
export async function forgetFinished(
  journals: Journals,
  isOver: (history: RunHistory) => Promise<boolean>,
): Promise<void> {
  const asked = await listThere(journals)
  if (asked instanceof AdminError || asked.runs.length === 0) return
  const there = asked.runs
  const store = await journals.there()
  const here = await journals.here.list()
  for (const copy of there) {
    if (!('record' in copy)) continue
    const own = here.find((it) => nameOf(it) === copy.record.run)
    if (own && (!('record' in own) || isUnfinished(own))) continue
    const whole = own ? merged(own, copy, journals.here.where) : copy
    if ('record' in whole && !isUnfinished(whole) && (own || (await isOver(whole))))
      await store.remove(copy.record.run).catch(unlessBug)
  }
}

async function lookInto(open: () => Promise<RunStore>, run: string): Promise<Found> {
  let store: RunStore
  try {
    store = await open()
  } catch (error) {
    return { unreached: ofDeployment(error) }
  }
  try {
    return { history: await store.read(run) }
  } catch (error) {
    const fault = ofDeployment(error)
    if (fault.code === 'USAGE' || fault.code === 'REFUSED') return { absent: fault }
    return fault.code === 'UNEXPECTED_ANSWER' ? { unreadable: fault } : { unreached: fault }
  }
}

/** Lists the deployment's runs, and why some could not be seen; or returns why the deployment cannot be asked. */
async function listThere({
  there,
}: Journals): Promise<{ runs: readonly (RunHistory | UnreadableRun)[]; unseen: AdminError | null } | AdminError> {
  try {
    const store = await there()
    return { runs: await store.list(), unseen: (await store.unseen?.()) ?? null }
  } catch (error) {
    return ofDeployment(error)
  }
}

/** Returns an error that is the deployment's answer. Throws an interruption or a bug again. */
function ofDeployment(error: unknown): AdminError {
  if (error instanceof AdminError && error.code !== 'INTERRUPTED') return error
  throw error
}

/** Ignores an `AdminError` and throws anything else; for `catch`. */
export function unlessBug(error: unknown): void {
  if (!(error instanceof AdminError)) throw error
}

function faultOf(found: Found): AdminError {
  if ('absent' in found) return found.absent
  return 'unreadable' in found ? found.unreadable : (found as { unreached: AdminError }).unreached
}

function isGone(history: RunHistory, there: Found): boolean {
  return 'absent' in there && isUnfinished(history) && progressOf(history.events).isCopied
}

function longer(pair: Pair, where: string): RunHistory {
  const missing = missingFrom('here', pair, where)
  return { record: pair.here.record, events: [...pair.here.events, ...missing] }
}

function merged(here: RunHistory, there: RunHistory, where: string): RunHistory | UnreadableRun {
  try {
    return longer({ here, there }, where)
  } catch (error) {
    if (error instanceof AdminError) return { run: here.record.run, unreadable: error.message }
    throw error
  }
}

export function nameOf(it: RunHistory | UnreadableRun): string {
  return 'record' in it ? it.record.run : it.run
}

/** Returns the error for an unreadable copy of a run whose journal on this machine is intact. */
function spoiled(fault: AdminError, run: string): AdminError {
  return new AdminError(
    fault.code,
    `${fault.message}. This machine's own record of the run is intact`,
    [...fault.suggestions, dropCopy(run)],
    { cause: fault },
  )
}

/** Returns the command that removes the deployment's copy, so that only the journal on this machine counts. */
export function dropCopy(run: string): Suggestion {
  return command`testops-admin discard ${run} -d {deployment}   # moves the deployment's copy of the record into a
    file, so that resume uses this machine's record`
}

function apart({ here, there }: Pair, at: number, where: string): AdminError {
  const { run } = here.record
  const first =
    at < 0
      ? 'differ from the start'
      : `begin to differ at event ${at + 1}: this machine has ${told(here.events[at])}, ` +
        `and the deployment has ${told(there.events[at])}`
  return new AdminError(
    'REFUSED',
    `the record of run ${run} on this machine and the copy in the deployment ${first}. The run was resumed in ` +
      'two places. Find out which of the two records is right',
    [
      'testops-admin doctor -d {deployment}',
      dropCopy(run),
      command`${'mv'} ${`${where}/${run}`} ${`${where}/${run}.aside`}   # sets this machine's record aside, so that
        resume uses the deployment's copy; then run:`,
      command`testops-admin resume --adopt ${run} -d {deployment} --dry-run`,
    ],
  )
}

function told(event: RunEvent | undefined): string {
  if (!event) return 'nothing'
  const step = 'step' in event ? ` of step ${event.step + 1}` : ''
  return `${event.event}${step} at ${moment(event.at)} by ${event.by}`
}
