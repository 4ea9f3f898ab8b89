import { changelogLockCheck } from '../../../src/checks/database/changelog-lock.ts'
import { AdminError } from '../../../src/core/error.ts'
import type { Sources } from '../../../src/core/sources.ts'
import { fakeDatabase, lockRow, lockTable, unreachable } from '../../fakes/index.ts'
import type { Case, CheckTable } from '../table.ts'
import { beside } from './changelog-lock/beside.ts'
import { byHand } from './changelog-lock/by-hand.ts'
import { halfCleared } from './changelog-lock/half-cleared.ts'
import { hiddenOnes } from './changelog-lock/hidden.ts'
import { live } from './changelog-lock/live.ts'
import { database, dead, down, held } from './changelog-lock/situation.ts'
import { liquibasePlace } from './changelog-lock/liquibase-place.ts'
import { ownPlace } from './changelog-lock/own-place.ts'
import { otherZone } from './changelog-lock/other-zone.ts'
import { stuck } from './changelog-lock/stuck.ts'
import { wrongZone } from './changelog-lock/wrong-zone.ts'
import { zones } from './changelog-lock/zones.ts'

const fine: Case[] = [
  {
    situation: 'the lock is free',
    status: 'ok',
    says: ['public.databasechangeloglock at db.example.org:5432/testops is free'],
  },
  {
    situation: 'another program has a table of its own elsewhere',
    sources: {
      database: database([lockTable([lockRow()]), lockTable([lockRow()], { schema: 'other', inSearchPath: false })]),
    },
    status: 'ok',
  },
  {
    situation: 'there is no table',
    sources: { database: database([]) },
    status: 'skipped',
    says: ['has no table databasechangeloglock'],
  },
]

const unreadable: Case[] = [
  {
    situation: 'the table may not be read',
    sources: { database: database([lockTable(null)]) },
    status: 'unknown',
    code: 'FORBIDDEN',
    says: ['GRANT SELECT ON public.databasechangeloglock TO \\"testops\\"'],
  },
  {
    situation: 'the second of two databases holds a stuck lock, the first cannot be asked',
    sources: {
      database: [
        fakeDatabase({ changelogLocks: new AdminError('UNREACHABLE', 'gone') }),
        ...database([held()]),
      ] as Sources['database'],
      service: dead,
      ...down,
    },
    status: 'problem',
    severity: 'error',
  },
  {
    situation: 'the database is down',
    sources: { database: unreachable('database') },
    status: 'unknown',
    because: 'database/reachable',
  },
]

export const changelogLockTable: CheckTable = {
  check: changelogLockCheck,
  cases: [
    ...fine,
    ...stuck,
    ...zones,
    ...ownPlace,
    ...liquibasePlace,
    ...byHand,
    ...otherZone,
    ...wrongZone,
    ...live,
    ...beside,
    ...hiddenOnes,
    ...halfCleared,
    ...unreadable,
  ],
}
