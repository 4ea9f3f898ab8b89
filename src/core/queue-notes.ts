import type { ActionKind } from './action.ts'
import { isObject } from './shape.ts'
import type { Binding } from './topology.ts'
import type { Contents } from './message-mover.ts'

export type Direction = 'aside' | 'back'

/** The direction of a move, and the other queue of it. */
export interface Way {
  direction: Direction
  /** Set if the other queue is that of an undo, whose messages come before those in the holding queue (`aheadQueue`) */
  ahead?: true
}

/**
 * What the journal records of moves: as each attempt begins, once queues are moved, and once what came back was
 * compared with what went. `policies`: marks of those under which the queues lose messages, as they are moved aside;
 * absent: they cannot be seen, or an older version made the note. `transient`: how many messages of each queue a
 * restart of the broker would then drop; absent: none.
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

/** Numbers of ready messages, in a queue and in its holding queue. */
export interface Counts {
  ready: number
  held: number
  /** In the other queue that holds some; absent: none, or an older version made the note */
  beside?: number
}

export interface Part {
  contents: Contents
  /** Number of messages with the user_id of another user */
  othersIds: number
  /** Number of these not moved because they were there already; absent: none, or an older version made the note */
  leftOut?: number
  /**
   * Number of messages that had come before and were redelivered by a killed broker; not in `contents`. Absent: none
   */
  again?: number
  /**
   * For the way back: set if they are in a durable queue, and survive a restart of the broker. Absent: no, or an older
   * version made the note
   */
  durable?: true
}

/** Returns the bindings that came after the plan was made, as noted before their queues and exchanges were deleted. */
export function bindingsNoted(notes: readonly string[]): Binding[] {
  return notes.flatMap((note) => {
    const value = valueOf(note)
    // the step that redeclares exchanges notes a plain list
    const list: unknown = isObject(value) && value['event'] === 'bound' ? value['bindings'] : value
    return Array.isArray(list) ? (list as Binding[]).filter((it) => isObject(it) && typeof it.source === 'string') : []
  })
}

/** Kinds of steps that note the bindings which they delete or let vanish. */
export const bindingNoters: readonly ActionKind[] = [
  'move-messages',
  'delete-queues',
  'switch-exchanges',
  'redeclare-queues',
]

/** Returns true if it is a note of moves, of one of these kinds. */
export function isNoteOfMoves(
  note: string,
  kinds: readonly Entry['event'][] = ['begun', 'moved', 'compared'],
): boolean {
  return entryIn(note).some(({ event }) => kinds.includes(event))
}

/** Returns what a note says of moves and bindings; empty: it is about something else. */
export function entryIn(note: string): Entry[] {
  const value = valueOf(note)
  return isObject(value) && 'event' in value ? [value as unknown as Entry] : []
}

/** Parses a note; null: it is not JSON. */
function valueOf(note: string): unknown {
  try {
    return JSON.parse(note)
  } catch {
    return null
  }
}
