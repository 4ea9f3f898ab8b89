import type { ApiSource, MigrationJob } from '../core/sources.ts'
import { counted, firstLine, grouped } from '../core/format.ts'
import type { ShellCommand } from '../core/shell-command.ts'
import { typed } from '../core/typed.ts'

/** Maximum number of jobs read: of all states together, of each state that is not done, and of those done. */
const mostOfAll = 500
const mostUndone = 1000
export const mostDone = 5000

export interface SeenJobs {
  /** Newest first */
  jobs: readonly MigrationJob[]
  /** States with more jobs than were read, which may change the result; null if all were read */
  cut: readonly string[] | null
}

/**
 * Reads the jobs that show what was not done: a few pages if there are few jobs. Otherwise reads jobs that are not done
 * by their state, and done ones if one of them might have repeated an undone one. Null if the service does not list
 * jobs.
 */
export async function seenJobs(api: ApiSource): Promise<SeenJobs | null> {
  const newest = await api.migrationJobs({ status: null, atMost: mostOfAll })
  if (newest === null) return null
  if (newest.complete) return { jobs: newest.jobs, cut: null }
  const byId = new Map(newest.jobs.map((job) => [job.id, job]))
  const cut: string[] = []
  /** Reads the jobs of a state; returns the id back to which they were read, 0 if all were */
  const add = async (status: string, atMost: number): Promise<number> => {
    const sample = await api.migrationJobs({ status, atMost })
    for (const job of sample?.jobs ?? []) byId.set(job.id, job)
    return sample?.complete === false ? (sample.jobs.at(-1)?.id ?? 0) : 0
  }
  for (const status of [...Object.keys(undoneStates), workingState])
    if ((await add(status, mostUndone)) > 0) cut.push(status)
  const undone = [...byId.values()].flatMap(({ id, status }) => (status in undoneStates ? id : []))
  // only a newer job can have repeated an older one
  if (undone.length > 0 && (await add(doneState, mostDone)) > Math.min(...undone)) cut.push(doneState)
  return { jobs: [...byId.values()].sort((a, b) => b.id - a.id), cut }
}

/** What became of a job that did not finish, by the service's name for its state (FIELD-NOTES.md 7). */
export const undoneStates: Readonly<Record<string, string>> = {
  FAILED: 'failed',
  STOPPED: 'stopped',
  CANCELLED: 'cancelled',
}
export const workingState = 'IN_PROGRESS'
export const doneState = 'COMPLETED'

/** Returns the latest job of each name: its state counts. Which jobs move trees is not documented, so all count. */
export function latestOfEach(jobs: readonly MigrationJob[]): MigrationJob[] {
  const latest = new Map<string, MigrationJob>()
  for (const job of [...jobs].sort((a, b) => timeOf(b) - timeOf(a) || b.id - a.id))
    if (!latest.has(nameOf(job))) latest.set(nameOf(job), job)
  return [...latest.values()]
}

function timeOf({ createdAt }: MigrationJob): number {
  return createdAt?.getTime() ?? 0
}

export function nameOf({ id, name }: MigrationJob): string {
  return name.trim() === '' ? `job ${id}` : firstLine(name.trim(), 100)
}

/** Counts jobs by state, as the service names it: `5 migration jobs: 4 COMPLETED, 1 IN_PROGRESS`. */
export function statesOf(jobs: readonly MigrationJob[]): string {
  const counts = new Map<string, number>()
  for (const { status } of jobs)
    counts.set(status || 'without a state', (counts.get(status || 'without a state') ?? 0) + 1)
  return (
    `${counted(jobs.length, 'migration job')}: ` +
    `${[...counts].map(([status, count]) => `${grouped(count)} ${status}`).join(', ')}`
  )
}

/**
 * Returns the flags of `migrate-trees` for what these jobs were about; null if not all of their names say it, or if
 * there are too many. The form of names is not documented: `project 1, tree 2` is understood.
 */
export function wordsFor(jobs: readonly MigrationJob[]): ShellCommand | null {
  const items = jobs.map(({ name }) => ({
    project: numberOf(/\bproject(?:[ _-]?id)?[ :#=]{1,3}(\d{1,15})\b/i, name),
    tree: numberOf(/\btree(?:[ _-]?id)?[ :#=]{1,3}(\d{1,15})\b/i, name),
  }))
  if (items.some(({ project }) => project === null)) return null
  const trees = items.filter(({ tree }) => tree !== null).map(({ project, tree }) => `${project}/${tree}`)
  const projects = unique(items.filter(({ tree }) => tree === null).map(({ project }) => project))
  if (projects.length + trees.length <= mostWords)
    return typed([...flag('--project', projects), ...flag('--tree', trees.sort())])
  const all = unique(items.map(({ project }) => project))
  return all.length <= mostWords ? typed(flag('--project', all)) : null
}

const mostWords = 20

function numberOf(pattern: RegExp, name: string): number | null {
  const [, digits] = pattern.exec(name) ?? []
  return digits === undefined ? null : Number(digits)
}

function unique(numbers: readonly (number | null)[]): string[] {
  return [...new Set(numbers)].sort((a, b) => Number(a) - Number(b)).map(String)
}

function flag(name: string, words: readonly string[]): string[] {
  return words.length === 0 ? [] : [name, ...words]
}
