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
  /** is told what taking it waits for */
  tell?: (message: string) => void
}

/** One of the locks that keep a second operator out (DESIGN.md 6.7). */
export interface RepairLock {
  /** for people: what it lies on */
  readonly where: string
  /** null: it is ours now; else whose it is. Throws AdminError where it cannot be taken at all */
  take(): Promise<Holder | null>
  /** whether it still is ours; asked before each step */
  isHeld(): Promise<boolean>
  release(): Promise<void>
}
