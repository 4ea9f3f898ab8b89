import type { ActionOf } from './action.ts'
import type { ServiceStatus } from './sources.ts'

/** What a deployment is changed through: the counterpart of `Sources`. Methods throw `AdminError`. */
export interface Controls {
  /** the same databases as `Sources['database']`, in their order */
  database: readonly DatabaseControl[]
  service: ServiceControl
}

export type ControlName = keyof Controls

type LockRow = ActionOf<'release-lock'>['row']

/** `changed`: the row is not as it was seen, and was left alone. */
export type Compared = 'set' | 'changed'

export interface DatabaseControl {
  /** host:port/database, without credentials */
  readonly target: string
  /** sets all three columns of row 1 free where they are as in `row`, in one transaction */
  releaseLock(schema: string, row: LockRow): Promise<Compared>
  /** the reverse, where the row is free */
  restoreLock(schema: string, row: LockRow): Promise<Compared>
  /** a free row 1, where there is none */
  insertLockRow(schema: string): Promise<Compared>
  /** takes it away again, where it is free and other rows are there */
  deleteLockRow(schema: string): Promise<Compared>
}

export interface ServiceControl {
  /** returns once it and its processes are gone; harmless where it does not run. Throws TIMED_OUT, FAILED, INTERRUPTED */
  stop(options: WaitOptions): Promise<ServiceStatus>
  /** returns once the platform says that it runs; harmless where it does. Throws TIMED_OUT, FAILED, INTERRUPTED */
  start(options: WaitOptions): Promise<ServiceStatus>
}

interface WaitOptions {
  timeoutMs: number
  signal?: AbortSignal | undefined
}
