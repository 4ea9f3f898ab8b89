import type { Holder } from '../lock.ts'
import type { ClockReading } from './clock.ts'

export interface DatabaseSource {
  /** host:port/database, without credentials */
  readonly target: string
  /** the same database by the other hosts of its address: which of them is the primary may change */
  readonly alsoAt: readonly string[]
  identity(): Promise<DatabaseIdentity>
  clock(): Promise<ClockReading>
  /**
   * every lock table of Liquibase's that this user can see, in whatever schema: of its usual name, and of the one that
   * is asked for
   */
  changelogLocks(asked?: LockTablesAsked): Promise<readonly ChangelogLockTable[]>
  /**
   * client backends of this database without our own; of one that the user may not look into, all is null but its name
   */
  backends(): Promise<readonly DatabaseBackend[]>
  /** who holds the lock that keeps a second operator of this program out; null: nobody */
  operator(): Promise<Holder | null>
  connections(): Promise<DatabaseConnections>
  /** whether PostgreSQL can still write a temporary file of about a megabyte, which it removes by itself */
  temporarySpace(): Promise<{ writable: true } | { writable: false; message: string }>
  /** sizes in bytes; free space is null where the data directory is not on this machine */
  storage(): Promise<{
    databaseBytes: number
    dataDirectory: string | null
    freeBytes: number | null
    totalBytes: number | null
  }>
}

export interface DatabaseIdentity {
  version: string
  user: string
  database: string
  startedAt: Date
  inRecovery: boolean
  /** at which the server itself listens, whatever leads to it; null: a socket of its machine */
  port: number | null
  /** transactions of this user only read unless they say otherwise (default_transaction_read_only) */
  readOnly?: true
  /** a pooler (PgBouncer) stands between us and the server, so that clients are hidden behind it */
  pooled: boolean
}

/** Where the service's Liquibase may look, as far as it is known. */
export interface LockTablesAsked {
  /** a name of the service's own; null: the usual one */
  table: string | null
  /** as whom the service signs in, where that is not this user: PostgreSQL may set another search path for it */
  user: string | null
}

/** A lock table by its place in the database. */
export interface LockTableName {
  schema: string
  /** absent: the usual name, databasechangeloglock */
  table?: string
}

export interface ChangelogLockTable extends LockTableName {
  /** true where the service's own search path finds this table first */
  inSearchPath: boolean
  /** null: this user may not read the table */
  rows: readonly ChangelogLockRow[] | null
  /** whether this user may change and add rows */
  writable: boolean
  /** whether this user may delete rows, and add them again */
  removable: boolean
}

export interface ChangelogLockRow {
  id: number
  locked: boolean
  /** as written: local time of the service's JVM, without a zone (FIELD-NOTES.md 2), `YYYY-MM-DD HH:MM:SS.ffffff` */
  lockGranted: string | null
  lockedBy: string | null
}

export interface DatabaseBackend {
  pid: number
  user: string | null
  application: string
  clientAddress: string | null
  /** null where it came by a socket of the machine itself, or where this user may not see it */
  clientPort: number | null
  state: string | null
  /** its user may change no lock table of Liquibase's here, whatever the table is called */
  mayLock?: false
  /** null where this user may not see it */
  startedAt: Date | null
  transactionStartedAt: Date | null
  queryStartedAt: Date | null
  /** first 200 characters; null where this user may not see it */
  query: string | null
}

export interface DatabaseConnections {
  used: number
  max: number
  /** slots that only privileged roles may take */
  reserved: number
  byUser: readonly { user: string; application: string; count: number; idle: number }[]
}
