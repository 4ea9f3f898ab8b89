import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../database/pool.ts'
import { sqlException } from '../database/pool.ts'
import type { JdbcAddress } from '../settings.ts'
import type { Log } from '../log/log.ts'
import { summary } from '../log/log.ts'
import {
  commit,
  databaseException,
  LiquibaseFailure,
  migrationFailed,
  openSession,
  releaseLock,
  tableExists,
  waitForLock,
} from './lock-service.ts'
import type { LiquibaseSession, LockOptions } from './lock-service.ts'

export interface ChangeSet {
  id: string
  author: string
  file: string
  statements: readonly string[]
  /** pause after each statement, in milliseconds */
  pauseMs?: number
}

const table = 'databasechangelog'

/** Returns `file::id::author`, as Liquibase names a change set. */
function nameOf({ file, id, author }: ChangeSet): string {
  return `${file}::${id}::${author}`
}

/** Returns the names of the change sets that have run; null if the table does not exist. */
async function ranChangeSets(session: LiquibaseSession): Promise<ReadonlySet<string> | null> {
  if (!(await tableExists(session, table))) return null
  const { rows } = await session.client.query<{ id: string; author: string; filename: string }>(
    `SELECT * FROM ${session.schema}.${table} ORDER BY DATEEXECUTED ASC, ORDEREXECUTED ASC`,
  )
  return new Set(rows.map(({ id, author, filename }) => `${filename}::${id}::${author}`))
}

async function createChangelog(session: LiquibaseSession): Promise<void> {
  await session.client.query(
    `CREATE TABLE ${session.schema}.${table} (ID VARCHAR(255) NOT NULL, AUTHOR VARCHAR(255) NOT NULL, ` +
      'FILENAME VARCHAR(255) NOT NULL, DATEEXECUTED TIMESTAMP WITHOUT TIME ZONE NOT NULL, ORDEREXECUTED ' +
      'INTEGER NOT NULL, ' +
      'EXECTYPE VARCHAR(10) NOT NULL, MD5SUM VARCHAR(35), DESCRIPTION VARCHAR(255), COMMENTS VARCHAR(255), ' +
      'TAG VARCHAR(255), LIQUIBASE VARCHAR(20), CONTEXTS VARCHAR(255), LABELS VARCHAR(255), DEPLOYMENT_ID VARCHAR(10))',
  )
  await commit(session)
}

async function markRan(
  { client, schema }: LiquibaseSession,
  changeSet: ChangeSet,
  deploymentId: string,
  version: string,
): Promise<void> {
  const { rows } = await client.query<{ max: number | null }>(`SELECT MAX(ORDEREXECUTED) FROM ${schema}.${table}`)
  const sum = `9:${createHash('md5').update(changeSet.statements.join(';')).digest('hex')}`
  await client.query(
    `INSERT INTO ${schema}.${table} (ID, AUTHOR, FILENAME, DATEEXECUTED, ORDEREXECUTED, MD5SUM, DESCRIPTION, ` +
      'COMMENTS, EXECTYPE, CONTEXTS, LABELS, LIQUIBASE, DEPLOYMENT_ID) ' +
      "VALUES ($1, $2, $3, NOW(), $4, $5, 'sql', '', 'EXECUTED', NULL, NULL, $7, $6)",
    [changeSet.id, changeSet.author, changeSet.file, (rows[0]?.max ?? 0) + 1, sum, deploymentId, version],
  )
}

interface UpdateOptions extends Omit<LockOptions, 'onWait'> {
  address: JdbcAddress
  /** version of Liquibase */
  version: string
  progress: (phase: 'waiting-for-lock' | 'migrating') => void
}

/**
 * Runs the pending change sets like Liquibase 4.29.2. If none is pending, it never asks for the lock. It releases only
 * a lock that it took; older versions release any (FIELD-NOTES.md 2). A stop leaves the lock behind, as a stopped JVM
 * does. Throws LiquibaseFailure, or AbortError after `signal`.
 */
