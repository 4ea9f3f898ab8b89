import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'
import { serversOf } from '../lab.ts'
import { stopServer } from '../servers/index.ts'
import { serviceFails } from './consequences.ts'

export const databaseDown: Fault = {
  id: 'database-down',
  kind: 'fault',
  title: 'the database is not running',
  repair: 'start PostgreSQL',
  cases: [
    {
      variant: null,
      made: 'PostgreSQL is stopped',
      expected: { exitCode: 1, problems: { 'database/reachable': 'error' }, allowedConsequences: serviceFails },
      needs: { own: ['postgres'] },
      async apply(lab) {
        await stopServer((await serversOf(lab)).postgres)
      },
      revert: nothing,
    },
  ],
}
