import { onDatabase } from '../access/database.ts'
import type { Fault } from '../fault.ts'
import { startHolder, stopHolder } from '../holder.ts'
import type { Lab } from '../lab.ts'
import { serviceFails } from './consequences.ts'

/** Returns how many more connections bring nine of ten slots into use. */
async function nearlyAll(lab: Lab): Promise<number> {
  return onDatabase(lab, async (sql) => {
    const [row] = await sql(
      `SELECT floor(0.9 * (current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int))::int
        - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())::int AS missing`,
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
  repair: 'stop the program that holds them, or raise max_connections',
  cases: [
    {
      variant: 'nearly',
      made: "another program opens connections until nine in ten of PostgreSQL's slots are in use",
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
