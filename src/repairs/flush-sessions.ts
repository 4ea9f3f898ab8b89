import { judgeClocks, refuseIfClocksDisagree } from '../domain/clocks.ts'
import { counted, grouped } from '../core/format.ts'
import { tolerant } from '../domain/wanted.ts'
import { AdminError } from '../core/error.ts'
import type { Step } from '../core/plan.ts'
import { defineRepair } from '../core/repair.ts'
import type { SessionCensus, SessionSelection, SessionsSource } from '../core/sources.ts'
import { literally, sessionKeys } from '../knowledge/session-keys.ts'
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
    const none = `${sessions.target} holds no ${which === 'all' ? '' : 'matching '}session`
    return {
      target: { sessions: `${sessions.target}${version}${namespace === null ? '' : `, key space ${namespace}`}` },
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
    which === 'all'
      ? 'all sessions'
      : which === 'stale'
        ? 'the sessions that are not valid now'
        : `the sessions of ${which.user}`
  const how = flush ? '; empty the whole database at once if it holds nothing else' : ''
  return {
    title: `remove ${whose} in key space ${namespace} at ${target}${how}`,
    action: { kind: 'remove-sessions', store: target, namespace, which, flush, counts: { sessions, asOf } },
    interrupts: which !== 'stale',
    loses: 'those sessions and any unsaved work in them. There is no undo: their users must sign in again',
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
  const all = `${grouped(present)}${which === 'stale' ? `; ${grouped(sessions)} of them ${sessions === 1 ? 'is' : 'are'} not valid by the store's clock` : ''}`
  return [
    ...own,
    scan,
    all,
    command`${nested(client)} DBSIZE   # beside the sessions and their index: ${grouped(foreign)}`,
  ]
}

function notesOf({ all, stale }: FlushOptions): string[] {
  return [
    stale
      ? "sessions stay if they have begun and have not expired, by the store's own clock"
      : all
        ? 'anyone who signs in during this repair may have to sign in again'
        : 'anyone who signs in during this repair stays signed in: it removes only the sessions it counted',
    'the service keeps running',
  ]
}

function stay(foreign: number, namespace: string | null): string[] {
  if (foreign === 0) return []
  const isOne = foreign === 1
  const which =
    namespace === null
      ? isOne
        ? 'is not a session'
        : 'are not sessions'
      : `${isOne ? 'belongs' : 'belong'} to no session of key space ${namespace}`
  return [`${counted(foreign, 'key')} of this database ${which}, and ${isOne ? 'stays' : 'stay'}`]
}

function refuseWithoutIndex({ namespace }: SessionCensus, user: string): never {
  throw new AdminError(
    'UNAVAILABLE',
    `cannot find the sessions of ${user}: the service keeps no index of users in key space ${namespace}`,
    [
      'testops-admin flush-sessions -d {deployment}   # all sessions',
      'testops-admin flush-sessions --stale -d {deployment}',
    ],
  )
}

function rivals({ target }: SessionsSource, { rivals: several }: SessionCensus): AdminError {
  const shown = several.slice(0, 5).map(({ namespace, sessions }) => `${namespace} (${counted(sessions, 'session')})`)
  return new AdminError(
    'CONFIGURATION',
    `several key spaces at ${target} hold sessions: ${shown.join(', ')}. Name the service's key space`,
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
    `Redis at ${target} is a replica (role ${role}) and takes no writes. Name its master`,
    [
      command`${nested(client)} INFO replication   # master_host`,
      'name the master in the configuration: sessions.url, or sessions.sentinel',
    ],
  )
}
