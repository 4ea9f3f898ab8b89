import type { ActionOf } from './action.ts'
import type { ApiControl } from './api-control.ts'
import type { BrokerControl } from './broker-control.ts'
import type {
  ChangelogLockRow,
  LockTableName,
  ReleaseUpgrade,
  ServiceStatus,
  SessionSelection,
  ValueEdit,
  WantedImage,
} from './sources.ts'

/** Everything that changes a deployment: the counterpart of `Sources`. Methods throw `AdminError`. */
export interface Controls {
  /** The same databases as `Sources['database']`, in their order */
  database: readonly DatabaseControl[]
  broker: BrokerControl
  service: ServiceControl
  sessions: SessionsControl
  api: ApiControl
  files: FilesControl
  release: ReleaseControl
}

export type ControlName = keyof Controls

type LockRow = ActionOf<'release-lock'>['row']

/** `changed`: the row differs from what was seen, and was left alone. */
export type Compared = 'set' | 'changed'

/** Receives, before a transaction changes anything, the mark that later identifies it (`hasCommitted`). */
type Beforehand = (mark: string) => Promise<void>

/**
 * Changes Liquibase's lock tables. Each method compares before it sets, in one transaction. `by`: changes only what one
 * of these transactions set last.
 */
export interface DatabaseControl {
  /** host:port/database, without credentials */
  readonly target: string
  /** The same database at the other hosts of its address */
  readonly alsoAt: readonly string[]
  /** Frees row 1 by setting all three columns, if they are as in `row` */
  releaseLock(table: LockTableName, row: LockRow, beforehand?: Beforehand): Promise<Compared>
  /** Returns true if one of these transactions committed; false also if that was too long ago to be known */
  hasCommitted(marks: readonly string[]): Promise<boolean>
  /** Reverses `releaseLock`, if the row is free */
  restoreLock(table: LockTableName, row: LockRow, by?: readonly string[]): Promise<Compared>
  /** Inserts a free row 1, if there is none */
  insertLockRow(table: LockTableName, beforehand?: Beforehand): Promise<Compared>
  /** Deletes row 1 again, if it is free */
  deleteLockRow(table: LockTableName, by?: readonly string[]): Promise<Compared>
  /** Removes those of `rows`, with ids other than 1, that are as they were seen; `changed`: none is */
  removeOtherRows(table: LockTableName, rows: readonly ChangelogLockRow[], beforehand?: Beforehand): Promise<Compared>
  /** Restores those rows whose ids are not in use again; `changed`: all are */
  restoreOtherRows(table: LockTableName, rows: readonly ChangelogLockRow[]): Promise<Compared>
}

export interface ServiceControl {
  /**
   * Stops the service; returns once it and its processes are gone. Harmless if it does not run. Throws TIMED_OUT,
   * FAILED, INTERRUPTED
   */
  stop(options: WaitOptions): Promise<ServiceStatus>
  /** Throws what stopping and starting it would, as far as that shows without a change; absent if nothing shows it */
  tryStop?: () => Promise<void>
  /**
   * Throws FORBIDDEN for the first right that is missing to stop and start it, or to make a change, as far as that can
   * be asked without trying it; absent if nothing can be asked
   */
  askRights?: (change: SettingChange | null) => Promise<void>
  /** Starts it; returns once the platform says it runs. Harmless if it does. Throws TIMED_OUT, FAILED, INTERRUPTED */
  start(options: WaitOptions): Promise<ServiceStatus>
  /**
   * Sets one of the service's settings if it is `from` now, null: absent; harmless if it is `to` already. It takes
   * effect when the service starts. Throws REFUSED if it is set in several places; FORBIDDEN, UNAVAILABLE,
   * NOT_CONFIGURED if it cannot be written
   */
  writeSetting(change: SettingChange, traces?: Traces): Promise<Compared>
  /** Returns or throws what `writeSetting` would, as far as that shows without writing */
  trySetting(change: SettingChange): Promise<Compared>
  /**
   * Makes the engine fetch an image; returns once it is ready. Throws REFUSED if its registry has none of that name, or
   * none that runs there; FAILED if the disk is full; UNAUTHENTICATED, EXHAUSTED, UNREACHABLE, TIMED_OUT, INTERRUPTED,
   * and as the source does. Absent as `hasImage` is
   */
  fetchImage?: (wanted: WantedImage, options: FetchOptions) => Promise<void>
  /**
   * Returns true if the platform counts this program as the owner of fields it wrote on a workload that others manage.
   * Absent if the platform counts no owners
   */
  ownsFields?: () => Promise<boolean>
  /** Gives up those fields and leaves their values; each method above does so itself. Harmless if there are none */
  giveUpFields?: () => Promise<void>
}

