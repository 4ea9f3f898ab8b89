import type { Finding, Remedy } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import { firstLine, listed } from '../../core/format.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { command, sentence } from '../../core/shell-command.ts'
import type { DatabaseSource, ServiceSource } from '../../core/sources.ts'
import { sql } from '../../core/sql-text.ts'
import { byHand } from '../by-hand.ts'
import { psql } from '../evidence.ts'
import { sinceStart } from '../service.ts'
import { tolerant } from '../wanted.ts'
import type { KnownUse } from './route.ts'
import { isSameDatabase, leadsTo } from './route.ts'
import type { Surroundings } from './situation.ts'
import { lastWait } from './situation.ts'

type Databases = readonly [DatabaseSource, ...DatabaseSource[]]

/**
 * Returns the databases to search for locks, first the one that the service's Liquibase uses: the main one, unless
 * `spring.liquibase.url` names another. Throws REFUSED if it names none of them: a lock other than the service's would
 * be judged.
 */
export async function lockDatabases(databases: Databases, known: KnownUse): Promise<Databases> {
  const { liquibase = null, main } = known.use ?? {}
  if (liquibase === null) return databases
  const { address, shown } = liquibase
  if (address === null) throw elsewhere(databases, `cannot tell which database the service's Liquibase uses: ${shown}`)
  const [first] = databases
  const own =
    main?.address && isSameDatabase(address, main.address)
      ? first
      : databases.find((database) => leadsTo(address, database, known))
  if (own === undefined)
    throw elsewhere(
      databases,
      "the service's Liquibase uses the database at " +
        `${shown.startsWith('the address ') ? shown : `${shown}/${address.database ?? ''} (SPRING_LIQUIBASE_URL)`}`,
    )
  const mark = await markOf(own)
  // leave out other addresses of the database that Liquibase uses
  const marks = await Promise.all(databases.map(markOf))
  return [own, ...databases.filter((database, index) => database !== own && (mark === null || marks[index] !== mark))]
}

/** Returns a text that is the same for one database at any address; null if the database cannot be queried. */
async function markOf(database: DatabaseSource): Promise<string | null> {
  const identity = await tolerant(database.identity())
  return identity && JSON.stringify([identity.startedAt.getTime(), identity.version, identity.port, identity.database])
}

function elsewhere(databases: Databases, why: string): AdminError {
  const targets = listed(databases.map(({ target }) => target))
  const message = `${why}. The lock that the service uses may not be in ${targets}`
  return new AdminError('REFUSED', message, [
    'in the configuration, put the database that the service migrates first under `database`',
    'testops-admin explain database/changelog-lock',
  ])
}

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
    named.length === 0
      ? "the service's settings name no schema or table"
      : `the service's settings say ${listed(named)}`
  const commands: Suggestion[] = [
    psql(target, user, sql`SELECT schemaname, tablename FROM pg_tables WHERE tablename ILIKE '%lock%'`),
    command`testops-admin doctor -d {deployment} --only database/changelog-lock   # wait 15 s first: the service asks
      for the lock every 10 s`,
    sentence`to find the service's table among those that psql lists, read these settings in the service's
      environment and files: ${settings.join(', ')}`,
    byHand('database/changelog-lock'),
  ]
  return {
    finding: {
      message:
        `according to its log, the service is waiting for the change-log lock, but ${looked}. Either the lock was ` +
        `just released, or the service uses another table, schema or database (${told})`,
      evidence: [...evidence, ...(service ? [service.commands.logs] : []), firstLine(wait.text)],
    },
    remedy: {
      text:
        'If the service is still waiting, find the lock table that it uses. Releasing a lock in any other table ' +
        'changes nothing.',
      commands,
    },
  }
}
