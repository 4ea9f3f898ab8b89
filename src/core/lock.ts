/** Who holds a lock, as far as can be told. */
export interface Holder {
  /** user@host */
  who: string | null
  since: Date | null
  /** the command */
  what: string | null
}

/** Who is to hold a lock, as others are told. */
export interface LockOwner {
  /** user@host */
  who: string
  /** the command */
  what: string
  /** is told what taking it waits for, and which lock could not be had */
  tell?: (message: string) => void
  /**
   * what is worked on are queues of the broker and their messages: no step of it is done without a lock that others
   * see, once the broker is in reach
   */
  isOnQueues?: boolean
}

/** One of the locks that keep a second operator out (DESIGN.md 6.7). */
export interface RepairLock {
  /** for people: what it lies on */
  readonly where: string
  /** why it is lost, if it is: "RabbitMQ was restarted"; absent: not known */
  readonly lostBy?: string
  /** null: it is ours now; else whose it is. Throws AdminError where it cannot be taken at all */
  take(): Promise<Holder | null>
  /** whether it still is ours; asked before each step */
  isHeld(): Promise<boolean>
  release(): Promise<void>
}
