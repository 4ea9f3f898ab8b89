import { defineCheck } from '../../core/check.ts'
import { eachDatabase } from '../support/databases.ts'
import { psql } from '../support/evidence.ts'

export const databaseReachable = defineCheck({
  id: 'database/reachable',
  title: 'database answers',
  reads: ['database'],
  guards: 'database',
  explains: [
    'database/connections',
    'service/running',
    'api/reachable',
    'api/token',
    'api/token-lifetime',
    'api/latency',
    'trees/migrated',
  ],
  remedy: {
    text: 'Start PostgreSQL, or correct its address or credentials, then look again. The service reconnects by itself or needs a restart.',
    commands: ['systemctl status postgresql', 'testops-admin doctor -d {deployment} --only database/reachable', '{restart}'],
  },
  async run({ database }) {
    return eachDatabase(database, async (one) => {
      const { target } = one
      const { version, user, inRecovery } = await one.identity()
      if (!inRecovery) return { status: 'ok', detail: `PostgreSQL ${version} at ${target} answers ${user}` }
      const message = `PostgreSQL ${version} at ${target} is a standby in recovery: nothing can be written to it`
      const evidence = [psql(target, user, 'SELECT pg_is_in_recovery()'), 't']
      return { status: 'problem', severity: 'error', findings: [{ message, evidence }] }
    })
  },
})
