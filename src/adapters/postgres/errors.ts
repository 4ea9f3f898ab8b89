import type { DatabaseControl } from '../../core/controls.ts'
import type { DatabaseEndpoint } from '../../core/endpoint.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { DatabaseSource } from '../../core/sources.ts'
import type { QuotedSql, SqlText } from '../../core/sql-text.ts'
import {
  databaseWord,
  endSessionText,
  sessionsText,
  sql,
  sqlName,
  sqlNameInQuotes,
  within,
} from '../../core/sql-text.ts'
import { typed } from '../../core/typed.ts'
import type { Peer } from '../failure.ts'
import { errorsOf, hostPort, networkFailure, oneLine, peerFailure } from '../failure.ts'

/** The user and database of a connection. */
export interface Login {
  user: string
  database: string
  hasPassword: boolean
}

/** Returns PostgreSQL's code of an error (SQLSTATE); null if the server sent none. */
export function sqlState(thrown: unknown): string | null {
  if (!(thrown instanceof Error) || !('severity' in thrown)) return null
  const { code } = thrown as Error & { code?: unknown }
  return typeof code === 'string' ? code : null
}

/**
 * Runs a request to the server. Turns a refusal into an error that the operator can act on. Throws our own bugs
 * unchanged.
 */
export async function asked<T>({ peer, login }: { peer: Peer; login: Login }, question: () => Promise<T>): Promise<T> {
  try {
    return await question()
  } catch (error) {
    if (error instanceof AdminError || sqlState(error) === null) throw error
    throw databaseFailure(error, peer, login)
  }
}

/**
 * Explains what is wrong with a SELECT that somebody else wrote; null if the server has another reason. No message
 * repeats our own text behind it, `after`, and nothing lets the statement read more than it may.
 */
export function faultOfSelect(
  thrown: unknown,
  { peer, login }: { peer: Peer; login: Login },
  { sql, after }: { sql: string; after: string },
): AdminError | null {
  const state = sqlState(thrown)
  const server = `PostgreSQL at ${peer.where}`
  const said = oneLine(messageOf(thrown).replace(after, ''))
  if (state === '42501') {
    const message = `${server}: user ${login.user} lacks ${rightIn(said) ?? 'a permission'}: ${said}`
    return new AdminError('FORBIDDEN', message, [], { cause: thrown })
  }
  if (state !== '42601') return null
  const { position } = thrown as Error & { position?: string }
  const isBehind = Number(position) > [...sql].length - [...after].length
  const why = isBehind ? 'the statement is not one whole SELECT' : said
  return new AdminError('UNEXPECTED_ANSWER', `${server}: ${why} (${state})`, [], { cause: thrown })
}

/** Explains a failed sign-in or statement to the operator. */
export function databaseFailure(thrown: unknown, peer: Peer, login: Login): AdminError {
  if (thrown instanceof AdminError) return thrown
  const server = `PostgreSQL at ${peer.where}`
  const said = oneLine(messageOf(thrown))
  const make = errorsOf(thrown, peer)
  const state = sqlState(thrown)
  switch (state) {
    case '28P01':
      return make('UNAUTHENTICATED', `${server} refused the password of user ${login.user}`)
    case '28000':
      return make('UNAUTHENTICATED', `${server} rejects user ${login.user}: ${said}`)
    case '3D000':
      return make('UNAVAILABLE', `${server}: database ${login.database} does not exist`, [
        psql(peer, login, 'postgres'),
      ])
    case '42501':
      return make('FORBIDDEN', `${server}: user ${login.user} lacks a permission: ${said}`, [
        // as a superuser; system views are granted in each database separately
        psql(
          peer,
          { user: 'postgres' },
          login.database,
          sql`GRANT ${within(rightIn(said) ?? sql`SELECT ON TABLE`)} TO ${sqlNameInQuotes(login.user)}`,
        ),
      ])
    case '53300':
      return make('EXHAUSTED', `${server} has no free connection: ${said}`, [
        psql(
          peer,
          // a few connections are reserved for superusers
          { user: 'postgres' },
          login.database,
          sessionsText,
        ),
        psql(peer, { user: 'postgres' }, login.database, endSessionText),
      ])
    // a new session may have to write a file before it is accepted
    case '53100':
      return new AdminError(
        'EXHAUSTED',
        `${server} has no space left on its disk: ${said}`,
        ['df -h   # on the machine where PostgreSQL runs'],
        {
          cause: thrown,
          obstacle: { kind: 'disk' },
        },
      )
    case '55P03':
      return make('TIMED_OUT', `${server} timed out waiting for a lock that another session holds: ${said}`, [
        psql(
          peer,
          login,
          login.database,
          'SELECT DISTINCT pid, usename, state, xact_start, query FROM pg_locks JOIN pg_stat_activity USING ' +
            "(pid) WHERE relation IS NOT NULL AND state <> 'idle' ORDER BY xact_start",
        ),
      ])
    case '57014':
      return make('TIMED_OUT', `${server} did not finish a statement in time`)
    case '25006':
      return make('REFUSED', `${server} accepts no changes: ${said}`, [
        psql(peer, login, login.database, 'SELECT pg_is_in_recovery()', 'SHOW default_transaction_read_only'),
      ])
    case '25P03':
      return make('TIMED_OUT', `${server} ended a transaction that was idle for too long`)
    case '57P01':
    case '57P02':
    case '57P03':
      return make('UNREACHABLE', `${server} is not available: ${said}`)
    default:
      if (state !== null) return make('UNEXPECTED_ANSWER', `${server}: ${said} (${state})`)
  }
  if (/password must be a (?:non-empty )?string/i.test(said)) {
    const why = login.hasPassword
      ? 'asks for a password, but the configured one is empty'
      : 'asks for a password, but none is configured'
    return make('UNAUTHENTICATED', `${server} ${why} for user ${login.user}`)
  }
  if (/connection terminated|connection error|not queryable|client was closed/i.test(said)) {
    return make('UNREACHABLE', `${server} closed the connection`)
  }
  return networkFailure(thrown, peer) ?? peerFailure(thrown, peer)
}

