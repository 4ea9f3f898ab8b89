/**
 * Moves the messages of one queue aside into a holding queue, and back into a queue, without losing one: each is acknowledged
 * only after the broker has confirmed its copy. Both may be killed at any instant and called again; what was under way then may
 * be there twice. Methods throw `AdminError`: UNREACHABLE, TIMED_OUT, FORBIDDEN, UNAVAILABLE (low on disk or memory), REFUSED
 * (the queue is not there, others read it, the broker does not take a message), INTERRUPTED.
 */
export interface MessageMover {
  /** for people: host:port and virtual host, without credentials */
  readonly target: string
  /** everything in `from` into the durable classic queue `to`, each in an envelope; `to` is declared where it is not there */
  aside(move: Move): Promise<Moved>
  /** everything in the holding queue `from`, unwrapped, into `to`, which has to be there */
  back(move: Move): Promise<Moved>
}

export interface Move {
  from: string
  to: string
  /**
   * of `aside`: another consumer of ours that keeps the queue from vanishing with its last one, and holds its first message. Ours
   * takes its place; `release` returns once what it held is back in its place
   */
  kept?: { release: () => Promise<void> }
  /** told after each batch: how many messages this call has moved */
  onProgress?: (so: { moved: number }) => void
  /** when it aborts, what is under way is finished, nothing further is begun, and INTERRUPTED is thrown */
  signal?: AbortSignal | undefined
  /** for tests of kills: the names are `moverFailpoints` */
  failpoint?: ((name: MoverFailpoint) => Promise<void>) | undefined
}

export interface Moved {
  moved: number
  /** of these, at most so many are there twice, since an earlier move was cut off between confirmation and acknowledgement */
  perhapsTwice: number
  /**
   * of these, so many whose user_id is of another user than the connection's, which the broker refuses to take from us: they
   * go back (`back`) or would go back (`aside`) without one
   */
  withoutUserId: number
}

/** opened: both queues are there, and nothing is read yet; published: not yet confirmed; confirmed: not yet acknowledged; acked; emptied: all is done */
export const moverFailpoints = ['opened', 'published', 'confirmed', 'acked', 'emptied'] as const
export type MoverFailpoint = (typeof moverFailpoints)[number]
