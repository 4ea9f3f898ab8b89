import type { Action } from '../../core/action.ts'
import type { Binding } from '../../core/broker-control.ts'
import { AdminError } from '../../core/error.ts'
import { bindingNoters, bindingsNoted } from '../../core/notes.ts'
import type { Plan } from '../../core/plan.ts'
import { notesOfStep } from '../../core/run-state.ts'
import type { RunEvent, RunHistory } from '../../core/run.ts'
import { byShown, isLive, isTypedAsShown, shownKey } from './queues/parts.ts'
import type { Deployment } from '../../core/deployment.ts'
import type { Sources } from '../../core/sources.ts'

/**
 * Returns why notes, although their form is right, are none that these steps write; empty if all fit. They matter
 * because undo writes them back.
 */
export function unfitNotes({ steps }: Plan, events: readonly RunEvent[]): string[] {
  return events.flatMap((event) => {
    const action = event.event === 'noted' ? steps[event.step]?.action : undefined
    return event.event === 'noted' && action ? ofNote(action, event.note) : []
  })
}

function ofNote(action: Action, note: string): string[] {
  switch (action.kind) {
    case 'set-setting':
      return isOfChange(note, action) ? [] : [`undoing the run would change more than ${action.name} in a file`]
    case 'switch-exchanges': {
      const own = new Set(action.exchanges.map(({ from }) => from.name))
      const isOwn = ({ source, destination, destinationKind }: Binding): boolean =>
        own.has(source) || (destinationKind === 'exchange' && own.has(destination))
      return (JSON.parse(note) as Binding[]).every(isOwn)
        ? []
        : ['the details saved for one step list a binding of an exchange that this step does not change']
    }
    case 'move-messages':
    case 'redeclare-queues':
    case 'delete-queues': {
      const own = new Set(
        action.kind === 'move-messages'
          ? action.moves.map(({ queue }) => queue)
          : action.queues.map(({ queue }) => queue.name),
      )
      const { event, bindings = [] } = JSON.parse(note) as { event: string; bindings?: Binding[] }
      const isOwn = ({ destination, destinationKind }: Binding): boolean =>
        destinationKind === 'queue' && own.has(destination)
      return event !== 'bound' || bindings.every(isOwn)
        ? []
        : ['the details saved for one step list a binding of a queue or exchange that this step does not change']
    }
    default:
      return []
  }
}

/**
 * Returns noted bindings that are neither in the plan nor in the broker, so that nothing shows that they existed; empty
 * if all fit.
 */
export async function unfitBindings(
  { steps }: Plan,
  events: readonly RunEvent[],
  { open }: Pick<Comparison, 'open'>,
): Promise<string[]> {
  const noted = events.flatMap((event) => {
    const kind = event.event === 'noted' ? steps[event.step]?.action.kind : undefined
    return event.event === 'noted' && kind && bindingNoters.includes(kind) ? bindingsNoted([event.note]) : []
  })
  if (noted.length === 0) return []
  const saved = steps.flatMap(({ action }) =>
    'bindings' in action ? action.bindings : action.kind === 'hold-queues' ? action.saved.bindings : [],
  )
  const known = byShown([...saved, ...(await (await open.broker()).bindings())])
  const isKnown = (it: Binding): boolean =>
    isTypedAsShown(it) && (known.get(shownKey(it)) ?? []).some((other) => isLive(it, other))
  return noted
    .filter((it) => !isKnown(it))
    .map(
      ({ source, destination }) =>
        `the saved record has a binding of ${destination} to ${source}, but nothing shows that this binding existed`,
    )
}

/** True if a note restores no more than a piece of that setting's own line: undo writes it to the file unchanged. */
function isOfChange(
  note: string,
  { name, from, to }: { name: string; from: string | null; to: string | null },
): boolean {
  const { was = '', is = '' } = JSON.parse(note.slice(note.indexOf('{'))) as { was?: string; is?: string }
  const lines = [from, to].flatMap((value) =>
    value === null
      ? []
      : ['', '"', "'"].flatMap((quote) =>
          ['', 'export '].map((before) => before + name + '=' + quote + value + quote + '\n'),
        ),
  )
  const isPiece = (text: string): boolean => text === '' || lines.some((line) => `\n${line}`.includes(text))
  // the trace of a removed line may start with its end, followed by the beginning that it shares with the next line
  const isWhole = (text: string): boolean =>
    lines.some((line) => line.length === text.length && (line + line).includes(text))
  return is === '' && was !== '' ? isWhole(was) : isPiece(was) && isPiece(is)
}

/** The content of a note about a changed file (`traceOf` in platforms/host); positions are in bytes. */
interface Trace {
  path: string
  at: number
  was: string
  is: string
}

/** Returns why notes of a setting would make undo write outside that setting's own lines; empty if none would. */
export async function unfitPlaces(
  { record: { plan }, events }: RunHistory,
  { open }: Pick<Comparison, 'open'>,
): Promise<string[]> {
  const found: string[] = []
  for (const [step, { action }] of plan.steps.entries()) {
    if (action.kind !== 'set-setting') continue
    for (const trace of notesOfStep(events, step).flatMap(traceIn))
      found.push(...(await ofTrace(trace, action.name, open)))
  }
  return found
}

function traceIn(note: string): Trace[] {
  const at = note.indexOf('{')
  return at < 0 ? [] : [JSON.parse(note.slice(at)) as Trace]
}

/** Checks that undo, which replaces `is` by `was`, leaves all other lines unchanged. */
async function ofTrace({ path, at, was, is }: Trace, name: string, open: Comparison['open']): Promise<string[]> {
  const read = await bytesIn(path, open)
  if (read === null) return []
  if (read.includes('\u{fffd}'))
    return [`cannot tell which lines of ${path} would change if the run were undone: the file is not in UTF-8`]
  // reading drops the end of the last line
  const text = `${read.toString('latin1')}\n`
  if (!text.startsWith(is, at)) return []
  const back = `${text.slice(0, at)}${was}${text.slice(at + is.length)}`
  return othersIn(back, name) === othersIn(text, name)
    ? []
    : [`undoing the run would also change lines of ${path} that do not set ${name}`]
}

/** Returns the bytes of a file; null if it is missing, so undo writes nothing. */
async function bytesIn(path: string, open: Comparison['open']): Promise<Buffer | null> {
  try {
    return Buffer.from((await (await open.files()).secret(path)).reveal(), 'utf8')
  } catch (error) {
    if (error instanceof AdminError && error.code === 'USAGE') return null
    throw error
  }
}

/** Returns all lines except those that set the setting. */
function othersIn(text: string, name: string): string {
  const lines = text.split('\n').filter(
    (line) =>
      !line
        .trim()
        .replace(/^export\s+/, '')
        .startsWith(`${name}=`),
  )
  return lines.join('\n').trimEnd()
}

/**
 * The parts that a record is compared with. Each is opened only if the record names it, and throws if it cannot be
 * opened.
 */
export type ComparedSources = {
  readonly [K in 'service' | 'database' | 'broker' | 'sessions' | 'api' | 'files']: () => Promise<Sources[K]>
}

/** The deployment that a record was found in. */
export interface Comparison {
  deployment: Deployment
  open: ComparedSources
}
