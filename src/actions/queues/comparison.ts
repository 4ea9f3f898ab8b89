import { totalOf } from '../../core/message-mover.ts'
import type { Contents } from '../../core/message-mover.ts'
import type { Counts, Way } from '../../core/queue-notes.ts'
import type { Account, Attempt } from './account.ts'
import { own } from '../../core/own.ts'

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
