import { totalOf } from '../../core/message-mover.ts'
import type { Contents } from '../../core/message-mover.ts'
import { own } from '../../core/own.ts'
import { entryIn } from '../../core/queue-notes.ts'
import type { Counts, Part, Way } from '../../core/queue-notes.ts'

/** One attempt, as far as it concerns one queue. */
export interface Attempt {
  attempt: string
  /** message counts before it; null: a client still read from one of the two queues */
  counts: Counts | null
  /** what it moved; null: it was cut off */
  part: Part | null
}

/** What one queue had moved aside and got back since both were last compared. */
export interface Account {
  aside: readonly Attempt[]
  back: readonly Attempt[]
  /** what was moved aside before that comparison: a broker that was killed may deliver it again */
  settled: readonly Attempt[]
}

/** What came back to a durable queue. */
export interface Came {
  /** for each attempt whose messages all came back in order: the position of the last one */
  proven: Readonly<Record<string, number>>
  /** how many came with the last move back: while the queue has that many, it has lost none of them */
  latest: number
}

interface Accounts {
  /** the account of a queue, or of its `ahead` queue of an undo; null: nothing was moved */
  of: (queue: string, ahead?: true) => Account | null
  /** all attempts in both directions, in order */
  attemptsOf: (queue: string) => readonly (Attempt & Way)[]
  /** what came back unchanged to a durable queue; null: nothing did */
  cameOf: (queue: string) => Came | null
  /** the direction of its last move; null: none */
  lastOf: (queue: string) => Way | null
  /** marks of the policies that applied when its messages were moved aside, since the last comparison; null: unknown */
  policiesOf: (queue: string) => readonly string[] | null
  /**
   * how many messages came back to a transient queue, so that a restart of the broker would drop them; null: none on
   * record
   */
  transientIn: (queue: string) => number | null
  /**
   * what this run has reported about a queue that did not get all its messages back, so that a resumed run knows it;
   * null: nothing
   */
  toldOf: (queue: string) => string | null
}

/** Reads the notes of a run, oldest first, and ignores those of other actions. */
export function accountsOf(notes: readonly string[]): Accounts {
  const attempts = new Map<string, (Attempt & Way)[]>()
  const last = new Map<string, Way>()
  const told = new Map<string, string>()
  const transient = new Map<string, number>()
  const policies = new Map<string, readonly string[] | null>()
  const settled = new Map<string, (Attempt & Way)[]>()
  const came = new Map<string, Came>()
  const attemptOf = (
    queue: string,
    { direction, ahead, attempt }: Way & { attempt: string },
    counts: Counts | null,
  ): Attempt => {
    const known = attempts.get(queue) ?? []
    attempts.set(queue, known)
    const way = { direction, ...(ahead && { ahead }) }
    last.set(queue, way)
    const same = known.find((it) => it.attempt === attempt && it.direction === direction)
    if (same) return same
    const added = { ...way, attempt, counts, part: null }
    known.push(added)
    return added
  }
  for (const entry of notes.flatMap(entryIn)) {
    if (entry.event === 'compared') {
      for (const queue of entry.queues)
        settled.set(queue, [
          ...(settled.get(queue) ?? []),
          ...(attempts.get(queue) ?? []).filter(({ direction }) => direction === 'aside'),
        ])
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
      for (const [queue, part] of Object.entries(entry.queues)) {
        const known = attemptOf(queue, entry, null)
        known.part = part
        // it found only messages that had come back before
        if (part.again !== undefined && Object.keys(part.contents).length === 0)
          attempts.set(
            queue,
            attempts.get(queue)!.filter((it) => it !== known),
          )
        if (entry.direction !== 'back' || part.durable !== true) continue
        const went = [...(settled.get(queue) ?? []), ...(attempts.get(queue) ?? [])].filter(
          ({ direction }) => direction === 'aside',
        )
        const latest = totalOf(part.contents) - (part.leftOut ?? 0)
        if (latest > 0)
          came.set(queue, { proven: { ...came.get(queue)?.proven, ...provenIn(part.contents, went) }, latest })
      }
    }
  }
  return {
    of(queue, ahead) {
      const those = attempts.get(queue)?.filter((it) => it.ahead === ahead) ?? []
      const [aside, back] = (['aside', 'back'] as const).map((direction) =>
        those.filter((it) => it.direction === direction),
      )
      return those.length === 0 ? null : { aside: aside!, back: back!, settled: settled.get(queue) ?? [] }
    },
    attemptsOf: (queue) => attempts.get(queue) ?? [],
    cameOf: (queue) => came.get(queue) ?? null,
    lastOf: (queue) => last.get(queue) ?? null,
    policiesOf: (queue) => policies.get(queue) ?? null,
    transientIn: (queue) => transient.get(queue) ?? null,
    toldOf: (queue) => told.get(queue) ?? null,
  }
}

/** For each attempt whose messages came back complete, unaltered and in order: the position of the last one. */
function provenIn(contents: Contents, went: readonly Attempt[]): Record<string, number> {
  const proven = went.flatMap(({ attempt, part }) => {
    const [before, after] = [own(part?.contents, attempt), own(contents, attempt)]
    if (!after || after.count !== after.last) return []
    // the total of an attempt that was cut off is unknown
    const isWhole =
      part === null || (before !== undefined && before.count === after.count && before.digest === after.digest)
    return isWhole ? [[attempt, after.last] as const] : []
  })
  return Object.fromEntries(proven)
}
