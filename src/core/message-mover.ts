/**
 * Moves the messages of one queue aside into a holding queue, and back into a queue, without losing one. Acknowledges
 * each only after the broker has confirmed its copy. Both methods may be killed at any instant and called again;
 * messages then under way may be there twice. They throw `AdminError`: UNREACHABLE, TIMED_OUT, FORBIDDEN, UNAVAILABLE
 * (low on disk or memory), REFUSED (the queue is missing, others read it, the broker rejects a message), INTERRUPTED.
 */
export interface MessageMover {
  /** For people: host:port and virtual host, without credentials */
  readonly target: string
  /**
   * Moves everything in `from` into the durable classic queue `to`, each message in an envelope; declares `to` if it is
   * missing
   */
  aside(move: Move): Promise<Moved>
  /** Moves everything in the holding queue `from`, unwrapped, into `to`, which must exist */
  back(move: Move): Promise<Moved>
}

export interface Move {
  from: string
  to: string
  /** For `aside`: identifies the envelopes that it makes, 16 hexadecimal digits; generated if absent */
  attempt?: string
  /**
   * For `back`: false if no message has another user's user_id, so that it need not try whether the broker accepts one;
   * absent: true
   */
  othersIds?: boolean
  /** For `back` into a bounded queue: what an interrupted move put into it or into the holding queue twice */
  repeats?: Repeats | undefined
  /**
   * For `back`: by attempt, the place of its last message that has come and is safe. A broker whose process was killed
   * redelivers what was acknowledged last: that is acknowledged once more, and left out
   */
  came?: Readonly<Record<string, number>>
  /**
   * For `back` into a queue that refuses what exceeds its bound. It may have held more, as when readers return messages
   */
  fits?: Fits | undefined
  /**
   * For `aside`: another consumer of ours that keeps the queue from vanishing, and holds its first message. The move's
   * consumer replaces it; `release` returns once that message is back in its place. If the move ends early, `keepAgain`
   * is called before the move's consumer goes, so that the rest stays
   */
  kept?: { release: () => Promise<void>; keepAgain: () => Promise<void> }
  /** Receives, after each batch, how many messages this call has moved */
  onProgress?: (so: { moved: number }) => void
  /** If it aborts, the mover finishes what is under way, begins nothing further, and throws INTERRUPTED */
  signal?: AbortSignal | undefined
  /** For tests of kills: the names are `moverFailpoints` */
  failpoint?: ((name: MoverFailpoint) => Promise<void>) | undefined
}

/** How much a queue takes before it refuses more; null: no such bound. */
export interface Fits {
  messages: number | null
  /** Total size of the bodies */
  bytes: number | null
  /** True if a move was interrupted */
  isCut: boolean
}

/** Repeated messages that are left out on the way back. */
export interface Repeats {
  /** Maximum number to leave out: how many more there are than went aside */
  most: number
  /** True if an earlier way back was interrupted: its last messages may be in the queue already */
  isCut: boolean
}

/**
 * What was moved, by the attempt that moved it aside; '' if an envelope of an older version does not name it. Counts
 * every message that went into an envelope or came out of one, also a repeat that was left out.
 */
export type Contents = Readonly<Record<string, { count: number; last: number; digest: string }>>

/** Returns the number of messages of all attempts together. */
export function totalOf(contents: Contents): number {
  return Object.values(contents).reduce((sum, { count }) => sum + count, 0)
}

export interface Moved {
  moved: number
  /**
   * `last`: the place within its attempt of the last message, from 1; `digest`: of routing keys, properties and bodies
   * in their order
   */
  contents: Contents
  /** Number of messages left out because they were there already */
  leftOut: number
  /** Number of messages redelivered and left out as `came` says; no other count but `moved` includes them */
  again: number
  /**
   * Maximum number of these that are there twice, because an earlier move was interrupted between confirmation and
   * acknowledgement
   */
  perhapsTwice: number
  /**
   * Number of these with the user_id of a user other than the connection's. `back` removes it if the broker does not
   * accept it, and counts only those
   */
  othersIds: number
}

/**
 * opened: both queues exist, and nothing is read yet; published: not yet confirmed; confirmed: not yet acknowledged;
 * acked; emptied: all is done
 */
export const moverFailpoints = ['opened', 'published', 'confirmed', 'acked', 'emptied'] as const
export type MoverFailpoint = (typeof moverFailpoints)[number]
