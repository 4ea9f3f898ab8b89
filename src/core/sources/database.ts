import type { Holder } from '../lock.ts'
import type { ClockReading } from '../local-time.ts'

export interface DatabaseSource {
  /** host:port/database, without credentials */
  readonly target: string
  /** The same database at the other hosts of its address: which of them is the primary may change */
  readonly alsoAt: readonly string[]
  identity(): Promise<DatabaseIdentity>
  clock(): Promise<ClockReading>
  /**
   * Returns every lock table of Liquibase's that this user can see, in any schema: of the usual name, and of the
   * requested one
   */
  changelogLocks(asked?: LockTablesAsked): Promise<readonly ChangelogLockTable[]>
  /**
   * Returns the client backends of this database without our own; if the user may not see one, all but its name is null
   */
  backends(): Promise<readonly DatabaseBackend[]>
  /** Returns who holds the lock that keeps out a second operator of this program; null: nobody */
  operator(): Promise<Holder | null>
  connections(): Promise<DatabaseConnections>
  /** Tests whether PostgreSQL can still write a temporary file of about a megabyte, which it removes itself */
  temporarySpace(): Promise<{ writable: true } | { writable: false; message: string }>
  /** Returns sizes in bytes; free space is null if the data directory is not on this machine */
  storage(): Promise<{
    databaseBytes: number
    dataDirectory: string | null
    freeBytes: number | null
    totalBytes: number | null
  }>
  /**
   * Returns the first rows of a SELECT of the operator's own, read on a connection of its own in a transaction that
   * cannot write. Throws UNEXPECTED_ANSWER for a statement that PostgreSQL does not accept, and for a row of more than
   * `selectedRowBytes`
   */
  select(statement: string, values?: readonly SelectValue[]): Promise<SelectedRows>
}

/** Rows of a SELECT that are returned, at most. */
export const selectedRows = 1000

/** Bytes of one row as JSON, at most. */
export const selectedRowBytes = 10_000

/** A value in the place of `$1`, `$2` and so on. */
type SelectValue = string | number | boolean | null

/** Rows by the names of their columns, as `row_to_json` writes them. */
interface SelectedRows {
  rows: readonly Readonly<Record<string, unknown>>[]
  /** False if there are more rows */
  complete: boolean
}

export interface DatabaseIdentity {
  version: string
  user: string
  database: string
  startedAt: Date
  inRecovery: boolean
  /** Port at which the server itself listens, whatever leads to it; null: a socket of its machine */
  port: number | null
  /** Set if transactions of this user only read unless they say otherwise (default_transaction_read_only) */
  readOnly?: true
  /** True if a pooler (PgBouncer) between us and the server hides its clients */
  pooled: boolean
}

/** What is known of where the service's Liquibase may look. */
export interface LockTablesAsked {
  /** The service's own name for the table; null: the usual one */
  table: string | null
  /** The user that the service signs in as, if not this one: PostgreSQL may set another search path for it */
  user: string | null
}

/** A lock table by its place in the database. */
export interface LockTableName {
  schema: string
  /** Absent: the usual name, databasechangeloglock */
  table?: string
}

export interface ChangelogLockTable extends LockTableName {
  /** True if the service's own search path finds this table first */
  inSearchPath: boolean
  /** Null: this user may not read the table */
  rows: readonly ChangelogLockRow[] | null
  /** True if this user may change and add rows */
  writable: boolean
  /** True if this user may delete rows, and add them again */
  removable: boolean
}

export interface ChangelogLockRow {
  id: number
  locked: boolean
  /** As written: local time of the service's JVM, without a zone (FIELD-NOTES.md 2), `YYYY-MM-DD HH:MM:SS.ffffff` */
  lockGranted: string | null
  lockedBy: string | null
}

export interface DatabaseBackend {
  pid: number
  user: string | null
  application: string
  clientAddress: string | null
  /** Null if it came by a socket of the machine itself, or if this user may not see it */
  clientPort: number | null
  state: string | null
  /** Set if its user may change no lock table of Liquibase's here, whatever the table's name */
  mayLock?: false
  /** Null if this user may not see it */
  startedAt: Date | null
  transactionStartedAt: Date | null
  queryStartedAt: Date | null
  /** First 200 characters; null if this user may not see it */
  query: string | null
}

export interface DatabaseConnections {
  used: number
  max: number
  /** Slots that only privileged roles may take */
  reserved: number
  byUser: readonly { user: string; application: string; count: number; idle: number }[]
}
