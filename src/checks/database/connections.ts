import { defineCheck } from '../../core/check.ts'
import { serviceFails } from '../support/consequences.ts'
import { psql } from '../../domain/evidence.ts'
import { eachDatabase } from '../support/databases.ts'
import { percent } from '../../core/format.ts'
import { tolerant } from '../../domain/wanted.ts'
import { endSessionText, sessionsText, sql } from '../../core/sql-text.ts'

/**
 * Share of used connections that is an error. Pools take connections in handfuls: above this, the next handful may
 * already be refused.
 */
const errorShare = 0.95
const warningShare = 0.85

export const databaseConnections = defineCheck({
  id: 'database/connections',
  title: 'database has free connections',
  reads: ['database'],
  explains: serviceFails,
  async run({ database }) {
    return eachDatabase(database, async (one) => {
      const [{ used, max, reserved, byUser }, identity] = await Promise.all([
        one.connections(),
        tolerant(one.identity()),
      ])
      const slots = Math.max(1, max - reserved)
      const figures =
        `${used} of ${slots} connections of PostgreSQL at ${one.target} are in use (${percent(used, slots)}; ` +
        `max_connections ${max}, ${reserved} reserved)`
      if (used < slots * warningShare) return { status: 'ok', detail: figures }
      const evidence = [
        psql(
          one.target,
          identity?.user ?? null,
          "SELECT usename, application_name, count(*), count(*) FILTER (WHERE state LIKE 'idle%') AS idle FROM " +
            'pg_stat_activity WHERE usename IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC',
        ),
        ...byUser
          .slice(0, 5)
          .map(({ user, application, count, idle }) => `${user} | ${application} | ${count} | ${idle}`),
      ]
      return {
        status: 'problem',
        severity: used >= slots * errorShare ? 'error' : 'warning',
        findings: [{ message: figures, evidence }],
        remedy: {
          text:
            'List the sessions, and use their PIDs to end those that nobody needs. If all are needed, make ' +
            'connection pools smaller, or raise `max_connections` as a superuser and restart PostgreSQL.',
          commands: [
            psql(one.target, 'postgres', sessionsText),
            psql(one.target, 'postgres', endSessionText),
            psql(one.target, 'postgres', sql`ALTER SYSTEM SET max_connections = ${max * 2}`),
          ],
          risk: 'Restarting PostgreSQL ends every session.',
        },
      }
    })
  },
})