export async function update(
  database: Database,
  changeSets: readonly ChangeSet[],
  options: UpdateOptions,
): Promise<void> {
  const { log, signal } = options
  await database.session(async (client) => {
    const drop = (): void => void client.end().catch(() => undefined)
    signal.addEventListener('abort', drop, { once: true })
    try {
      const session = await openSession(client)
      log.info('liquibase.database', `Set default schema name to ${session.schema}`)
      await run(session, changeSets, options)
      await client.query('COMMIT')
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof LiquibaseFailure) throw error
      const cause = sqlException(error, options.address)
      throw databaseException(summary(cause), cause)
    } finally {
      signal.removeEventListener('abort', drop)
    }
  })
}

async function run(session: LiquibaseSession, changeSets: readonly ChangeSet[], options: UpdateOptions): Promise<void> {
  const { log } = options
  let ran = await ranChangeSets(session)
  if (ran === null) {
    log.info('liquibase.changelog', `Creating database history table with name: ${session.schema}.databasechangelog`)
    await createChangelog(session)
    ran = new Set()
  }
  log.info('liquibase.changelog', `Reading from ${session.schema}.databasechangelog`)
  if (changeSets.every((changeSet) => ran.has(nameOf(changeSet)))) {
    log.info('liquibase.ui', 'Database is up to date, no changesets to execute')
    summarise(log, 0, changeSets.length)
    if (isCareless(options.version)) await releaseLock(session, log)
    return
  }
  try {
    await waitForLock(session, { ...options, onWait: () => options.progress('waiting-for-lock') })
  } catch (error) {
    if (error instanceof LiquibaseFailure && isCareless(options.version)) await releaseLock(session, log)
    throw error
  }
  options.progress('migrating')
  try {
    // read again under the lock: another instance may have run them
    const known = (await ranChangeSets(session)) ?? new Set()
    const pending = changeSets.filter((changeSet) => !known.has(nameOf(changeSet)))
    const deploymentId = String(Date.now()).slice(-10)
    for (const changeSet of pending) await runChangeSet(session, changeSet, deploymentId, options)
    summarise(log, pending.length, changeSets.length - pending.length)
    log.info('liquibase.command', 'Update command completed successfully.')
  } catch (error) {
    if (!(error instanceof LiquibaseFailure)) throw error
    log.info('liquibase.command', 'Update command encountered an exception.')
    await releaseLock(session, log)
    throw error
  }
  await releaseLock(session, log)
}

/** True for Liquibase before 4.29.2, which released the lock at the end, no matter who held it (FIELD-NOTES.md 2). */
function isCareless(version: string): boolean {
  return version.localeCompare('4.29.2', 'en', { numeric: true }) < 0
}

async function runChangeSet(
  session: LiquibaseSession,
  changeSet: ChangeSet,
  deploymentId: string,
  { log, signal, address, version }: UpdateOptions,
): Promise<void> {
  const since = Date.now()
  log.info('liquibase.ui', `Running Changeset: ${nameOf(changeSet)}`)
  try {
    for (const statement of changeSet.statements) {
      await session.client.query(statement)
      if (changeSet.pauseMs) await sleep(changeSet.pauseMs, undefined, { signal })
    }
  } catch (error) {
    signal.throwIfAborted()
    const thrown = sqlException(error, address)
    await session.client.query('ROLLBACK')
    await session.client.query('BEGIN')
    throw migrationFailed(nameOf(changeSet), summary(thrown), thrown)
  }
  await markRan(session, changeSet, deploymentId, version)
  await commit(session)
  log.info('liquibase.changelog', 'Custom SQL executed')
  log.info('liquibase.changelog', `ChangeSet ${nameOf(changeSet)} ran successfully in ${Date.now() - since}ms`)
}

function summarise(log: Log, run: number, before: number): void {
  const lines = [
    'UPDATE SUMMARY',
    `Run: ${String(run).padStart(26)}`,
    `Previously run: ${String(before).padStart(15)}`,
    'Filtered out:                 0',
    '-------------------------------',
    `Total change sets: ${String(run + before).padStart(12)}`,
    'Update summary generated',
  ]
  for (const line of lines) log.info('liquibase.util', line)
}
