import { createHash } from 'node:crypto'
import { commit, tableExists } from './session.ts'
import type { LiquibaseSession } from './session.ts'

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
export function nameOf({ file, id, author }: ChangeSet): string {
  return `${file}::${id}::${author}`
}

/** Returns the names of the change sets that have run; null if the table does not exist. */
export async function ranChangeSets(session: LiquibaseSession): Promise<ReadonlySet<string> | null> {
  if (!(await tableExists(session, table))) return null
  const { rows } = await session.client.query<{ id: string; author: string; filename: string }>(
    `SELECT * FROM ${session.schema}.${table} ORDER BY DATEEXECUTED ASC, ORDEREXECUTED ASC`,
  )
  return new Set(rows.map(({ id, author, filename }) => `${filename}::${id}::${author}`))
}

export async function createChangelog(session: LiquibaseSession): Promise<void> {
  await session.client.query(
    `CREATE TABLE ${session.schema}.${table} (ID VARCHAR(255) NOT NULL, AUTHOR VARCHAR(255) NOT NULL, ` +
      'FILENAME VARCHAR(255) NOT NULL, DATEEXECUTED TIMESTAMP WITHOUT TIME ZONE NOT NULL, ORDEREXECUTED INTEGER NOT NULL, ' +
      'EXECTYPE VARCHAR(10) NOT NULL, MD5SUM VARCHAR(35), DESCRIPTION VARCHAR(255), COMMENTS VARCHAR(255), ' +
      'TAG VARCHAR(255), LIQUIBASE VARCHAR(20), CONTEXTS VARCHAR(255), LABELS VARCHAR(255), DEPLOYMENT_ID VARCHAR(10))',
  )
  await commit(session)
}

export async function markRan(
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
