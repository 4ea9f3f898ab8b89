import type { Contents } from '../../core/message-mover.ts'
import { isObject } from '../../core/shape.ts'

export type Direction = 'aside' | 'back'

/** What the journal keeps of moves: as each attempt begins, once queues are moved, and once what came back was compared with what went. */
export type Entry =
  | { event: 'begun'; direction: Direction; attempt: string; queues: Readonly<Record<string, Counts | null>> }
  | { event: 'moved'; direction: Direction; attempt: string; queues: Readonly<Record<string, Part>> }
  | { event: 'compared'; queues: readonly string[]; differing: Readonly<Record<string, string>> }

/** Messages that are ready in a queue, and in the one that holds its messages. */
export interface Counts {
  ready: number
  held: number
}

export interface Part {
  contents: Contents
  /** with the user_id of another user */
  othersIds: number
}

/** One attempt, as far as it concerns one queue. */
interface Attempt {
  attempt: string
  /** before it; null: somebody still read from one of the two */
  counts: Counts | null
  /** null: it was cut off */
  part: Part | null
}

/** What went aside out of one queue, and what has come back of it, since the two were compared last. */
export interface Account {
  aside: readonly Attempt[]
  back: readonly Attempt[]
}

interface Accounts {
  /** null: nothing has gone or come */
  of(queue: string): Account | null
  /** what was told of a queue to which not all came back that went, so that it is known to whoever goes on; null: all did */
  toldOf(queue: string): string | null
}

/** Reads the notes of a run, oldest first; others' notes are passed over. */
export function accountsOf(notes: readonly string[]): Accounts {
  const accounts = new Map<string, { aside: Attempt[]; back: Attempt[] }>()
  const told = new Map<string, string>()
  const attemptOf = (queue: string, direction: Direction, attempt: string, counts: Counts | null): Attempt => {
    const account = accounts.get(queue) ?? { aside: [], back: [] }
    accounts.set(queue, account)
    const known = account[direction].find((it) => it.attempt === attempt)
    if (known) return known
    const added = { attempt, counts, part: null }
    account[direction].push(added)
    return added
  }
  for (const entry of notes.flatMap(entryIn)) {
    if (entry.event === 'compared') {
      for (const queue of entry.queues) accounts.delete(queue)
      for (const [queue, said] of Object.entries(entry.differing)) told.set(queue, said)
    } else if (entry.event === 'begun') {
      for (const [queue, counts] of Object.entries(entry.queues)) attemptOf(queue, entry.direction, entry.attempt, counts)
    } else {
      for (const [queue, part] of Object.entries(entry.queues)) attemptOf(queue, entry.direction, entry.attempt, null).part = part
    }
  }
  return { of: (queue) => accounts.get(queue) ?? null, toldOf: (queue) => told.get(queue) ?? null }
}

function entryIn(note: string): Entry[] {
  try {
    const value: unknown = JSON.parse(note)
    return isObject(value) && 'event' in value ? [value as unknown as Entry] : []
  } catch {
    return []
  }
}
