import { onDatabase } from '../access/database.ts'
import { bearerOf, client } from '../clients.ts'
import { labUser } from '../configuration.ts'
import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'
import { waitForLog } from '../service.ts'
import { serviceUrl } from '../settings.ts'

/** More than the pool's connections. */
const users = 14

export const poolExhausted: Fault = {
  id: 'pool-exhausted',
  kind: 'fault',
  title: 'the service had no free database connection',
  repair: 'find out what held the connections: testops-admin explain service/log-errors',
  cases: [
    {
      variant: null,
      made: `a database job locks the table of projects while ${users} users list them: the pool runs out of connections; then the job ends`,
      expected: { exitCode: 1, problems: { 'service/log-errors': 'error' }, allowedConsequences: [] },
      needs: { serving: true },
      async apply(lab) {
        const call = client(serviceUrl(lab), 'browser')
        const headers = await bearerOf(call, labUser.apiToken)
        await onDatabase(lab, async (sql) => {
          await sql('BEGIN')
          await sql('LOCK TABLE project IN ACCESS EXCLUSIVE MODE')
          // some calls succeed once the lock is gone, the others fail
          const asked = Array.from({ length: users }, () =>
            call({ path: '/api/project?page=0&size=10', headers, answered: 200 }).catch(() => null),
          )
          await waitForLog(lab, 'Connection is not available, request timed out after')
          await sql('ROLLBACK')
          await Promise.all(asked)
        })
      },
      revert: nothing,
    },
  ],
}
