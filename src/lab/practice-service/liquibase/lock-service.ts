import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import { changelogLock, lockMessages } from '../../../knowledge/lock.ts'
import type { Log, Throwable } from '../log/log.ts'
import { throwable } from '../log/log.ts'

const running = [
  'liquibase.command.core.helpers.LockServiceCommandStep.run(LockServiceCommandStep.java:53)',
  'liquibase.command.CommandScope.lambda$execute$6(CommandScope.java:253)',
  'liquibase.command.CommandScope.execute(CommandScope.java:248)',
  'liquibase.Liquibase.lambda$update$0(Liquibase.java:216)',
  'liquibase.integration.spring.SpringLiquibase.performUpdate(SpringLiquibase.java:321)',
  'liquibase.integration.spring.SpringLiquibase.afterPropertiesSet(SpringLiquibase.java:290)',
]

/** An exception from Liquibase, which makes the service's start fail. */
export class LiquibaseFailure extends Error {
  override readonly name = 'LiquibaseFailure'

  constructor(readonly thrown: Throwable) {
    super(thrown.message ?? thrown.type)
  }
}

function lockException(message: string, cause?: Throwable): LiquibaseFailure {
  const frame = cause
    ? 'liquibase.lockservice.StandardLockService.listLocks(StandardLockService.java:476)'
    : 'liquibase.lockservice.StandardLockService.waitForLock(StandardLockService.java:286)'
  return new LiquibaseFailure(throwable('liquibase.exception.LockException', message, [frame, ...running], cause))
}

export function databaseException(message: string, cause: Throwable): LiquibaseFailure {
  return new LiquibaseFailure(
    throwable(
      'liquibase.exception.DatabaseException',
      message,
      ['liquibase.executor.jvm.JdbcExecutor$ExecuteStatementCallback.doInStatement(JdbcExecutor.java:470)', ...running],
      cause,
    ),
  )
}

export function migrationFailed(changeSet: string, reason: string, cause: Throwable): LiquibaseFailure {
  const message = `Migration failed for changeset ${changeSet}:\n     Reason: ${reason}`
  return new LiquibaseFailure(
    throwable(
      'liquibase.exception.MigrationFailedException',
      message,
      ['liquibase.changelog.ChangeSet.execute(ChangeSet.java:878)', ...running],
      cause,
    ),
  )
}

/**
 * Liquibase's connection: auto-commit is off, so a transaction is open from the first statement to COMMIT or ROLLBACK.
 */
export interface LiquibaseSession {
  client: PoolClient
  /** schema that holds Liquibase's tables, quoted where PostgreSQL needs it */
  schema: string
}

export async function openSession(client: PoolClient): Promise<LiquibaseSession> {
  await client.query('BEGIN')
  const { rows } = await client.query<{ name: string | null }>('select quote_ident(current_schema()) as name')
  return { client, schema: rows[0]?.name ?? 'public' }
}

/** Commits, and opens the next transaction as the driver would at the next statement. */
export async function commit({ client }: LiquibaseSession): Promise<void> {
  await client.query('COMMIT')
  await client.query('BEGIN')
}

/**
 * Rolls back, then asks for the search path, as Liquibase does. A waiter is therefore `idle in transaction`
 * (SERVERS.md, PostgreSQL).
 */
async function rollback({ client }: LiquibaseSession): Promise<void> {
  await client.query('ROLLBACK')
  await client.query('BEGIN')
  await client.query('SHOW SEARCH_PATH')
}

export async function tableExists({ client, schema }: LiquibaseSession, table: string): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [
    `${schema}.${table}`,
  ])
  return rows[0]!.found
}

/** Returns `host (address)`, as Liquibase writes it into LOCKEDBY (FIELD-NOTES.md 2). */
export function lockedBy(hostName: string): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const outside =
    addresses.find(({ internal, family }) => !internal && family === 'IPv4') ??
    addresses.find(({ internal }) => !internal)
  return `${hostName} (${outside?.address ?? '127.0.0.1'})`
}

const logger = 'liquibase.lockservice'

export interface LockOptions {
  waitMs: number
  pollMs: number
  /** the value for LOCKEDBY */
  holder: string
  timeZone: string
  log: Log
  signal: AbortSignal
  onWait: () => void
}

/**
 * Waits for the change-log lock as Liquibase's StandardLockService does (FIELD-NOTES.md 2). Throws LiquibaseFailure.
 */
export async function waitForLock(session: LiquibaseSession, options: LockOptions): Promise<void> {
  const giveUp = Date.now() + options.waitMs
  let taken = false
  do {
    taken = await acquire(session, options)
    if (!taken) {
      options.log.info(logger, lockMessages.waiting)
      options.onWait()
      await sleep(options.pollMs, undefined, { signal: options.signal })
    }
  } while (!taken && Date.now() < giveUp)
  if (!taken) throw await refusal(session, options.timeZone)
}

