import { currentTime } from '../../core/local-time.ts'
import { defineCheck } from '../../core/check.ts'
import type { Finding, Outcome, Remedy } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import type { MigrationJob } from '../../core/sources.ts'
import { migratesTrees, parseBuild, treeMigration } from '../../knowledge/builds.ts'
import { byHand } from '../../domain/by-hand.ts'
import { curlAsUser } from '../../domain/evidence.ts'
import { counted, grouped, listed, moment, span } from '../../core/format.ts'
import {
  doneState,
  latestOfEach,
  mostDone,
  nameOf,
  seenJobs,
  statesOf,
  undoneStates,
  wordsFor,
  workingState,
} from '../../domain/migration-jobs.ts'
import type { SeenJobs } from '../../domain/migration-jobs.ts'
import { tolerant } from '../../domain/wanted.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { own } from '../../core/lookup.ts'

/** Milliseconds without progress after which a job hangs. */
const hangsAfterMs = 3_600_000
const mostNamed = 5

const migrate = 'testops-admin migrate-trees -d {deployment} --all-projects'
const byEye = `if a tree looks wrong, run \`${migrate}\``

export const treesMigrated = defineCheck({
  id: 'trees/migrated',
  title: 'trees have their new structure',
  reads: ['service', 'api'],
  async run({ service, api }): Promise<Outcome> {
    const image = await service.image()
    const declared = image.build ?? image.tag
    const build = declared === null ? null : parseBuild(declared)
    if (!build)
      return {
        status: 'skipped',
        reason:
          `the build is unknown, so it is unknown whether it migrates trees: only versions ${treeMigration.first} to ` +
          `${treeMigration.last} do`,
      }
    if (!migratesTrees(build)) {
      return {
        status: 'skipped',
        reason:
          `build ${build.label} does not migrate trees: only versions ${treeMigration.first} to ` +
          `${treeMigration.last} do`,
      }
    }
    const seen = await seenJobs(api).catch(notShown)
    if (seen instanceof AdminError) return { status: 'skipped', reason: `${seen.message}; ${byEye}` }
    if (seen === null) return { status: 'skipped', reason: `the service does not list its migration jobs; ${byEye}` }
    const latest = latestOfEach(seen.jobs)
    if (latest.length === 0) return { status: 'skipped', reason: `the service lists no migration jobs; ${byEye}` }
    const clock = await tolerant(api.clock())
    const now = currentTime() + (clock?.offsetMs ?? 0)
    const hanging = latest.filter((job) => job.status === workingState && idleMs(job, now) > hangsAfterMs)
    const groups = [
      ...Object.keys(undoneStates).map((status) => latest.filter((job) => job.status === status)),
      hanging,
    ].filter((group) => group.length > 0)
    const [first, ...others] = groups.map((group) => findingFor(group, seen, now, api.target))
    if (first) {
      const words = seen.cut === null || seen.cut.length === 0 ? wordsFor(groups.flat()) : null
      return {
        status: 'problem',
        severity: 'warning',
        findings: [first, ...others],
        remedy: remedyFor(words, hasFailedAgain(seen.jobs)),
      }
    }
    const told = `${statesOf(latest)}${seen.cut === null ? '' : ' (not all jobs were read)'}`
    if (!latest.some(({ status }) => status === doneState || status === workingState))
      return {
        status: 'skipped',
        reason: `the service lists ${told}. This does not show whether the trees are migrated; ${byEye}`,
      }
    return { status: 'ok', detail: `${told}; the newest: ${describe(latest[0]!)}` }
  },
})

/**
 * Returns the error for jobs that this user may not see, which says nothing about the trees. Throws any other error.
 */
function notShown(error: unknown): AdminError {
  if (error instanceof AdminError && error.code === 'FORBIDDEN') return error
  throw error
}

function idleMs({ modifiedAt, createdAt }: MigrationJob, now: number): number {
  const moved = modifiedAt ?? createdAt
  return moved === null ? 0 : now - moved.getTime()
}

/** Returns one finding for all jobs in a state, newest first. */
function findingFor(jobs: readonly MigrationJob[], { cut }: SeenJobs, now: number, base: string): Finding {
  const { status } = jobs[0]!
  const many = jobs.length > 1
  const least = cut?.includes(status) === true ? 'at least ' : ''
  const became =
    own(
      {
        FAILED: many ? 'have failed' : 'has failed',
        [workingState]:
          `${many ? 'are' : 'is'} unfinished, without progress for ` +
          `${many ? 'up to ' : ''}${span(Math.max(...jobs.map((job) => idleMs(job, now))))}`,
      },
      status,
    ) ?? `${many ? 'were' : 'was'} ${own(undoneStates, status)} and did not run again`
  return {
    message: `${least}${counted(jobs.length, 'migration job')} ${became}: ${listed(jobs.map(nameOf), mostNamed, '; ')}`,
    evidence: [
      curlAsUser(base, `/api/migration/job?status=${encodeURIComponent(status)}&page=0&size=100&sort=id,DESC`),
      ...jobs.slice(0, mostNamed).map(describe),
      ...(jobs.length > mostNamed ? [`and ${grouped(jobs.length - mostNamed)} more`] : []),
      ...(cut?.includes(doneState) === true
        ? [
            `only the newest ${grouped(mostDone)} ${doneState} jobs were read: one that was not read may already ` +
              'have repeated one of the jobs above successfully',
          ]
        : []),
    ],
  }
}

/** True if the last two tries of a job failed, so that one more is no way out. `jobs` must be newest first. */
function hasFailedAgain(jobs: readonly MigrationJob[]): boolean {
  const last = new Map<string, string[]>()
  for (const job of jobs) {
    const name = nameOf(job)
    const states = last.get(name) ?? []
    if (states.length < 2) last.set(name, [...states, job.status])
  }
  return [...last.values()].some((states) => states.length === 2 && states.every((state) => state === 'FAILED'))
}

function remedyFor(words: Suggestion | null, isRepeated: boolean): Remedy {
  const trees = words === null ? 'the trees' : 'these trees'
  const rebuild =
    words === null
      ? command`${nested(migrate)} --wait`
      : command`testops-admin migrate-trees -d {deployment} ${nested(words)} --wait`
  if (isRepeated)
    return {
      text:
        "A migration failed more than once. Find the cause in the service's log and fix it. Then let the service " +
        `rebuild ${trees}.`,
      commands: ['{logs}', rebuild, byHand('trees/migrated')],
    }
  return {
    text: `Let the service rebuild ${trees}. If the rebuild fails again, the service's log says why.`,
    commands: [rebuild, '{logs}', byHand('trees/migrated')],
  }
}

function describe({ id, name, status, modifiedAt, createdAt }: MigrationJob): string {
  const at = modifiedAt ?? createdAt
  return `job ${id} ${name}: ${status}${at ? ` at ${moment(at)}` : ''}`
}
