import { defineCheck } from '../../core/check.ts'
import { springSettings } from '../../knowledge/settings.ts'
import { serviceFails } from '../support/consequences.ts'
import { eachDatabase } from '../support/databases.ts'
import { psql } from '../../domain/evidence.ts'
import { keptIn, server, unopened } from '../support/unopened.ts'

const kept = keptIn('database', springSettings.datasourceUrl)

export const databaseReachable = defineCheck({
  id: 'database/reachable',
  title: 'database answers',
  reads: ['database'],
  guards: 'database',
  explains: ['database/connections', ...serviceFails],
  unopened: unopened('database/reachable', {
    ...server('PostgreSQL', { unit: 'postgresql*', service: 'postgresql' }, kept),
    secret: 'database',
    tls: { scheme: "sslmode in the database's address", key: 'database: {ca: FILE}', starttls: 'postgres' },
    said: {
      UNAUTHENTICATED:
        `Correct the user name or the password (${kept}). If both are right, let that user connect from this ` +
        `machine: edit \`pg_hba.conf\`.`,
      UNAVAILABLE: `Correct the database's name (${kept}). If the name is right, restore the database from a backup.`,
      FORBIDDEN: 'As a superuser of PostgreSQL, let this user connect to the database. Or configure another user.',
    },
  }),
  async run({ database }) {
    return eachDatabase(database, async (one) => {
      const { target } = one
      const { version, user, inRecovery } = await one.identity()
      if (!inRecovery) return { status: 'ok', detail: `PostgreSQL ${version} at ${target} answers ${user}` }
      const message = `PostgreSQL ${version} at ${target} is a standby in recovery: it accepts no writes`
      const evidence = [psql(target, user, 'SELECT pg_is_in_recovery()'), 't']
      return {
        status: 'problem',
        severity: 'error',
        findings: [{ message, evidence }],
        remedy: {
          text: `Use the address of the primary (${kept}). If the primary is lost, promote this server.`,
          commands: [
            psql(target, user, 'SELECT sender_host, sender_port FROM pg_stat_wal_receiver'),
            'testops-admin doctor -d {deployment} --only database/reachable',
          ],
        },
      }
    })
  },
})
