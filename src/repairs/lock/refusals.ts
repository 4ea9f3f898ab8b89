import { psql } from '../../checks/support/evidence.ts'
import { listed } from '../../checks/support/format.ts'
import { grantTo, nameOf, showRow } from '../../checks/support/lock-row.ts'
import { AdminError } from '../../core/error.ts'
import type { ChangelogLockRow, ChangelogLockTable, DatabaseIdentity, DatabaseSource } from '../../core/sources.ts'
import { changelogLock } from '../../knowledge/lock.ts'

export function inRecovery({ target }: DatabaseSource): AdminError {
  return new AdminError('REFUSED', `PostgreSQL at ${target} is in recovery: it is a standby, or is being restored, and takes no change`, [
    psql(target, 'postgres', 'SELECT pg_is_in_recovery()'),
    'name the primary in the configuration: database.url',
  ])
}

export function notOne({ target }: DatabaseSource, { user }: DatabaseIdentity, own: ChangelogLockTable, rows: readonly ChangelogLockRow[]): AdminError {
  const message = `${nameOf(own)} at ${target} has ${rows.length} rows with id ${changelogLock.rowId}, and lacks its primary key: which of them counts, Liquibase does not know either`
  return new AdminError('REFUSED', `${message} (${listed(rows.map(showRow))})`, [
    psql(target, user, `SELECT ctid, * FROM ${nameOf(own)}`),
    psql(target, user, `DELETE FROM ${nameOf(own)} WHERE ctid = '…'`),
    psql(target, user, `ALTER TABLE ${nameOf(own)} ADD CONSTRAINT ${changelogLock.table}_pkey PRIMARY KEY (${changelogLock.columns.id})`),
  ])
}

export function mayNotBeChanged({ target }: DatabaseSource, { user }: DatabaseIdentity, own: ChangelogLockTable): AdminError {
  return new AdminError('FORBIDDEN', `${user} may not change ${nameOf(own)} at ${target}`, [grantTo(target, user, own, 'SELECT, INSERT, UPDATE, DELETE')])
}

/** A server that is to be left alone, as some set it while its disk is full or its successor takes over. */
export function readOnly({ target }: DatabaseSource, { user }: DatabaseIdentity): AdminError {
  return new AdminError('REFUSED', `PostgreSQL at ${target} lets ${user} only read (default_transaction_read_only), and takes no change`, [
    psql(target, user, "SELECT source, sourcefile, setting FROM pg_settings WHERE name = 'default_transaction_read_only'"),
  ])
}
