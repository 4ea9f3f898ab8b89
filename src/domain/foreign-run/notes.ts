import { bindingNoters, bindingsNoted } from '../../core/queue-notes.ts'
import type { Action } from '../../core/action.ts'
import type { Plan } from '../../core/plan.ts'
import type { RunEvent } from '../../core/run.ts'
import type { Binding } from '../../core/topology.ts'
import type { Comparison } from './comparison.ts'
import { byShown, isLive, isTypedAsShown, shownKey } from './queues/parts.ts'

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
      return isOfChange(note, action) ? [] : [`a note would write more than ${action.name} into a file`]
    case 'switch-exchanges': {
      const own = new Set(action.exchanges.map(({ from }) => from.name))
      const isOwn = ({ source, destination, destinationKind }: Binding): boolean =>
        own.has(source) || (destinationKind === 'exchange' && own.has(destination))
      return (JSON.parse(note) as Binding[]).every(isOwn)
        ? []
        : ['a note binds a queue or exchange that is not its own']
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
      return event !== 'bound' || bindings.every(isOwn) ? [] : ['a note binds a queue or exchange that is not its own']
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
        `a note binds ${destination} to ${source}, but nothing shows that this binding existed`,
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
