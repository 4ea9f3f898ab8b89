import { ago, backend, fakeLogs, record } from '../../../fakes/index.ts'
import type { Case } from '../../table.ts'
import { database, held, migrating, minute } from './situation.ts'

const told = (...records: readonly (readonly [text: string, minutes: number])[]): ReturnType<typeof fakeLogs> =>
  fakeLogs({
    recent: {
      complete: true,
      records: records.map(([text, minutes]) =>
        record(`INFO liquibase.lockservice : Successfully ${text} change log lock`, { at: ago(minutes * minute) }),
      ),
    },
  })
/**
 * of small steps, so that it looks like the service's usual work: only just begun, however long the tests before this
 * one take
 */
const step = backend({
  startedAt: ago(30 * minute + 22_000),
  state: 'active',
  query: 'SELECT pg_sleep(1)',
  queryStartedAt: ago(-minute),
})

const unproven = {
  status: 'problem',
  severity: 'warning',
  says: [
    'Cannot tell whether the holder is alive: the lock was taken after the service started on testops-1',
    'another process may be migrating',
  ],
  silentOn: ['is dead', 'has finished its migration'],
} as const

/**
 * The service answers, was started before the lock was taken on its machine, and tells in its log what it had of it.
 */
export const beside: readonly Case[] = [
  {
    situation: 'the service gave back what it took at its start, and another process of its machine has taken it',
    sources: {
      database: database([held()], [step]),
      service: migrating,
      logs: told(['acquired', 30.9], ['released', 30.8]),
    },
    ...unproven,
  },
  {
    situation: 'the service gave it back in the same instant in which another process took it',
    sources: { database: database([held()]), service: migrating, logs: told(['acquired', 30.35], ['released', 30.34]) },
    ...unproven,
  },
  {
    situation: 'what the service took by its log is long past when the row was taken',
    sources: { database: database([held()]), service: migrating, logs: told(['acquired', 30.9]) },
    ...unproven,
  },
  {
    situation: 'the service took it by its log only after the row was taken',
    sources: { database: database([held()]), service: migrating, logs: told(['acquired', 20]) },
    ...unproven,
  },
  {
    situation: 'the service took it when the row has it, never gave it back, and is past its start',
    sources: {
      database: database([held()], [step]),
      service: migrating,
      logs: told(['acquired', 30.9], ['released', 30.8], ['acquired', 30.33]),
    },
    status: 'problem',
    severity: 'warning',
    says: ['The holder is dead: testops-1 has finished its migration'],
  },
]
