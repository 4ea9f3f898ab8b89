import { setTimeout as sleep } from 'node:timers/promises'
import { counted } from '../../checks/support/format.ts'
import { AdminError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'
import { isObject } from '../../core/shape.ts'
import type { ActionHandler } from '../handler.ts'

/** each look costs the service a page of its jobs */
const pollMs = 2000
/** and such a part of the patience at most */
const looksAtLeast = 10
/** so many looks in a row that find nothing: a job may be made a moment after the call for it is accepted */
const emptyLooks = 2
const mostNamed = 5
const away: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['UNREACHABLE', 'TIMED_OUT', 'EXHAUSTED'])

/** Looks only. Which job is whose is not documented, so all that are newer count. */
export const awaitMigration: ActionHandler<'await-migration'> = {
  failpoints: ['looked', 'over'],
  isDone: async () => false,
  async perform({ counts: { newestJob } }, { open, signal, progress, moving, result, journal, failpoint, patienceMs }) {
    const api = await open.api()
    const end = performance.now() + patienceMs
    const pauseMs = Math.min(pollMs, patienceMs / looksAtLeast)
    let most = 0
    let empty = 0
    progress('waiting until the service has no migration in work')
    for (;;) {
      const working = await api.migrationJobsSince(newestJob, 'IN_PROGRESS').catch(awayUntil(end))
      if (working === null) return result('the service does not list its migration jobs any more: whether they are done is not known')
      if (working !== 'away') {
        most = Math.max(most, working.length)
        if (most > 0) moving({ done: most - working.length, total: most, unit: 'jobs' })
        empty = working.length === 0 ? empty + 1 : 0
        if (empty === 1) await failpoint('looked')
        if (empty === emptyLooks) break
      }
      if (signal.aborted) throw new AdminError('INTERRUPTED', 'interrupted while waiting for the migration jobs: the service goes on with them')
      if (performance.now() > end && empty === 0) {
        const jobs = counted(most, 'migration job')
        throw new AdminError('INTERRUPTED', `${jobs} ${most === 1 ? 'was' : 'were'} begun, and not all of them are over`, ['testops-admin doctor -d {deployment} --only trees/migrated'])
      }
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
    }
    const failed = (await api.migrationJobsSince(newestJob, 'FAILED')) ?? []
    if (failed.length > 0) await journal.note(JSON.stringify({ event: 'jobs-failed', count: failed.length, names: failed.slice(0, mostNamed).map(({ name }) => name) } satisfies JobsFailed))
    await failpoint('over')
  },
  undo: null,
  shortfall(_, notes) {
    const last = notes.flatMap(failedIn).at(-1)
    if (!last) return null
    const more = last.count > last.names.length ? ` and ${last.count - last.names.length} more` : ''
    return { message: `${counted(last.count, 'migration job')} failed: ${last.names.join(', ')}${more}`, suggestions: ['testops-admin doctor -d {deployment} --only trees/migrated'] }
  },
}

/** A service that restarts is waited for, too. */
function awayUntil(end: number): (error: unknown) => 'away' {
  return (error) => {
    if (error instanceof AdminError && away.has(error.code) && performance.now() < end) return 'away'
    throw error
  }
}

interface JobsFailed {
  event: 'jobs-failed'
  count: number
  /** the first few */
  names: readonly string[]
}

function failedIn(note: string): JobsFailed[] {
  try {
    const value: unknown = JSON.parse(note)
    return isObject(value) && value['event'] === 'jobs-failed' ? [value as unknown as JobsFailed] : []
  } catch {
    return []
  }
}
