import { defineCheck } from '../../core/check.ts'
import type { Remedy } from '../../core/check.ts'
import { psql } from '../support/evidence.ts'
import { eachDatabase } from '../support/databases.ts'
import { percent } from '../support/format.ts'
import { tolerant } from '../support/wanted.ts'

/** Pools take connections in handfuls: above this, the next handful may already be refused. */
const errorShare = 0.95
const warningShare = 0.85

export const databaseConnections = defineCheck({
  id: 'database/connections',
  title: 'database has free connections',
  reads: ['database'],
  explains: ['service/running', 'api/reachable', 'api/token', 'api/token-lifetime', 'api/latency', 'trees/migrated'],
  remedy: fewerOrMore((sql) => `psql -c '${sql}'`, null),
  async run({ database }) {
    return eachDatabase(database, async (one) => {
      const [{ used, max, reserved, byUser }, identity] = await Promise.all([one.connections(), tolerant(one.identity())])
      const slots = Math.max(1, max - reserved)
      const figures = `${used} of ${slots} connections of PostgreSQL at ${one.target} are in use (${percent(used, slots)}; max_connections ${max}, ${reserved} reserved)`
      if (used < slots * warningShare) return { status: 'ok', detail: figures }
      const evidence = [
        psql(
          one.target,
          identity?.user ?? null,
          'SELECT usename, application_name, count(*) FROM pg_stat_activity GROUP BY 1, 2 ORDER BY 3 DESC',
        ),
        ...byUser.slice(0, 5).map(({ user, application, count, idle }) => `${user} | ${application} | ${count} (${idle} idle)`),
      ]
      return {
        status: 'problem',
        severity: used >= slots * errorShare ? 'error' : 'warning',
        findings: [{ message: figures, evidence }],
        remedy: fewerOrMore((sql) => psql(one.target, identity?.user ?? null, sql), max * 2),
      }
    })
  },
})

/** `wanted`: connections to allow; null: the present limit is not known, so the command shows it. */
function fewerOrMore(ask: (sql: string) => string, wanted: number | null): Remedy {
  return {
    text: 'End the sessions that nobody needs, or allow more: a superuser raises max_connections (PostgreSQL must be restarted), or make pools smaller.',
    commands: [
      ask('SELECT usename, application_name, state, count(*) FROM pg_stat_activity GROUP BY 1, 2, 3 ORDER BY 4 DESC'),
      ask(wanted === null ? 'SHOW max_connections' : `ALTER SYSTEM SET max_connections = ${wanted}`),
    ],
    risk: 'Restarting PostgreSQL ends every session.',
  }
}
