import type { ActionKind } from './action.ts'
import { isObject } from './shape.ts'
import type { Binding } from './topology.ts'
import type { Contents } from './message-mover.ts'

export type Direction = 'aside' | 'back'

/** Which way messages are moved, and between their queue and which other one. */
export interface Way {
  direction: Direction
  /** the queue of an undo, whose messages come before those in the holding queue (`aheadQueue`) */
  ahead?: true
}

/**
 * What the journal keeps of moves: as each attempt begins, once queues are moved, and once what came back was compared
 * with what went. `policies`: marks of those under which the queues lose messages, as they are moved aside; absent:
 * they cannot be seen, or a former version made the note. `transient`: how many messages each of the queues has then
 * that a restart of the broker would drop; absent: none do.
 */
export type Entry =
  | ({
      event: 'begun'
      attempt: string
      queues: Readonly<Record<string, Counts | null>>
      policies?: readonly string[]
    } & Way)
  | ({ event: 'moved'; attempt: string; queues: Readonly<Record<string, Part>> } & Way)
  | { event: 'bound'; bindings: readonly Binding[] }
  | {
      event: 'compared'
      queues: readonly string[]
      differing: Readonly<Record<string, string>>
      transient?: Readonly<Record<string, number>>
    }

/** Messages that are ready in a queue, and in the one that holds its messages. */
export interface Counts {
  ready: number
  held: number
  /** in the other one that holds some; absent: none, or a former version made the note */
  beside?: number
}

export interface Part {
  contents: Contents
  /** with the user_id of another user */
  othersIds: number
  /**
   * of these, so many were not moved, since they were there already; absent: none, or a former version made the note
   */
  leftOut?: number
  /**
   * so many had come before, and were delivered once more by a broker that was killed; they are not in `contents`.
   * Absent: none
   */
  again?: number
  /**
   * on the way back: they are in a durable queue, and survive a restart of the broker; absent: no, or a former version
   * made the note
   */
  durable?: true
}

/**
 * Bindings of its queues and exchanges that came after the plan was made, as they were noted before these were deleted.
 */
export function bindingsNoted(notes: readonly string[]): Binding[] {
  return notes.flatMap((note) => {
    const value = valueOf(note)
    // the step that declares exchanges anew notes a mere list
    const list: unknown = isObject(value) && value['event'] === 'bound' ? value['bindings'] : value
    return Array.isArray(list) ? (list as Binding[]).filter((it) => isObject(it) && typeof it.source === 'string') : []
  })
}

/** Steps that note bindings which go with what they delete, or let vanish. */
export const bindingNoters: readonly ActionKind[] = [
  'move-messages',
  'delete-queues',
  'switch-exchanges',
  'redeclare-queues',
]

/** Whether it is a note of moves, of one of these kinds where some are named. */
export function isNoteOfMoves(
  note: string,
  kinds: readonly Entry['event'][] = ['begun', 'moved', 'compared'],
): boolean {
  return entryIn(note).some(({ event }) => kinds.includes(event))
}

/** What a note says of moves and bindings; empty: it is another's. */
export function entryIn(note: string): Entry[] {
  const value = valueOf(note)
  return isObject(value) && 'event' in value ? [value as unknown as Entry] : []
}

/** Null: it is no JSON. */
function valueOf(note: string): unknown {
  try {
    return JSON.parse(note)
  } catch {
    return null
  }
}
