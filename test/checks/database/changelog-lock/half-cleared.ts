import { lockRow, lockTable } from '../../../fakes/index.ts'
import type { Case } from '../../table.ts'
import { database, down, held, restarted, waiter, waits } from './situation.ts'

/** The table contains the wrong rows, or is in the wrong schema. */
export const halfCleared: readonly Case[] = [
  {
    situation: 'locked without a time, and the service cannot start',
    sources: { database: database([held({ lockGranted: null })], [waiter]), service: restarted, logs: waits, ...down },
    status: 'problem',
    severity: 'error',
    says: ['public.databasechangeloglock has a locked row in which lockgranted is NULL'],
  },
  {
    situation: 'locked without a time, and the service is healthy',
    sources: { database: database([held({ lockGranted: null })]), service: restarted },
    status: 'problem',
    severity: 'warning',
    says: ['has a locked row in which lockgranted is NULL'],
  },
  {
    situation: 'no row with id 1',
    sources: { database: database([lockTable([])]) },
    status: 'problem',
    severity: 'warning',
    says: [
      'public.databasechangeloglock has no row with id 1',
      '(0 rows)',
      'Restore the table of the change-log lock to what Liquibase expects',
    ],
  },
  {
    situation: 'no row with id 1 but another, and the service cannot start',
    sources: { database: database([lockTable([lockRow({ id: 2 })])]), ...down },
    status: 'problem',
    severity: 'error',
    says: ['has no row with id 1', 'id 2'],
  },
  {
    situation: 'a second row',
    sources: { database: database([lockTable([lockRow(), lockRow({ id: 2, locked: true, lockedBy: 'x' })])]), ...down },
    status: 'problem',
    severity: 'warning',
    says: ['has extra rows (id 2)', '2 | t | null | x', 'testops-admin unlock-changelog -d prod'],
    silentOn: ['DELETE'],
  },
  {
    situation: 'two rows with id 1, the first free and the second held',
    sources: { database: database([lockTable([lockRow(), lockRow({ locked: true, lockedBy: 'x' })])]), ...down },
    status: 'problem',
    severity: 'error',
    says: ['has 2 rows with id 1, because it has no primary key', '1 | t | null | x', 'WHERE ctid ='],
    silentOn: ['unlock-changelog -d'],
  },
  {
    situation: 'two rows with id 1, both free',
    sources: { database: database([lockTable([lockRow(), lockRow()])]) },
    status: 'problem',
    severity: 'warning',
    says: ['has 2 rows with id 1', 'ADD CONSTRAINT databasechangeloglock_pkey'],
    silentOn: ['unlock-changelog -d'],
  },
  {
    situation: 'the table lies where the service does not look',
    sources: { database: database([lockTable([lockRow()], { schema: 'attic', inSearchPath: false })]), ...down },
    status: 'problem',
    severity: 'error',
    says: [
      'is in schema attic, and nothing shows that the service uses that schema',
      'SPRING_LIQUIBASE_LIQUIBASE_SCHEMA',
    ],
    silentOn: ['unlock-changelog', 'ALTER', 'DROP'],
  },
  {
    situation: 'the table lies in a schema whose name has to be quoted',
    sources: { database: database([lockTable([lockRow()], { schema: 'My Attic', inSearchPath: false })]), ...down },
    status: 'problem',
    severity: 'error',
    says: ['FROM \\"My Attic\\".databasechangeloglock'],
    silentOn: ['ALTER', 'DROP'],
  },
  {
    situation: 'a second table elsewhere holds a dead lock',
    sources: {
      database: database([lockTable([lockRow()]), lockTable(held().rows, { schema: 'attic', inSearchPath: false })]),
      service: restarted,
    },
    status: 'problem',
    severity: 'warning',
    says: ['attic.databasechangeloglock (held by testops-1 (10.0.0.7))', 'The service does not use this lock table'],
  },
]
