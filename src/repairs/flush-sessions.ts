import { judgeClocks, refuseIfClocksDisagree } from '../domain/clocks.ts'
import { counted, grouped } from '../core/format.ts'
import { tolerant } from '../domain/wanted.ts'
import { AdminError } from '../core/error.ts'
import type { Step } from '../core/plan.ts'
import { defineRepair } from '../core/repair.ts'
import type { SessionCensus, SessionSelection, SessionsSource } from '../core/sources.ts'
import { literally, sessionKeys } from '../knowledge/sessions.ts'
import { command, nested, sentence } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'

export interface FlushOptions {
  /** True to empty the whole database at once, if it holds nothing but sessions */
  all: boolean
  stale: boolean
  user: string | null
}

export const flushSessions = defineRepair({
  id: 'flush-sessions',
  title: 'remove sessions',
  reads: ['sessions'],
  wants: ['database', 'api'],
  async plan({ sessions, database, api }, deployment, options: FlushOptions) {
    const which = whichOf(options)
    const identity = await tolerant(sessions.identity())
    if (identity?.loading) throw loading(sessions)
    if (identity && identity.role !== 'master') throw replica(sessions, identity.role)
    if (which === 'stale') refuseIfClocksDisagree(await judgeClocks({ database, sessions, api }, deployment))
    const census = await sessions.census({ namespace: null, which, asOf: null })
    if (census.rivals.length > 1) throw rivals(sessions, census)
    const { namespace, sessions: found, foreign } = census
    if (typeof which !== 'string' && !census.indexed && census.present > 0) refuseWithoutIndex(census, which.user)
    const version = identity ? `, Redis ${identity.version}` : ''
    const none = `${sessions.target} has no ${which === 'all' ? '' : 'matching '}sessions`
    return {
      target: { sessions: `${sessions.target}${version}${namespace === null ? '' : `, key prefix ${namespace}`}` },
      impact: impactOf(census, which),
      evidence: namespace === null ? [] : evidenceOf(sessions, census, which),
      notes: [...(found === 0 ? [none] : notesOf(options)), ...stay(foreign, namespace)],
      risks: [],
      steps: namespace === null || found === 0 ? [] : [stepOf(sessions, { ...census, namespace }, which, options.all)],
      verifiedBy: [typeof which === 'string' ? 'sessions/clock' : 'sessions/reachable'],
    }
  },
})

/** Throws USAGE if two flags were given, or if the user is empty. */
function whichOf({ all, stale, user }: FlushOptions): SessionSelection['which'] {
  const named: Suggestion[] = [
    ...(all ? ['--all'] : []),
    ...(stale ? ['--stale'] : []),
    ...(user === null ? [] : ['--user']),
  ]
  if (named.length > 1) throw new AdminError('USAGE', `${named.join(' and ')} cannot be combined`, named)
  if (user === '') throw new AdminError('USAGE', '--user is empty', ['--user NAME'])
  return stale ? 'stale' : user === null ? 'all' : { user }
}

function stepOf(
  { target }: SessionsSource,
  { namespace, sessions, asOf }: SessionCensus & { namespace: string },
  which: SessionSelection['which'],
  flush: boolean,
): Step {
  const whose =
    which === 'all' ? 'all sessions' : which === 'stale' ? 'the stale sessions' : `the sessions of ${which.user}`
  const how = flush ? ', with FLUSHDB if the database contains only sessions' : ''
  return {
    title: `remove ${whose} with key prefix ${namespace} at ${target}${how}`,
    action: { kind: 'remove-sessions', store: target, namespace, which, flush, counts: { sessions, asOf } },
    interrupts: which !== 'stale',
    loses: 'these sessions and any unsaved work in them. Their users must sign in again. This cannot be undone',
  }
}

function impactOf({ sessions, users }: SessionCensus, which: SessionSelection['which']): Record<string, number> {
  if (which === 'stale') return { sessionsRemoved: sessions }
  if (typeof which !== 'string') return { sessionsRemoved: sessions, usersSignedOut: sessions > 0 ? 1 : 0 }
  return { sessionsRemoved: sessions, ...(users === null ? { usersAtMost: sessions } : { usersSignedOut: users }) }
}

function evidenceOf(
  { client }: SessionsSource,
  { namespace, sessions, present, foreign }: SessionCensus,
  which: SessionSelection['which'],
): string[] {
  const scan = command`${nested(client)} --scan --pattern ${`${literally(namespace!)}:sessions:*`} --type hash | wc -l`
  const own =
    typeof which === 'string'
      ? []
      : [command`${nested(client)} SCARD ${sessionKeys.userIndex(namespace!, which.user)}`, grouped(sessions)]
  const stale = `; by the store's clock, ${counted(sessions, 'session')} ${sessions === 1 ? 'is' : 'are'} stale`
  const all = `${grouped(present)}${which === 'stale' ? stale : ''}`
  return [
    ...own,
    scan,
    all,
    command`${nested(client)} DBSIZE   # counts all keys. Keys that do not belong to the sessions:
      ${grouped(foreign)}`,
  ]
}

function notesOf({ all, stale }: FlushOptions): string[] {
  return [
    stale
      ? 'a session is stale if it has expired, is dated in the future, or has no creation time. The repair ' +
        "goes by the session store's clock"
      : all
        ? 'users who sign in during this repair may have to sign in again'
        : 'users who sign in during this repair stay signed in: the repair removes only the sessions that it counted',
    'the service keeps running',
  ]
}

function stay(foreign: number, namespace: string | null): string[] {
  if (foreign === 0) return []
  const which =
    namespace === null
      ? foreign === 1
        ? 'is not a session'
        : 'are not sessions'
      : `${foreign === 1 ? 'does' : 'do'} not belong to the sessions with key prefix ${namespace}`
  return [`${counted(foreign, 'key')} in this database ${which}. The repair keeps ${foreign === 1 ? 'it' : 'them'}`]
}

function refuseWithoutIndex({ namespace }: SessionCensus, user: string): never {
  throw new AdminError(
    'UNAVAILABLE',
    `cannot find the sessions of ${user}: the sessions with key prefix ${namespace} have no index by user`,
    [
      'testops-admin flush-sessions -d {deployment}   # removes all sessions',
      'testops-admin flush-sessions --stale -d {deployment}',
    ],
  )
}

function rivals({ target }: SessionsSource, { rivals: several }: SessionCensus): AdminError {
  const shown = several.slice(0, 5).map(({ namespace, sessions }) => `${namespace} (${counted(sessions, 'session')})`)
  return new AdminError(
    'CONFIGURATION',
    `${target} has sessions under several key prefixes: ${shown.join(', ')}. Set the service's key prefix in the ` +
      'configuration',
    [
      ...several
        .slice(0, 5)
        .map(({ namespace }) => sentence`in the configuration: sessions: {namespace: ${namespace}}`),
    ],
  )
}

function loading({ target, client }: SessionsSource): AdminError {
  return new AdminError('UNREACHABLE', `Redis at ${target} is still loading its data`, [
    command`${nested(client)} INFO persistence`,
    'testops-admin doctor -d {deployment} --only sessions/reachable --wait',
  ])
}

function replica({ target, client }: SessionsSource, role: string): AdminError {
  return new AdminError(
    'REFUSED',
    `Redis at ${target} has role ${role} and accepts no writes. Set the address of its master in the configuration`,
    [
      command`${nested(client)} INFO replication   # shows the master as master_host`,
      'in the configuration, set `sessions.url` to the address of the master, or set `sessions.sentinel`',
    ],
  )
}
