import type { Lack, LockHolding } from '../../checks/support/lock-holder.ts'
import type { Risk } from '../../core/plan.ts'
import type { ChangelogLockRow, DatabaseIdentity } from '../../core/sources.ts'
import { parseLockedBy } from '../../knowledge/lock.ts'
import { sentence } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { sql, sqlNameInQuotes } from '../../core/sql-text.ts'

/** Why a lock is not simply released, and what would show that it may be; null: its holder is dead. */
export function riskOf(
  holding: LockHolding,
  { lockedBy }: ChangelogLockRow,
  { user }: Pick<DatabaseIdentity, 'user'>,
): Risk | null {
  switch (holding.holder) {
    case 'dead':
      return null
    case 'live':
      return {
        name: 'live-holder',
        message: `the holder lives: ${holding.who}. To take its lock away lets a second migration run beside it, which can leave the database in a state that none of them knows.`,
        proof: [
          'wait until it has ended; this shows it: testops-admin doctor -d {deployment} --only database/changelog-lock',
        ],
      }
    case 'unproven':
      return {
        name: 'unproven-holder',
        message: `whether the holder lives is not shown: ${holding.why.join('; ')}`,
        proof: holding.lacks.map((lack) =>
          proofs[lack]({ user, host: lockedBy === null ? 'its host' : parseLockedBy(lockedBy).host }),
        ),
      }
  }
}

const proofs: Readonly<Record<Lack, (of: { user: string; host: string }) => Suggestion>> = {
  platform: () => 'how the service is stopped and started, in the configuration: host.unit or host.commands',
  rights: ({ user }) =>
    sql`GRANT pg_read_all_stats TO ${sqlNameInQuotes(user)}   -- typed in psql as a superuser, shows all sessions`,
  pooler: () => 'the address of PostgreSQL itself in the configuration, in place of the pooler: database.url',
  route: () =>
    "the service's settings with its SPRING_DATASOURCE_URL, which the configuration names (host.environmentFile) or this user may read; and that address in place of `database.url`",
  user: () => "the service's settings in the configuration, which name its database user: host.environmentFile",
  stranger: () => 'see what that session does and for whom, and wait until it has ended',
  'another-host': ({ host }) => sentence`see on ${host} that nothing of the service, and no Liquibase, runs there`,
  'another-process': ({ host }) =>
    sentence`see on ${host} that no Liquibase runs beside the service; or stop the service, and plan again`,
  zone: () => "the time zone of the service's JVM in the configuration: timeZone; or stop the service, and plan again",
  address: () => sentence`see on every machine that reaches this database that no Liquibase runs there`,
  standby: () => 'the address of the primary in the configuration: database.url',
  'open-session': () =>
    "testops-admin service stop -d {deployment}   # then plan again: sessions that are left are not the service's; else see whose they are, and end them",
}
