import { onDatabase } from '../access/database.ts'
import { bearerOf, client } from '../clients.ts'
import { labUser } from '../configuration.ts'
import type { Fault } from '../fault.ts'
import { nothing, notInDrills, serviceFails } from '../fault.ts'
import { startHolder, stopHolder } from '../holder.ts'
import type { Lab } from '../lab.ts'
import { serversOf } from '../lab.ts'
import { fillDisk, freeDisk, stopServer } from '../servers/index.ts'
import { waitForLog } from '../service.ts'
import { serviceUrl } from '../settings.ts'

export const databaseDown: Fault = {
  id: 'database-down',
  kind: 'fault',
  title: 'the database is not running',
  repair: 'start PostgreSQL',
  notInDrills: notInDrills.server,
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

/** Returns how many more connections bring nine of ten slots into use. */
async function nearlyAll(lab: Lab): Promise<number> {
  return onDatabase(lab, async (sql) => {
    const [row] = await sql(
      `SELECT floor(0.9 * (current_setting('max_connections')::int
          - current_setting('superuser_reserved_connections')::int))::int
        - (SELECT count(*) FROM pg_stat_activity
          WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())::int AS missing`,
    )
    return Math.max(1, Number(row!['missing']))
  })
}

async function release(lab: Lab): Promise<void> {
  await stopHolder(lab.layout)
}

export const connectionsExhausted: Fault = {
  id: 'connections-exhausted',
  kind: 'fault',
  title: 'PostgreSQL has no free connections',
  repair: 'stop the program that holds the connections, or raise max_connections',
  notInDrills: notInDrills.server,
  cases: [
    {
      variant: 'nearly',
      made: "another program opens connections until 90 % of PostgreSQL's connection slots are in use",
      expected: { exitCode: 2, problems: { 'database/connections': 'warning' }, allowedConsequences: [] },
      needs: { own: ['postgres'] },
      apply: async (lab) => startHolder(lab, await nearlyAll(lab)),
      revert: release,
    },
    {
      variant: 'full',
      made: 'another program takes every free PostgreSQL connection, including those that become free later',
      expected: { exitCode: 1, problems: { 'database/reachable': 'error' }, allowedConsequences: serviceFails },
      needs: { own: ['postgres'] },
      apply: (lab) => startHolder(lab, null),
      revert: release,
    },
  ],
}

export const diskFull: Fault = {
  id: 'disk-full',
  kind: 'fault',
  title: "PostgreSQL's data disk is full",
  repair: "free space on PostgreSQL's data disk, or enlarge the disk",
  notInDrills: notInDrills.server,
  cases: [
    {
      variant: null,
      made:
        "PostgreSQL's small data disk is filled to the last block; if this machine cannot mount a small disk, a " +
        "preloaded library makes PostgreSQL's writes fail instead",
      expected: { exitCode: 1, problems: { 'database/disk': 'error' }, allowedConsequences: [] },
      needs: { own: ['postgres'] },
      async apply(lab) {
        const { postgres } = await serversOf(lab)
        // writes the file that each new session reads; if it is missing, a full disk lets nobody in, which is
        // a different fault
        await onDatabase(lab, async (sql) => sql('SELECT 1'))
        await fillDisk(postgres)
        if (postgres.local?.disk?.kind === 'preload')
          lab.progress(
            "this machine cannot mount a small disk, so the full disk is only simulated: PostgreSQL's writes fail, " +
              'but df still shows free space',
          )
      },
      async revert(lab) {
        await freeDisk((await serversOf(lab)).postgres)
      },
    },
  ],
}

/** More than the pool's connections. */
const users = 14

export const poolExhausted: Fault = {
  id: 'pool-exhausted',
  kind: 'fault',
  title: 'the service had no free database connection',
  repair: 'find out what held the connections (details: testops-admin explain service/log-errors)',
  notInDrills: notInDrills.log,
  cases: [
    {
      variant: null,
      made:
        `a database job locks the projects table while ${users} users are listing projects; the service's pool ` +
        'runs out of connections, and then the job ends',
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
