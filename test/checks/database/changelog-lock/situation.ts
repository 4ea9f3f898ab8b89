import type { ChangelogLockTable, DatabaseBackend, DatabaseSource } from '../../../../src/core/sources.ts'
import {
  ago,
  backend,
  fakeDatabase,
  fakeLogs,
  fakeService,
  lockRow,
  lockTable,
  record,
  running,
  stopped,
  unreachable,
} from '../../../fakes/index.ts'

export const minute = 60_000

/** As Liquibase writes it: local time of the JVM, so many hours from UTC. */
export function written(at: Date, offsetHours = 0): string {
  return new Date(at.getTime() + offsetHours * 3_600_000).toISOString().slice(0, 23).replace('T', ' ')
}

/** by no whole quarters of an hour ago, by which time zones are apart */
export const taken = ago(30 * minute + 20_000)
/** the service's sessions come from there, and no others */
export const origins = [{ instance: 'testops.service', address: '10.0.0.7', port: null, to: null }] as const
/** not the service's */
export const elsewhere = { clientAddress: '10.0.0.8' } as const
export const held = (of = {}): ChangelogLockTable =>
  lockTable([lockRow({ locked: true, lockedBy: 'testops-1 (10.0.0.7)', lockGranted: written(taken), ...of })])

export function database(
  tables: readonly ChangelogLockTable[],
  backends: readonly DatabaseBackend[] = [],
  more: Parameters<typeof fakeDatabase>[0] = {},
): readonly [DatabaseSource] {
  return [fakeDatabase({ changelogLocks: tables, backends, ...more })]
}

export const restarted = fakeService({
  status: running({
    instances: [{ name: 'testops.service', host: 'testops-1', pid: 900, startedAt: ago(10 * minute) }],
  }),
  origins,
})
export const migrating = fakeService({
  status: running({
    instances: [{ name: 'testops.service', host: 'testops-1', pid: 812, startedAt: ago(31 * minute) }],
  }),
  origins,
})
export const dead = fakeService({ status: stopped({ state: 'failed', detail: 'failed (Result: exit-code)' }) })
export const down = { api: unreachable('api') }
export const waiter = backend({
  pid: 77,
  state: 'idle in transaction',
  query: 'SHOW SEARCH_PATH',
  startedAt: ago(9 * minute),
})
export const worker = backend({
  pid: 66,
  state: 'active',
  query: "UPDATE test_case SET name = 'secret'",
  startedAt: ago(30 * minute + 22_000),
  transactionStartedAt: ago(29 * minute),
  queryStartedAt: ago(29 * minute),
})
export const hasTaken = fakeLogs({
  recent: {
    complete: true,
    records: [
      record('INFO liquibase.lockservice : Waiting for changelog lock....', { at: ago(30.5 * minute) }),
      record('INFO liquibase.lockservice : Successfully acquired change log lock', { at: ago(30 * minute + 20_000) }),
    ],
  },
})
export const waits = fakeLogs({
  recent: {
    complete: true,
    records: [record('INFO liquibase.lockservice : Waiting for changelog lock....', { at: ago(5000) })],
  },
})