/** Releases the lock. Throws LiquibaseFailure if the row is gone. */
export async function releaseLock(session: LiquibaseSession, log: Log): Promise<void> {
  const { rowCount } = await session.client.query(
    `UPDATE ${table(session)} SET LOCKED = FALSE, LOCKEDBY = NULL, LOCKGRANTED = NULL ` +
      `WHERE ID = ${changelogLock.rowId}`,
  )
  if (rowCount !== 1) {
    log.warn(logger, 'Failed to release change log lock')
    const { rows } = await session.client.query<{ count: string }>(`SELECT COUNT(*) FROM ${table(session)}`)
    const counted =
      `${rowCount} rows were updated instead of the expected 1 row using executor ` +
      `liquibase.executor.jvm.JdbcExecutor there are [{COUNT=${rows[0]!.count}}] rows in the table`
    throw lockException(`${lockMessages.notUpdated}\n${counted}`)
  }
  await commit(session)
  log.info(logger, lockMessages.released)
}

async function acquire(session: LiquibaseSession, { holder, log }: LockOptions): Promise<boolean> {
  await rollback(session)
  await initialise(session)
  const { client } = session
  const { rows } = await client.query<{ locked: boolean }>(
    `SELECT LOCKED FROM ${table(session)} WHERE ID=${changelogLock.rowId}`,
  )
  if (rows.length !== 1) {
    const statement = 'liquibase.statement.core.SelectFromDatabaseChangeLogLockStatement@254f906e'
    const message = `Expected single row from ${statement} but got ${rows.length}`
    throw lockException(
      `liquibase.exception.DatabaseException: ${message}`,
      throwable('liquibase.exception.DatabaseException', message, [
        'liquibase.executor.jvm.JdbcExecutor.queryForObject(JdbcExecutor.java:216)',
      ]),
    )
  }
  if (rows[0]!.locked) {
    await rollback(session)
    return false
  }
  const { rowCount } = await client.query(
    `UPDATE ${table(session)} SET LOCKED = TRUE, LOCKEDBY = ${client.escapeLiteral(holder)}, LOCKGRANTED = NOW() ` +
      `WHERE ID = ${changelogLock.rowId} AND LOCKED = FALSE`,
  )
  if (rowCount !== null && rowCount > 1) throw lockException(lockMessages.notUpdated)
  await commit(session)
  if (rowCount !== 1) return false
  log.info(logger, lockMessages.taken)
  return true
}

/** Makes the table and its one row if they are missing. Any existing row counts as that row. */
async function initialise(session: LiquibaseSession): Promise<void> {
  const { client, schema } = session
  if (!(await tableExists(session, changelogLock.table))) {
    await client.query(
      `CREATE TABLE ${table(session)} (ID INTEGER NOT NULL, LOCKED BOOLEAN NOT NULL, LOCKGRANTED TIMESTAMP ` +
        'WITHOUT TIME ZONE, ' +
        'LOCKEDBY VARCHAR(255), CONSTRAINT databasechangeloglock_pkey PRIMARY KEY (ID))',
    )
    await commit({ client, schema })
  }
  const { rows } = await client.query<{ count: string }>(`SELECT COUNT(*) FROM ${table(session)}`)
  if (Number(rows[0]!.count) > 0) return
  await client.query(`DELETE FROM ${table(session)}`)
  await client.query(`INSERT INTO ${table(session)} (ID, LOCKED) VALUES (${changelogLock.rowId}, FALSE)`)
  await commit(session)
}

async function refusal(session: LiquibaseSession, timeZone: string): Promise<Error> {
  // the column has no time zone: its times are in the session's, which is the JVM's
  const { rows } = await session.client.query<{ locked: boolean; granted: Date | null; lockedby: string | null }>(
    `SELECT LOCKED, LOCKGRANTED::timestamptz AS granted, LOCKEDBY FROM ${table(session)} WHERE ` +
      `ID=${changelogLock.rowId}`,
  )
  const [row] = rows
  if (!row?.locked) return lockException('Could not acquire change log lock.  Currently locked by UNKNOWN')
  if (row.granted === null) {
    const message = 'Cannot invoke "java.util.Date.getTime()" because "lockGranted" is null'
    const frame = 'liquibase.lockservice.DatabaseChangeLogLock.<init>(DatabaseChangeLogLock.java:16)'
    return lockException(
      `java.lang.NullPointerException: ${message}`,
      throwable('java.lang.NullPointerException', message, [frame]),
    )
  }
  return lockException(lockMessages.refused(row.lockedby ?? 'null', shortDate(row.granted, timeZone)))
}

function table({ schema }: LiquibaseSession): string {
  return `${schema}.${changelogLock.table}`
}

/** Formats like JDK 17's DateFormat SHORT, SHORT in the locale en_US (FIELD-NOTES.md 2): `11/21/26, 2:12 AM`. */
export function shortDate(moment: Date, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  // JDK 20 and later put a narrow no-break space before AM and PM, as Node does
  return format.format(moment).replaceAll('\u202f', ' ')
}
