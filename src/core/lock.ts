/** The holder of a lock, as far as is known. */
export interface Holder {
  /** user@host */
  who: string | null
  since: Date | null
  /** The command */
  what: string | null
}

/** The next holder of a lock, as others see it. */
export interface LockOwner {
  /** user@host */
  who: string
  /** The command */
  what: string
  /** Receives what taking the lock waits for, and which lock could not be taken */
  tell?: (message: string) => void
  /**
   * True if the run works on the broker's queues and their messages. Once the broker is reachable, no step runs without
   * a lock that others see
   */
  isOnQueues?: boolean
}

/** One of the locks that keep a second operator out (DESIGN.md 6.7). */
export interface RepairLock {
  /** Where the lock is kept, for people */
  readonly where: string
  /** Why it is lost, if it is: "RabbitMQ was restarted"; absent: not known */
  readonly lostBy?: string
  /** Takes the lock; null: it is ours now; else its holder. Throws AdminError if it cannot be taken at all */
  take(): Promise<Holder | null>
  /** Returns whether it still is ours; called before each step */
  isHeld(): Promise<boolean>
  release(): Promise<void>
}
