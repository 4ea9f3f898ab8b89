import type { Contents } from '../../core/message-mover.ts'
import { totalOf } from '../../core/message-mover.ts'
import type { Counts, Part, Way } from '../../core/notes.ts'
import { entryIn } from '../../core/notes.ts'
import { own } from '../../core/lookup.ts'

/** One attempt, as far as it concerns one queue. */
export interface Attempt {
  attempt: string
  /** message counts before it; null: a client still read from one of the two queues */
  counts: Counts | null
  /** what it moved; null: it was cut off */
  part: Part | null
}

/** What one queue had moved aside and got back since both were last compared. */
interface Account {
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

/** How many messages were moved aside from a queue, and how many came back. */
export interface Comparison {
  went: number
  came: number
  /**
   * 'contents': the same number, but not the same messages or not in their order; 'before': `went` were counted, and
   * only `came` were left when a move aside that was cut off was resumed; 'again': `went` had come back, a restart of
   * the broker dropped them, and only `came` could be restored; null: nothing is missing
   */
  difference: 'count' | 'contents' | 'before' | 'again' | null
  /** a move was cut off, so some messages may be duplicates and the counts are minimums */
  isAtLeast: boolean
}

/** How many messages had come back to their queue, and how many of them are still there. */
export interface Left {
  came: number
  left: number
}

/**
 * The comparison of one account; null: a former version moved messages aside without noting them. `now`: counts before
 * the last move back.
 */
export function compare(account: Account, now: Counts): Comparison | null {
  const moved = compareMoved(account, now)
  const left = leftOfCounted(account, now)
  return moved?.difference === null && left !== null ? { ...moved, ...left, difference: 'before' } : moved
}

/**
 * Messages that were lost between two attempts, when this program moved nothing: a broker that restarts drops what a
 * transient queue holds. Null: none, as far as is known.
 */
function leftOfCounted(
  { aside, back }: Pick<Account, 'aside' | 'back'>,
  now: Counts,
): { went: number; came: number } | null {
  const before = aside[0]?.counts
  // with nothing to move back, no move back was begun
  const after = back.length === 0 ? now : back[0]?.counts
  if (!before || !after || aside.every(({ part }) => part !== null)) return null
  const [went, came] = [before.ready + before.held, after.ready + after.held]
  return came < went ? { went, came } : null
}

/**
 * How many returned messages are left in a queue after a move back was cut off: a broker that restarts drops those of a
 * transient queue. `attempts`: in order, both directions; in `now`, `held` and `ahead` still wait. Null: none are
 * missing, as far as is known.
 */
export function leftOfReturned(
  attempts: readonly (Attempt & Way)[],
  now: { ready: number; held: number; ahead: number },
): Left | null {
  const since = attempts.slice(attempts.findLastIndex(({ direction }) => direction === 'aside') + 1)
  const [first] = since
  if (!first?.counts) return null
  const cameOf = (own: readonly Attempt[], held: number): number =>
    own.reduce((sum, { counts, part }, index) => {
      // messages that wait again after a move back was over are those that a killed broker restored
      if (part)
        return (
          sum +
          Math.max(
            0,
            totalOf(part.contents) -
              (part.leftOut ?? 0) -
              (index + 1 < own.length ? (own[index + 1]!.counts?.held ?? 0) : held),
          )
        )
      const next = index + 1 < own.length ? own[index + 1]!.counts?.held : held
      return counts && next !== undefined ? sum + Math.max(0, counts.held - next) : sum
    }, 0)
  const came =
    cameOf(
      since.filter(({ ahead }) => ahead),
      now.ahead,
    ) +
    cameOf(
      since.filter(({ ahead }) => !ahead),
      now.held,
    )
  const there = first.counts.ready + came
  return now.ready < there ? { came: there, left: now.ready } : null
}

function compareMoved({ aside, back, settled }: Account, now: Counts): Comparison | null {
  const last = back.at(-1)
  const taken = last?.part?.contents ?? {}
  if (Object.hasOwn(taken, '')) return null
  const again = settled.filter(({ attempt }) => Object.hasOwn(taken, attempt))
  const cameAgain = again.reduce((sum, { attempt }) => sum + countIn(taken, attempt), 0)
  // for an attempt that was cut off: what the next one found, or the position of the last message that came back
  const parts = aside.map((it, index) => ({
    ...it,
    left: Math.max(leftBy({ aside, back }, index), own(taken, it.attempt)?.last ?? 0),
  }))
  // leaves out an attempt that was cut off before it reached this queue
  const known = parts.filter(({ part, left }) => part !== null || left !== 0)
  const went = known.reduce((sum, { attempt, part, left }) => sum + (part ? countIn(part.contents, attempt) : left), 0)
  if (back.some(({ part }) => part === null)) {
    // what was acknowledged before the cut is gone from the holding queue
    const [first, held] = [back[0]?.counts?.held, last?.part ? last.counts?.held : 0]
    const all = went + cameAgain
    const came = first === undefined || held === undefined ? all : first - held + totalOf(taken)
    return { went: all, came, difference: came < all ? 'count' : null, isAtLeast: true }
  }
  const isStrange = Object.keys(taken).some((attempt) => ![...known, ...again].some((it) => it.attempt === attempt))
  const isOther = known.some(({ attempt, part, left }) => {
    const count = countIn(taken, attempt)
    return part ? count !== countIn(part.contents, attempt) : count !== left
  })
  const isAltered = known.some(
    ({ attempt, part }) => part && own(taken, attempt)?.digest !== own(part.contents, attempt)?.digest,
  )
  const isAtLeast = known.some(({ part }) => part === null) || (again.length > 0 && now.ready > 0)
  if (isStrange || isOther || isAltered)
    return {
      went,
      came: totalOf(taken) - cameAgain,
      difference: isStrange || isOther ? 'count' : 'contents',
      isAtLeast,
    }
  const before = again.reduce((sum, { attempt, part }) => sum + countIn(part?.contents ?? taken, attempt), 0)
  // messages that did not come again may never have left, or have since been moved aside with others
  if (aside.length === 0 && now.ready + cameAgain < before)
    return { went: before, came: now.ready + cameAgain, difference: 'again', isAtLeast: true }
  return { went: went + cameAgain, came: totalOf(taken), difference: null, isAtLeast }
}

/**
 * How many duplicates a queue and its holding queues have because moves were cut off between confirmation and
 * acknowledgement: the number by which the total grew after each of these. `attempts`: in order, both directions;
 * `now`: counts before the next one.
 */
export function repeatsIn(attempts: readonly Attempt[], now: Counts): number {
  let repeats = 0
  for (const [index, { counts, part }] of attempts.entries()) {
    const next = index + 1 < attempts.length ? attempts[index + 1]!.counts : now
    const more = part !== null ? -(part.leftOut ?? 0) - (part.again ?? 0) : counts && next ? sum(next) - sum(counts) : 0
    // messages lost in between, as with a queue that vanished, must not hide later duplicates
    repeats = Math.max(0, repeats + more)
  }
  return repeats
}

function sum({ ready, held, beside = 0 }: Counts): number {
  return ready + held + beside
}

/**
 * How many messages an attempt that was cut off moved aside, as the next attempt found them. Unknown if an earlier
 * attempt was cut off as well: a broker without disk or memory then accepts the earlier messages only later, among
 * these.
 */
function leftBy({ aside, back }: Pick<Account, 'aside' | 'back'>, index: number): number {
  if (aside.slice(0, index).some(({ part }) => part === null)) return 0
  const [own, next] = [aside[index]?.counts, (aside[index + 1] ?? back[0])?.counts]
  return own && next ? Math.max(0, next.held - own.held) : 0
}

function countIn(contents: Contents, attempt: string): number {
  return own(contents, attempt)?.count ?? 0
}
