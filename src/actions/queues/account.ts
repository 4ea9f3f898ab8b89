import { entryIn } from '../../core/queue-notes.ts'
import type { Counts, Part, Way } from '../../core/queue-notes.ts'

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
  of: (queue: string, ahead?: true) => Account | null
  /** all attempts of both, in their order */
  attemptsOf: (queue: string) => readonly (Attempt & Way)[]
  /** which way its messages were moved last; null: none */
  lastOf: (queue: string) => Way | null
  /** marks of the policies under which its messages went aside, since the two were compared last; null: not known */
  policiesOf: (queue: string) => readonly string[] | null
  /** how many messages that had come back to a queue are there for a restart of the broker to drop; null: none, as far as is noted */
  transientIn: (queue: string) => number | null
  /** what was told of a queue to which not all came back that went, so that it is known to whoever goes on; null: all did */
  toldOf: (queue: string) => string | null
}

/** Reads the notes of a run, oldest first; others' notes are passed over. */
export function accountsOf(notes: readonly string[]): Accounts {
  const attempts = new Map<string, (Attempt & Way)[]>()
  const last = new Map<string, Way>()
  const told = new Map<string, string>()
  const transient = new Map<string, number>()
  const policies = new Map<string, readonly string[] | null>()
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
      for (const queue of entry.queues) for (const since of [attempts, policies, transient]) since.delete(queue)
      for (const [queue, count] of Object.entries(entry.transient ?? {})) transient.set(queue, count)
      for (const [queue, said] of Object.entries(entry.differing)) told.set(queue, said)
    } else if (entry.event === 'begun') {
      for (const [queue, counts] of Object.entries(entry.queues)) {
        attemptOf(queue, entry, counts)
        transient.delete(queue)
        if (entry.direction === 'aside' && !policies.has(queue)) policies.set(queue, entry.policies ?? null)
      }
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
    policiesOf: (queue) => policies.get(queue) ?? null,
    transientIn: (queue) => transient.get(queue) ?? null,
    toldOf: (queue) => told.get(queue) ?? null,
  }
}