/**
 * Returns the right that a refused statement needed; null: PostgreSQL names the object in its own language, so it may
 * remain unknown.
 */
function rightIn(said: string): QuotedSql | null {
  const database = / for database ("[^"]+"|\S+)/.exec(said)?.[1]
  if (database !== undefined) return sql`CONNECT ON DATABASE ${nameIn(database)}`
  const schema = / for schema ("[^"]+"|\S+)/.exec(said)?.[1]
  if (schema !== undefined) return sql`USAGE ON SCHEMA ${nameIn(schema)}`
  const table = / for (?:view|table|relation) ("[^"]+"|[\w.]+)/.exec(said)?.[1]
  return table === undefined ? null : sql`SELECT ON ${nameIn(table)}`
}

/** Parses a name as PostgreSQL writes it, in quotes or after its schema. */
function nameIn(said: string): ReturnType<typeof sqlName> {
  if (said.startsWith('"')) return sqlNameInQuotes(said.replaceAll('"', ''))
  const [first = '', ...others] = said.split('.')
  return within(others.reduce<QuotedSql>((all, it) => sql`${within(all)}.${sqlName(it)}`, sql`${sqlName(first)}`))
}

/** Returns a command that asks the same server by hand. Without a statement, it lists the databases. */
export function psql(
  peer: Pick<Peer, 'host' | 'port'>,
  login: Pick<Login, 'user'>,
  database: string,
  ...statements: readonly SqlText[]
): ShellCommand {
  const asked = statements.length === 0 ? ['-l'] : statements.flatMap((it) => ['-c', it])
  return command`psql -h ${peer.host} -p ${peer.port} -U ${login.user} -d ${databaseWord(database)}
    ${nested(typed(asked))}`
}

/** Returns a source for a database that could not be opened: every method throws `reason`. */
export function closedDatabase(endpoint: DatabaseEndpoint, reason: unknown): DatabaseSource {
  const refuse = refusing(reason)
  return {
    ...placeOf(endpoint),
    identity: refuse,
    clock: refuse,
    changelogLocks: refuse,
    backends: refuse,
    operator: refuse,
    connections: refuse,
    temporarySpace: refuse,
    storage: refuse,
    select: refuse,
  }
}

/** Returns a control for a database that could not be opened: every method throws `reason`. */
export function closedControl(endpoint: DatabaseEndpoint, reason: unknown): DatabaseControl {
  const refuse = refusing(reason)
  return {
    ...placeOf(endpoint),
    releaseLock: refuse,
    hasCommitted: refuse,
    restoreLock: refuse,
    insertLockRow: refuse,
    deleteLockRow: refuse,
    removeOtherRows: refuse,
    restoreOtherRows: refuse,
  }
}

function refusing(reason: unknown): () => Promise<never> {
  return async () => {
    throw reason
  }
}

/** Names a database that did not open by the first of its hosts. */
function placeOf(endpoint: DatabaseEndpoint): Pick<DatabaseSource, 'target' | 'alsoAt'> {
  const [target = `/${endpoint.database}`] = targetsOf(endpoint)
  return { target, alsoAt: otherTargets(endpoint, target) }
}

function targetsOf({ hosts, database }: DatabaseEndpoint): string[] {
  return hosts.map(({ host, port }) => `${hostPort(host, port)}/${database}`)
}

/** Names the same database by the other hosts of its address. */
export function otherTargets(endpoint: DatabaseEndpoint, target: string): string[] {
  return targetsOf(endpoint).filter((other) => other !== target)
}
