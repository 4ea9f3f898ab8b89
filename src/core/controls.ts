import type { ActionOf } from './action.ts'
import type { ApiControl } from './api-control.ts'
import type { BrokerControl } from './broker-control.ts'
import type { Moving } from './moving.ts'
import type { SessionsControl } from './sessions-control.ts'
import type {
  ChangelogLockRow,
  LockTableName,
  ReleaseUpgrade,
  ServiceStatus,
  ValueEdit,
  WantedImage,
} from './sources.ts'

/** What a deployment is changed through: the counterpart of `Sources`. Methods throw `AdminError`. */
export interface Controls {
  /** the same databases as `Sources['database']`, in their order */
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

/** `changed`: the row is not as it was seen, and was left alone. */
export type Compared = 'set' | 'changed'

/**
 * Is told by what the transaction that is about to change something is known later (`hasCommitted`), before it does.
 */
type Beforehand = (mark: string) => Promise<void>

/**
 * Each method compares before it sets, in one transaction. `by`: only what was set last by one of these transactions.
 */
export interface DatabaseControl {
  /** host:port/database, without credentials */
  readonly target: string
  /** the same database by the other hosts of its address */
  readonly alsoAt: readonly string[]
  /** sets all three columns of row 1 free where they are as in `row` */
  releaseLock(table: LockTableName, row: LockRow, beforehand?: Beforehand): Promise<Compared>
  /** whether one of these transactions came to its end; false too where that was too long ago to be known */
  hasCommitted(marks: readonly string[]): Promise<boolean>
  /** the reverse of `releaseLock`, where the row is free */
  restoreLock(table: LockTableName, row: LockRow, by?: readonly string[]): Promise<Compared>
  /** a free row 1, where there is none */
  insertLockRow(table: LockTableName, beforehand?: Beforehand): Promise<Compared>
  /** takes it away again, where it is free */
  deleteLockRow(table: LockTableName, by?: readonly string[]): Promise<Compared>
  /** takes away those of `rows`, with other ids than 1, that are as they were seen; `changed`: none is */
  removeOtherRows(table: LockTableName, rows: readonly ChangelogLockRow[], beforehand?: Beforehand): Promise<Compared>
  /** the reverse, of those whose ids are not in use again; `changed`: all are */
  restoreOtherRows(table: LockTableName, rows: readonly ChangelogLockRow[]): Promise<Compared>
}

export interface ServiceControl {
  /**
   * returns once it and its processes are gone; harmless where it does not run. Throws TIMED_OUT, FAILED, INTERRUPTED
   */
  stop(options: WaitOptions): Promise<ServiceStatus>
  /**
   * throws what stopping and starting it would, as far as that shows without changing anything; absent where nothing
   * does
   */
  tryStop?: () => Promise<void>
  /** returns once the platform says that it runs; harmless where it does. Throws TIMED_OUT, FAILED, INTERRUPTED */
  start(options: WaitOptions): Promise<ServiceStatus>
  /**
   * Sets one of the service's settings where it is `from` now, null: absent; harmless where it is `to` already. It
   * takes effect when the service is started. Throws REFUSED where it is set in more places than one can be sure of;
   * FORBIDDEN, UNAVAILABLE, NOT_CONFIGURED where it cannot be written
   */
  writeSetting(change: SettingChange, traces?: Traces): Promise<Compared>
  /** what `writeSetting` would answer, or throw, as far as that shows without writing */
  trySetting(change: SettingChange): Promise<Compared>
  /**
   * has the engine fetch an image, and returns once it lies ready. Throws REFUSED where its registry has none of that
   * name, or none that runs there; UNAUTHENTICATED, EXHAUSTED, UNREACHABLE, TIMED_OUT, FAILED where the disk is full,
   * INTERRUPTED, and as the source. Absent as `hasImage` is
   */
  fetchImage?: (wanted: WantedImage, options: FetchOptions) => Promise<void>
  /**
   * whether the platform counts this program as the owner of fields that it wrote, which others keep; absent where no
   * platform counts that
   */
  ownsFields?: () => Promise<boolean>
  /** gives them up, and leaves their values; each of the methods above does so itself. Harmless where there are none */
  giveUpFields?: () => Promise<void>
}

/** By which a change is taken back to the byte, where the platform writes it into a file. */
export interface Traces {
  /** told what the file held there, before it is written; returns once that is on record */
  note?: ((text: string) => Promise<void>) | undefined
  /** what was noted, oldest first, among other notes */
  notes?: readonly string[]
}

/** null: absent */
export interface SettingChange {
  name: string
  from: string | null
  to: string | null
}

export interface FetchOptions extends Pick<WaitOptions, 'timeoutMs' | 'signal'> {
  /** told how far it is */
  moving: (amount: Moving) => void
}

export interface WaitOptions {
  timeoutMs: number
  signal?: AbortSignal | undefined
  /** of stopping: told what starting it has to know, before it is stopped; returns once that is on record */
  note?: (text: string) => Promise<void>
  /** of starting: what was noted, oldest first, among other notes */
  notes?: readonly string[]
  /** told how it stands whenever that changes, in the platform's words */
  tell?: (state: string) => void
}

/** How such a file is changed: replaced in one step, under its mode and owner. Throws as `FilesSource`. */
export interface FilesControl {
  /** `changed`: one of the values is neither `from` nor `to` */
  apply(file: string, edits: readonly ValueEdit[]): Promise<Compared>
  /** the reverse; byte for byte where the file was not changed meanwhile */
  takeBack(file: string, edits: readonly ValueEdit[]): Promise<Compared>
  /** what `apply` would answer, or throw, as far as that shows without writing */
  try(file: string, edits: readonly ValueEdit[]): Promise<Compared>
  /** the same of `takeBack` */
  tryBack(file: string, edits: readonly ValueEdit[]): Promise<Compared>
}

/**
 * How Helm changes its release, without waiting for the pods. Throws as `ReleaseSource`; BUSY where another operation
 * is under way; FAILED with what Helm says, of which it keeps a revision `failed`.
 */
export interface ReleaseControl {
  upgrade(upgrade: ReleaseUpgrade, options: HelmRun): Promise<void>
  /** to what that revision put there, values and chart included */
  rollback(revision: number, options: HelmRun): Promise<void>
  /** whether the helm of that mark still runs; null: it ran on another machine */
  isRunning(mark: string): Promise<boolean | null>
}

export interface HelmRun {
  /** for each hook of the chart, and for helm as a whole */
  timeoutMs: number
  signal?: AbortSignal | undefined
  /** is told by what this helm is known later, as soon as it runs */
  started: (mark: string) => Promise<void>
}