/** Notes for undoing a change to the byte, if the platform writes it into a file. */
export interface Traces {
  /** Receives what the file held there, before it is written; returns once that is recorded */
  note?: ((text: string) => Promise<void>) | undefined
  /** Recorded notes, oldest first, among other notes */
  notes?: readonly string[]
}

/** A change of one setting. null: absent */
export interface SettingChange {
  name: string
  from: string | null
  to: string | null
}

export interface FetchOptions extends Pick<WaitOptions, 'timeoutMs' | 'signal'> {
  /** Receives the progress */
  moving: (amount: Moving) => void
}

export interface WaitOptions {
  timeoutMs: number
  signal?: AbortSignal | undefined
  /** For stopping: receives, before the stop, what starting needs to know; returns once that is recorded */
  note?: (text: string) => Promise<void>
  /** For starting: recorded notes, oldest first, among other notes */
  notes?: readonly string[]
  /** Receives the state whenever it changes, in the platform's words */
  tell?: (state: string) => void
}

/** Changes settings files: replaces a file in one step, and keeps its mode and owner. Throws as `FilesSource`. */
export interface FilesControl {
  /** Makes the edits; `changed`: one of the values is neither `from` nor `to` */
  apply(file: string, edits: readonly ValueEdit[]): Promise<Compared>
  /** Undoes the edits; byte for byte if the file was not changed meanwhile */
  takeBack(file: string, edits: readonly ValueEdit[]): Promise<Compared>
  /** Returns or throws what `apply` would, as far as that shows without writing */
  try(file: string, edits: readonly ValueEdit[]): Promise<Compared>
  /** Returns or throws what `takeBack` would, as far as that shows without writing */
  tryBack(file: string, edits: readonly ValueEdit[]): Promise<Compared>
}

/**
 * Changes a Helm release, without waiting for the pods. Throws as `ReleaseSource`; BUSY if another operation is under
 * way; FAILED with what Helm says, and Helm then keeps a revision `failed`.
 */
export interface ReleaseControl {
  upgrade(upgrade: ReleaseUpgrade, options: HelmRun): Promise<void>
  /** Restores what that revision put there, values and chart included */
  rollback(revision: number, options: HelmRun): Promise<void>
  /** Returns whether the helm process of that mark still runs; null: it ran on another machine */
  isRunning(mark: string): Promise<boolean | null>
}

export interface HelmRun {
  /** Timeout in milliseconds, for each hook of the chart and for helm as a whole */
  timeoutMs: number
  signal?: AbortSignal | undefined
  /** Receives the mark that later identifies this helm process, as soon as it runs */
  started: (mark: string) => Promise<void>
}

/**
 * Removes sessions. Harmless if they are gone; never touches a session that is not selected, or a key that is no
 * session's.
 */
export interface SessionsControl {
  /** host:port/database, without credentials */
  readonly target: string
  /**
   * Returns if keys of that key space may be removed, without removing one. `onlyAsks`: not even by a command that
   * finds nothing, so a right may stay unknown. Throws FORBIDDEN with the missing right, REFUSED on a replica,
   * UNAVAILABLE if the store accepts no writes at present.
   */
  assertRemovable(of: { namespace: string; indexed: boolean; onlyAsks?: boolean }): Promise<void>
  /**
   * Removes the sessions that the last census of the same selection counted, or counts them itself; then verifies that
   * they are gone. Throws as `assertRemovable`, UNREACHABLE, TIMED_OUT, INTERRUPTED; FAILED if some come back again and
   * again.
   */
  remove(selection: SessionSelection, options: RemovalOptions): Promise<Removal>
}

export interface RemovalOptions {
  /** True to empty the whole database at once, if it holds nothing but the selected sessions and the store allows it */
  flush: boolean
  /** Awaited between batches; `done` of `total` keys */
  onBatch: (done: number, total: number) => Promise<void>
  /** Awaited once all are removed, before verifying that they are gone */
  onRemoved: () => Promise<void>
  signal: AbortSignal
}

export interface Removal {
  /** Number of sessions that were counted */
  counted: number
  /** Number of these removed by this program; the others had ended before. Null: the database was emptied at once */
  removed: number | null
  /** Why the database was not emptied at once, if that was requested */
  notFlushed: string | null
}

/** The progress of long work. */
export interface Moving {
  done: number
  total: number
  /** The plural: 'sessions' */
  unit: string
}
