import { totalOf } from '../../core/message-mover.ts'
import type { Contents } from '../../core/message-mover.ts'
import type { Counts, Way } from '../../core/queue-notes.ts'
import type { Account, Attempt } from './account.ts'
import { own } from '../../core/own.ts'

/** What went aside out of a queue beside what has come back. */
export interface Comparison {
  went: number
  came: number
  /**
   * 'contents': as many, and not the same, or not in their order; 'before': `went` were counted, and only `came` of
   * them were left to be brought back after a move aside was cut off; 'again': `went` had come back, a restart of the
   * broker has dropped them, and it has given back only so many; null: all is as it was
   */
  difference: 'count' | 'contents' | 'before' | 'again' | null
  /** a move was cut off, so that messages may be there twice: there are at least as many */
  isAtLeast: boolean
}

/** Messages that were back in their queue, and how many of them are there now. */
export interface Left {
  came: number
  left: number
}

/** Null where a former version has put some of them aside, and has noted nothing. `now`: before the last way back. */
export function compare(account: Account, now: Counts): Comparison | null {
  const moved = compareMoved(account, now)
  const left = leftOfCounted(account, now)
  return moved?.difference === null && left !== null ? { ...moved, ...left, difference: 'before' } : moved
}

/**
 * What is gone between two attempts went through no hand of ours: a broker that is started again drops what a transient
 * queue holds. Null: nothing, as far as is known.
 */
function leftOfCounted(
  { aside, back }: Pick<Account, 'aside' | 'back'>,
  now: Counts,
): { went: number; came: number } | null {
  const before = aside[0]?.counts
  // where there was nothing to bring back, no way back was begun
  const after = back.length === 0 ? now : back[0]?.counts
  if (!before || !after || aside.every(({ part }) => part !== null)) return null
  const [went, came] = [before.ready + before.held, after.ready + after.held]
  return came < went ? { went, came } : null
}

/**
 * Of what had come back when a way back was cut off, how many are left in the queue: a broker that is started again
 * drops what a transient one holds. `attempts`: in their order, any way; `now`: `held` and `ahead` wait still. Null:
 * none are missing, as far as is known.
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
      // what waits again after a way back was over is what a broker that was killed holds once more
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
  // of one that was cut off: what the next one found, or the place of the last that came
  const parts = aside.map((it, index) => ({
    ...it,
    left: Math.max(leftBy({ aside, back }, index), own(taken, it.attempt)?.last ?? 0),
  }))
  // one that was cut off before it came to this queue
  const known = parts.filter(({ part, left }) => part !== null || left !== 0)
  const went = known.reduce((sum, { attempt, part, left }) => sum + (part ? countIn(part.contents, attempt) : left), 0)
  if (back.some(({ part }) => part === null)) {
    // what was acknowledged before it was cut off is not there any more
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
  // those that did not come again may have been there all the time; and what has gone aside since has taken them along
  if (aside.length === 0 && now.ready + cameAgain < before)
    return { went: before, came: now.ready + cameAgain, difference: 'again', isAtLeast: true }
  return { went: went + cameAgain, came: totalOf(taken), difference: null, isAtLeast }
}

/**
 * How many messages are in a queue and in those that hold its messages twice, since moves were cut off between
 * confirmation and acknowledgement: as many as there were more of, in all of them together, after each of these.
 * `attempts`: in their order, any way; `now`: before the next one.
 */
export function repeatsIn(attempts: readonly Attempt[], now: Counts): number {
  let repeats = 0
  for (const [index, { counts, part }] of attempts.entries()) {
    const next = index + 1 < attempts.length ? attempts[index + 1]!.counts : now
    const more = part !== null ? -(part.leftOut ?? 0) - (part.again ?? 0) : counts && next ? sum(next) - sum(counts) : 0
    // messages that were lost meanwhile, as with a queue that vanished, make up for none that come twice later
    repeats = Math.max(0, repeats + more)
  }
  return repeats
}

function sum({ ready, held, beside = 0 }: Counts): number {
  return ready + held + beside
}

/**
 * What an attempt that was cut off put aside, as the next one found it. Not after an earlier one was cut off as well: a
 * broker that was out of disk or memory then takes that one's messages only when it is over, so that they are found
 * among this one's.
 */
function leftBy({ aside, back }: Pick<Account, 'aside' | 'back'>, index: number): number {
  if (aside.slice(0, index).some(({ part }) => part === null)) return 0
  const [own, next] = [aside[index]?.counts, (aside[index + 1] ?? back[0])?.counts]
  return own && next ? Math.max(0, next.held - own.held) : 0
}

function countIn(contents: Contents, attempt: string): number {
  return own(contents, attempt)?.count ?? 0
}
