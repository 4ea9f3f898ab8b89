import type { ChangelogLockRow, ChangelogLockTable, DatabaseBackend, DatabaseSource } from '../../src/core/sources.ts'
import { ago, clockAhead, fake } from './fake.ts'
import type { Answers } from './fake.ts'

/** A healthy database with a free change-log lock in `public`, unless told otherwise. */
export function fakeDatabase(answers: Answers<DatabaseSource> = {}): DatabaseSource {
  return fake<DatabaseSource>(
    {
      target: 'db.example.org:5432/testops',
      alsoAt: [],
      identity: {
        version: '15.8',
        user: 'testops',
        database: 'testops',
        startedAt: ago(86_400_000),
        inRecovery: false,
        port: 5432,
        pooled: false,
      },
      clock: clockAhead(0),
      changelogLocks: [lockTable([lockRow()])],
      backends: [backend()],
      operator: null,
      connections: {
        used: 11,
        max: 100,
        reserved: 3,
        byUser: [{ user: 'testops', application: 'PostgreSQL JDBC Driver', count: 10, idle: 9 }],
      },
      temporarySpace: { writable: true },
      storage: { databaseBytes: 8_000_000, dataDirectory: null, freeBytes: null, totalBytes: null },
      select: { rows: [], complete: true },
    },
    [
      'identity',
      'clock',
      'changelogLocks',
      'backends',
      'operator',
      'connections',
      'temporarySpace',
      'storage',
      'select',
    ],
    answers,
  )
}

/** A free row with id 1, unless told otherwise. */
export function lockRow(row: Partial<ChangelogLockRow> = {}): ChangelogLockRow {
  return { id: 1, locked: false, lockGranted: null, lockedBy: null, ...row }
}

/** A lock table in `public`, on the search path; `rows` null: may not be read. */
export function lockTable(
  rows: readonly ChangelogLockRow[] | null,
  table: Partial<ChangelogLockTable> = {},
): ChangelogLockTable {
  return { schema: 'public', inSearchPath: true, rows, writable: rows !== null, removable: rows !== null, ...table }
}

/** An idle pooled connection of the service, unless told otherwise. */
export function backend(of: Partial<DatabaseBackend> = {}): DatabaseBackend {
  return {
    pid: 4711,
    user: 'testops',
    application: 'PostgreSQL JDBC Driver',
    clientAddress: '10.0.0.7',
    clientPort: 40_000,
    state: 'idle',
    startedAt: ago(3_600_000),
    transactionStartedAt: null,
    queryStartedAt: ago(5000),
    query: 'SELECT 1',
    ...of,
  }
}
