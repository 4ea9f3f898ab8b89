import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'
import { serversOf } from '../lab.ts'
import { stopServer } from '../servers/index.ts'
import { serviceFails } from './consequences.ts'

export const sessionsDown: Fault = {
  id: 'sessions-down',
  kind: 'fault',
  title: 'the session store is not running',
  repair: 'start Redis',
  cases: [
    {
      variant: null,
      made: 'Redis is stopped',
      expected: { exitCode: 1, problems: { 'sessions/reachable': 'error' }, allowedConsequences: serviceFails },
      needs: { own: ['redis'] },
      async apply(lab) {
        await stopServer((await serversOf(lab)).redis)
      },
      revert: nothing,
    },
  ],
}
