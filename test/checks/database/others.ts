import { databaseConnections } from '../../../src/checks/database/connections.ts'
import { databaseDisk } from '../../../src/checks/database/disk.ts'
import { databaseReachable } from '../../../src/checks/database/reachable.ts'
import { AdminError } from '../../../src/core/error.ts'
import { ago, fakeDatabase, unreachable } from '../../fakes/index.ts'
import type { CheckTable, Parts } from '../table.ts'

const byUser = [{ user: 'testops', application: 'PostgreSQL JDBC Driver', count: 90, idle: 88 }]
const gigabyte = 1_000_000_000

export const databaseReachableTable: CheckTable = {
  check: databaseReachable,
  cases: [
    {
      situation: 'PostgreSQL answers',
      status: 'ok',
      says: ['PostgreSQL 15.8 at db.example.org:5432/testops answers testops'],
    },
    {
      situation: 'PostgreSQL is down',
      sources: { database: unreachable('database') },
      status: 'problem',
      severity: 'error',
      says: ['refused the connection', 'pg_isready -h db.example.org -p 5432'],
    },
    {
      situation: 'no slot is left for us',
      sources: {
        database: new AdminError(
          'EXHAUSTED',
          'PostgreSQL at db.example.org:5432 has no free connection: sorry, too many clients already',
          ['psql -h db.example.org -p 5432 -U postgres -d testops -c "SELECT 1"'],
        ),
      },
      status: 'problem',
      severity: 'error',
      says: ['no free connection', 'accepts no more connections'],
      silentOn: ['Start PostgreSQL'],
    },
    {
      situation: 'the address is that of a standby',
      sources: {
        database: [
          fakeDatabase({
            identity: {
              version: '15.8',
              user: 'testops',
              database: 'testops',
              startedAt: ago(1),
              inRecovery: true,
              port: 5432,
              pooled: false,
            },
          }),
        ],
      },
      status: 'problem',
      severity: 'error',
      says: [
        'is a standby in recovery',
        "'SELECT pg_is_in_recovery()'",
        'Use the address of the primary',
        'pg_stat_wal_receiver',
      ],
      silentOn: ['Start PostgreSQL'],
    },
    {
      situation: 'no database is configured',
      sources: { database: new AdminError('NOT_CONFIGURED', 'no database is configured') },
      status: 'skipped',
      says: ['no database is configured'],
    },
    {
      situation: 'the second data source is down',
      sources: {
        database: [
          fakeDatabase(),
          fakeDatabase({ identity: new AdminError('UNREACHABLE', 'analytics refused the connection') }),
        ],
      },
      status: 'unknown',
      code: 'UNREACHABLE',
    },
  ],
}

export const databaseConnectionsTable: CheckTable = {
  check: databaseConnections,
  cases: [
    { situation: 'a tenth is in use', status: 'ok', says: ['11 of 97 connections'] },
    {
      situation: 'nearly all are in use',
      sources: { database: [fakeDatabase({ connections: { used: 85, max: 100, reserved: 3, byUser } })] },
      status: 'problem',
      severity: 'warning',
      says: [
        '85 of 97 connections of PostgreSQL at db.example.org:5432/testops are in use (88 %; max_connections ' +
          '100, 3 reserved)',
        'psql -h db.example.org -p 5432',
        "psql -h db.example.org -p 5432 -U postgres -d testops -c 'ALTER SYSTEM SET max_connections = 200'",
      ],
    },
    {
      situation: 'all but the reserved are in use',
      sources: { database: [fakeDatabase({ connections: { used: 97, max: 100, reserved: 3, byUser } })] },
      status: 'problem',
      severity: 'error',
      says: ['97 of 97', 'testops | PostgreSQL JDBC Driver | 90 | 88'],
    },
    {
      situation: 'of two databases one is nearly full, the other full',
      sources: {
        database: [
          fakeDatabase({ connections: { used: 85, max: 100, reserved: 3, byUser } }),
          fakeDatabase({
            target: 'an.example.org:5432/analytics',
            connections: { used: 97, max: 100, reserved: 3, byUser },
          }),
        ],
      },
      status: 'problem',
      severity: 'error',
      says: [
        /^\{"findings":\[\{"message":"97 of 97 connections of PostgreSQL at an\.example\.org/,
        '-h an.example.org -p 5432 -U postgres -d analytics -c',
        '-h db.example.org -p 5432 -U postgres -d testops -c',
      ],
    },
    {
      situation: 'the database is down',
      sources: { database: unreachable('database') },
      status: 'unknown',
      because: 'database/reachable',
    },
    {
      situation: 'pg_stat_activity may not be read',
      sources: { database: [fakeDatabase({ connections: new AdminError('FORBIDDEN', 'not allowed') })] },
      status: 'unknown',
      code: 'FORBIDDEN',
    },
  ],
}

const disk = (freeBytes: number, totalBytes: number, message?: string): Parts => ({
  database: [
    fakeDatabase({
      temporarySpace: message === undefined ? { writable: true } : { writable: false, message },
      storage: { databaseBytes: 8_000_000, dataDirectory: '/var/lib/postgresql/15/main', freeBytes, totalBytes },
    }),
  ],
})

export const databaseDiskTable: CheckTable = {
  check: databaseDisk,
  cases: [
    { situation: 'the disk is elsewhere and can be written', status: 'ok', says: ['can write'] },
    {
      situation: 'there is room',
      sources: disk(20 * gigabyte, 100 * gigabyte),
      status: 'ok',
      says: ['20 GB of 100 GB are free (20 %)'],
    },
    { situation: 'a small disk has half of its room', sources: disk(100_000_000, 200_000_000), status: 'ok' },
    { situation: 'a large disk has few per cent left', sources: disk(20 * gigabyte, 1000 * gigabyte), status: 'ok' },
    {
      situation: 'little is left',
      sources: disk(0.9 * gigabyte, 100 * gigabyte),
      status: 'problem',
      severity: 'warning',
      says: ['nearly full: 900 MB of 100 GB', 'df -H /var/lib/postgresql/15/main   # on db.example.org'],
    },
    {
      situation: 'less than two WAL segments are left',
      sources: disk(20_000_000, 200_000_000),
      status: 'problem',
      severity: 'error',
    },
    {
      situation: 'nothing can be written',
      sources: disk(0, 200_000_000, 'could not write to file "base/pgsql_tmp/pgsql_tmp42.0": No space left on device'),
      status: 'problem',
      severity: 'error',
      says: ['has no room left to write: could not write to file', '0 B of 200 MB'],
    },
    {
      situation: 'nothing can be written, although the disk has room',
      sources: disk(
        20 * gigabyte,
        100 * gigabyte,
        'could not write to file "base/pgsql_tmp/pgsql_tmp42.0": No space left on device',
      ),
      status: 'problem',
      severity: 'error',
      says: [
        'No space left on device, although 20 GB of 100 GB are free (20 %): check the quotas, the inodes (`df -i`)',
      ],
    },
    {
      situation: 'the database is down',
      sources: { database: unreachable('database') },
      status: 'unknown',
      because: 'database/reachable',
    },
  ],
}
