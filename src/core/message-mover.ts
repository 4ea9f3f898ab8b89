/**
 * Moves the messages of one queue aside into a holding queue, and back into a queue, without losing one: each is
 * acknowledged only after the broker has confirmed its copy. Both may be killed at any instant and called again; what
 * was under way then may be there twice. Methods throw `AdminError`: UNREACHABLE, TIMED_OUT, FORBIDDEN, UNAVAILABLE
 * (low on disk or memory), REFUSED (the queue is not there, others read it, the broker does not take a message),
 * INTERRUPTED.
 */
export interface MessageMover {
  /** for people: host:port and virtual host, without credentials */
  readonly target: string
  /**
   * everything in `from` into the durable classic queue `to`, each in an envelope; `to` is declared where it is not
   * there
   */
  aside(move: Move): Promise<Moved>
  /** everything in the holding queue `from`, unwrapped, into `to`, which has to be there */
  back(move: Move): Promise<Moved>
}

export interface Move {
  from: string
  to: string
  /** of `aside`: what the envelopes that it makes are known by, 16 hexadecimal digits; made up where absent */
  attempt?: string
  /**
   * of `back`: whether there may be a user_id of another user, so that it is to be tried whether the broker takes one;
   * absent: yes
   */
  othersIds?: boolean
  /**
   * of `back`: for a queue that is bounded, what came into it or into the holding queue twice, since a move was cut off
   */
  repeats?: Repeats | undefined
  /**
   * of `back`: by attempt, the place of the last message of it that has come and is safe. A broker whose process was
   * killed delivers again what was acknowledged last: it is acknowledged once more, and left out
   */
  came?: Readonly<Record<string, number>>
  /**
   * of `back`: for a queue that refuses what is beyond its bound, and may have held more, as it does once readers give
   * messages back
   */
  fits?: Fits | undefined
  /**
   * of `aside`: another consumer of ours that keeps the queue from vanishing with its last one, and holds its first
   * message. Ours takes its place; `release` returns once what it held is back in its place, and where the move ends
   * early, `keepAgain` is called before ours goes, so that the rest stays
   */
  kept?: { release: () => Promise<void>; keepAgain: () => Promise<void> }
  /** told after each batch: how many messages this call has moved */
  onProgress?: (so: { moved: number }) => void
  /** when it aborts, what is under way is finished, nothing further is begun, and INTERRUPTED is thrown */
  signal?: AbortSignal | undefined
  /** for tests of kills: the names are `moverFailpoints` */
  failpoint?: ((name: MoverFailpoint) => Promise<void>) | undefined
}

/** How much a queue takes before it refuses more; null: that does not bound it. */
export interface Fits {
  messages: number | null
  /** of bodies */
  bytes: number | null
  /** a move was cut off */
  isCut: boolean
}

/** Messages that are left out on the way back. */
export interface Repeats {
  /** as many as there are more of than went aside */
  most: number
  /** an earlier way back was cut off: the last of them may be in the queue already */
  isCut: boolean
}

/**
 * What was moved, by the attempt that put it aside; '' where an envelope of the former version does not tell. Every
 * message that went into an envelope or came out of one is in it, a repeat that was left out too.
 */
export type Contents = Readonly<Record<string, { count: number; last: number; digest: string }>>

/** How many messages that is, of all attempts together. */
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
  /** so many were left out, since they were there already */
  leftOut: number
  /** so many were delivered once more and left out as `came` says; they are in no other count but `moved` */
  again: number
  /**
   * of these, at most so many are there twice, since an earlier move was cut off between confirmation and
   * acknowledgement
   */
  perhapsTwice: number
  /**
   * of these, so many with the user_id of another user than the connection's: `back` leaves it out where the broker
   * does not take it from us, and those are counted alone
   */
  othersIds: number
}

/**
 * opened: both queues are there, and nothing is read yet; published: not yet confirmed; confirmed: not yet
 * acknowledged; acked; emptied: all is done
 */
export const moverFailpoints = ['opened', 'published', 'confirmed', 'acked', 'emptied'] as const
export type MoverFailpoint = (typeof moverFailpoints)[number]
