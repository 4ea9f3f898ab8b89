import type { Finding, Remedy } from '../../core/check.ts'
import { sentence } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import type { DatabaseSource, ServiceSource } from '../../core/sources.ts'
import { sql } from '../../core/sql-text.ts'
import { byHand } from '../by-hand.ts'
import { psql } from '../evidence.ts'
import { firstLine, listed } from '../../core/format.ts'
import { lastWait } from './situation.ts'
import type { Surroundings } from './situation.ts'
import { sinceStart } from '../service.ts'

/** Settings that say where the service's Liquibase looks (FIELD-NOTES.md 2). */
const settings = [
  'SPRING_DATASOURCE_URL',
  'SPRING_LIQUIBASE_LIQUIBASE_SCHEMA',
  'SPRING_LIQUIBASE_DEFAULT_SCHEMA',
  'SPRING_LIQUIBASE_DATABASE_CHANGE_LOG_LOCK_TABLE',
]

/**
 * Returns the finding for a service that waits although the lock read here is free: it looks elsewhere, or got the lock
 * a moment ago. `looked`: what was found, for people; `evidence`: how. Null if its log shows no wait, or if it has
 * finished starting.
 */
export function waitsElsewhere(
  { target }: DatabaseSource,
  around: Surroundings,
  {
    looked,
    evidence,
    service,
    user,
  }: { looked: string; evidence: readonly string[]; service: ServiceSource | null; user: string | null },
): { finding: Finding; remedy: Remedy } | null {
  const wait = around.up ? null : lastWait(sinceStart(around.records, around.status) ?? [])
  if (wait === null) return null
  const named = around.liquibase?.shown ?? []
  const told =
    named.length === 0 ? 'its settings name no schema or table of its own' : `its settings say ${listed(named)}`
  const commands: Suggestion[] = [
    psql(target, user, sql`SELECT schemaname, tablename FROM pg_tables WHERE tablename ILIKE '%lock%'`),
    'testops-admin doctor -d {deployment} --only database/changelog-lock   # in 15 seconds: the service asks for the lock every 10',
    sentence`compare them with the service's own settings, also in its files: ${settings.join(', ')}`,
    byHand('database/changelog-lock'),
  ]
  return {
    finding: {
      message: `the service's log says that it waits for the change-log lock, but ${looked}. Unless the lock was released just now, the service looks in another table, schema or database (${told})`,
      evidence: [...evidence, ...(service ? [service.commands.logs] : []), firstLine(wait.text)],
    },
    remedy: {
      text: 'If the service still waits, find the table that it looks at. Releasing this one changes nothing.',
      commands,
    },
  }
}
