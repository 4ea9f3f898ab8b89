import { psql } from '../../domain/evidence.ts'
import { listed } from '../../core/format.ts'
import { countingRows, grantTo, leaveOne, nameOf, showRow, tellTwice } from '../../domain/lock/row.ts'
import { AdminError } from '../../core/error.ts'
import type { ChangelogLockTable, DatabaseIdentity, DatabaseSource } from '../../core/sources.ts'

export function inRecovery({ target }: DatabaseSource): AdminError {
  return new AdminError(
    'REFUSED',
    `PostgreSQL at ${target} is in recovery and takes no changes: it is a standby or is being restored`,
    [psql(target, 'postgres', 'SELECT pg_is_in_recovery()'), 'name the primary in the configuration: database.url'],
  )
}

export function notOne({ target }: DatabaseSource, { user }: DatabaseIdentity, own: ChangelogLockTable): AdminError {
  return new AdminError(
    'REFUSED',
    `${tellTwice(own, target)} (${listed(countingRows(own).map(showRow))})`,
    leaveOne(target, user, own),
  )
}

export function mayNotBeChanged(
  { target }: DatabaseSource,
  { user }: DatabaseIdentity,
  own: ChangelogLockTable,
): AdminError {
  return new AdminError('FORBIDDEN', `${user} may not change ${nameOf(own)} at ${target}`, [
    grantTo(target, user, own, 'SELECT, INSERT, UPDATE, DELETE'),
  ])
}

/** A server that is to be left alone, as some set it while its disk is full or its successor takes over. */
export function readOnly({ target }: DatabaseSource, { user }: DatabaseIdentity): AdminError {
  return new AdminError('REFUSED', `PostgreSQL at ${target} is read-only for ${user} (default_transaction_read_only)`, [
    psql(
      target,
      user,
      "SELECT source, sourcefile, setting FROM pg_settings WHERE name = 'default_transaction_read_only'",
    ),
  ])
}
