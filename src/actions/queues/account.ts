import type { Contents } from '../../core/message-mover.ts'
import { isObject } from '../../core/shape.ts'
import type { Binding } from '../../core/topology.ts'

export type Direction = 'aside' | 'back'

/** Which way messages are moved, and between their queue and which other one. */
export interface Way {
  direction: Direction
  /** the queue of an undo, whose messages come before those in the holding queue (`aheadQueue`) */
  ahead?: true
}

/** What the journal keeps of moves: as each attempt begins, once queues are moved, and once what came back was compared with what went. */
export type Entry =
  | ({ event: 'begun'; attempt: string; queues: Readonly<Record<string, Counts | null>> } & Way)
  | ({ event: 'moved'; attempt: string; queues: Readonly<Record<string, Part>> } & Way)
  | { event: 'bound'; bindings: readonly Binding[] }
  | { event: 'compared'; queues: readonly string[]; differing: Readonly<Record<string, string>> }

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
  /** of these, so many were not moved, since they were there already; absent: none, or a former version made the note */
  leftOut?: number
}

/** One attempt, as far as it concerns one queue. */
export interface Attempt {
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
  /** `ahead`: of the queue of an undo. Null: nothing has gone or come */
  of(queue: string, ahead?: true): Account | null
  /** all attempts of both, in their order */
  attemptsOf(queue: string): readonly Attempt[]
  /** which way its messages were moved last; null: none */
  lastOf(queue: string): Way | null
  /** what was told of a queue to which not all came back that went, so that it is known to whoever goes on; null: all did */
  toldOf(queue: string): string | null
}

/** Reads the notes of a run, oldest first; others' notes are passed over. */
export function accountsOf(notes: readonly string[]): Accounts {
  const attempts = new Map<string, (Attempt & Way)[]>()
  const last = new Map<string, Way>()
  const told = new Map<string, string>()
  const attemptOf = (queue: string, { direction, ahead, attempt }: Way & { attempt: string }, counts: Counts | null): Attempt => {
    const own = attempts.get(queue) ?? []
    attempts.set(queue, own)
    const way = { direction, ...(ahead && { ahead }) }
    last.set(queue, way)
    const known = own.find((it) => it.attempt === attempt && it.direction === direction)
    if (known) return known
    const added = { ...way, attempt, counts, part: null }
    own.push(added)
    return added
  }
  for (const entry of notes.flatMap(entryIn)) {
    if (entry.event === 'compared') {
      for (const queue of entry.queues) attempts.delete(queue)
      for (const [queue, said] of Object.entries(entry.differing)) told.set(queue, said)
    } else if (entry.event === 'begun') {
      for (const [queue, counts] of Object.entries(entry.queues)) attemptOf(queue, entry, counts)
    } else if (entry.event === 'moved') {
      for (const [queue, part] of Object.entries(entry.queues)) attemptOf(queue, entry, null).part = part
    }
  }
  return {
    of(queue, ahead) {
      const own = attempts.get(queue)?.filter((it) => it.ahead === ahead) ?? []
      const [aside, back] = (['aside', 'back'] as const).map((direction) => own.filter((it) => it.direction === direction))
      return own.length === 0 ? null : { aside: aside!, back: back! }
    },
    attemptsOf: (queue) => attempts.get(queue) ?? [],
    lastOf: (queue) => last.get(queue) ?? null,
    toldOf: (queue) => told.get(queue) ?? null,
  }
}

/** Bindings of its queues and exchanges that came after the plan was made, as they were noted before these were deleted. */
export function bindingsNoted(notes: readonly string[]): Binding[] {
  return notes.flatMap((note) => {
    const value = valueOf(note)
    // the step that declares exchanges anew notes a mere list
    const list: unknown = isObject(value) && value['event'] === 'bound' ? value['bindings'] : value
    return Array.isArray(list) ? (list as Binding[]).filter((it) => isObject(it) && typeof it.source === 'string') : []
  })
}

function entryIn(note: string): Entry[] {
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
