import { setTimeout as sleep } from 'node:timers/promises'
import { counted, listed } from '../../core/format.ts'
import { doneState, nameOf, undoneStates, wordsFor, workingState } from '../../domain/migration-jobs.ts'
import { AdminError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'
import { isObject } from '../../core/shape.ts'
import type { ApiSource, MigrationJob } from '../../core/sources.ts'
import type { ActionHandler } from '../handler.ts'
import { command, nested } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import { own } from '../../core/lookup.ts'

/** Each look costs the service a page of its jobs */
const pollMs = 2000
/** The fewest looks within the patience */
const looksAtLeast = 10
const mostNamed = 5
/** The most jobs of one run: one for each tree, as far as is known */
const mostJobs = 500_000
const away: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['UNREACHABLE', 'TIMED_OUT', 'EXHAUSTED'])
const goesOn = 'The service accepted the calls, and continues unfinished jobs in the background'
const judge = 'testops-admin doctor -d {deployment} --only trees/migrated'

/** Only looks. Which job belongs to whom is not documented, so all newer jobs count. */
export const awaitMigration: ActionHandler<'await-migration'> = {
  failpoints: ['looked', 'over'],
  isDone: async () => false,
  standsAs: async () => 'untold',
  async perform({ counts: { newestJob } }, { open, signal, progress, moving, journal, failpoint, patienceMs }) {
    const api = await open.api()
    const end = performance.now() + patienceMs
    const pauseMs = Math.min(pollMs, patienceMs / looksAtLeast)
    let most = 0
    // a job may be created a moment after its call is accepted, so a look that finds none in progress is followed by a
    // look at all newer jobs
    let isThorough = false
    let over: readonly MigrationJob[]
    progress('waiting until the service has finished its migrations')
    for (;;) {
      const look: Look = await lookAt(api, newestJob, isThorough).catch(awayUntil(end))
      if ('unseen' in look) throw unseen(look.unseen)
      const working: readonly MigrationJob[] | undefined = look.jobs?.filter(
        ({ status }) => status !== doneState && !Object.hasOwn(undoneStates, status),
      )
      if (working) {
        most = Math.max(most, working.length)
        if (most > 0) moving({ done: most - working.length, total: most, unit: 'jobs' })
        if (isThorough && working.length === 0) {
          over = look.jobs ?? []
          break
        }
        isThorough = working.length === 0
        if (isThorough) await failpoint('looked')
      }
      if (signal.aborted)
        throw new AdminError(
          'INTERRUPTED',
          'interrupted while waiting for the migration jobs: these jobs keep running in the service',
        )
      if (working && working.length > 0 && performance.now() > end) throw unfinished(working, patienceMs)
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
    }
    const undone = over.filter(({ status }) => status !== doneState)
    if (undone.length > 0)
      await journal.note(
        JSON.stringify({ event: 'jobs-undone', states: byState(undone), words: wordsFor(undone) } satisfies JobsUndone),
      )
    await failpoint('over')
  },
  undo: null,
  shortfall(_, notes) {
    const last = notes.flatMap(undoneIn).at(-1)
    if (!last) return null
    return {
      message: last.states.map(told).join('; '),
      suggestions: [
        judge,
        ...(last.words === null
          ? []
          : [
              command`testops-admin migrate-trees -d {deployment} ${nested(typed(last.words.split(' ')))} --wait   # run
                this once the cause of the problem is gone`,
            ]),
      ],
    }
  },
}

/** `jobs` null: the service does not answer; `unseen`: why its jobs cannot be seen. */
type Look = { jobs: readonly MigrationJob[] | null } | { unseen: string }

/** Looks at all newer jobs if `isThorough`, else only at those in progress. */
async function lookAt(api: ApiSource, newestJob: number, isThorough: boolean): Promise<Look> {
  try {
    const found = await api.migrationJobs({
      status: isThorough ? null : workingState,
      newerThan: newestJob,
      atMost: mostJobs,
    })
    return found ? { jobs: found.jobs } : { unseen: 'the service no longer lists its migration jobs' }
  } catch (error) {
    if (error instanceof AdminError && error.code === 'FORBIDDEN')
      return { unseen: "the service does not show its migration jobs to this API token's user" }
    throw error
  }
}

/** Tolerates a service that does not answer, as during a restart, until `end`. */
function awayUntil(end: number): (error: unknown) => Look {
  return (error) => {
    if (error instanceof AdminError && away.has(error.code) && performance.now() < end) return { jobs: null }
    throw error
  }
}

function unseen(why: string): AdminError {
  return new AdminError(
    'INTERRUPTED',
    `${why}, so testops-admin cannot tell whether the jobs have finished. ${goesOn}`,
    [judge],
  )
}

function unfinished(working: readonly MigrationJob[], patienceMs: number): AdminError {
  const jobs = counted(working.length, 'migration job')
  const strange = [...new Set(working.map(({ status }) => status))].filter((status) => status !== workingState)
  const states = strange.length === 0 ? '' : ` (in an undocumented state: ${strange.join(', ')})`
  const are = working.length === 1 ? 'is' : 'are'
  return new AdminError(
    'INTERRUPTED',
    `${jobs}${states} ${are} not finished after ${Math.round(patienceMs / 1000)} s. ${goesOn}`,
    [judge],
  )
}

interface State {
  status: string
  count: number
  /** The first few, '… and 2 more' */
  names: string
}

interface JobsUndone {
  event: 'jobs-undone'
  states: readonly State[]
  /** Arguments for migrate-trees that name their trees; null: the jobs' names do not show them */
  words: string | null
}

function byState(jobs: readonly MigrationJob[]): State[] {
  return Object.keys(undoneStates).flatMap((status) => {
    const names = jobs.filter((job) => job.status === status).map(nameOf)
    return names.length === 0 ? [] : [{ status, count: names.length, names: listed(names, mostNamed, '; ') }]
  })
}

/** `2 migration jobs were cancelled: tree 1; tree 2` */
function told({ status, count, names }: State): string {
  const were = status === 'FAILED' ? '' : count === 1 ? 'was ' : 'were '
  return `${counted(count, 'migration job')} ${were}${own(undoneStates, status)}: ${names}`
}

function undoneIn(note: string): JobsUndone[] {
  try {
    const value: unknown = JSON.parse(note)
    return isObject(value) && value['event'] === 'jobs-undone' ? [value as unknown as JobsUndone] : []
  } catch {
    return []
  }
}
