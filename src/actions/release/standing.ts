import { setTimeout as sleep } from 'node:timers/promises'
import type { ActionOf } from '../../core/action.ts'
import { differing } from '../../core/differing.ts'
import { AdminError } from '../../core/error.ts'
import type { ReleaseRevision, ReleaseSource } from '../../core/sources.ts'
import { hasAll } from '../../core/values.ts'
import type { Workshop } from '../handler.ts'
import { command, nested } from '../../core/shell-command.ts'

export type Upgrade = ActionOf<'upgrade-release'>

/**
 * How a release stands relative to an upgrade: as before, as wanted, or different. Compares what is on record, not who
 * put it there: a killed helm leaves the same record.
 */
export interface Standing {
  is: 'former' | 'wanted' | 'another'
  latest: ReleaseRevision
  /** The revision before the upgrade; null: no longer on record */
  former: ReleaseRevision | null
}

const pollMs = 1000

export async function standingOf(action: Upgrade, release: ReleaseSource): Promise<Standing> {
  const latest = await release.latest()
  const former = latest.revision === action.revision ? latest : await release.revision(action.revision)
  if (former === null || !isSameChart(latest, former)) return { is: 'another', latest, former }
  const changed = differing(former.values, latest.values)
  if (changed.length === 0 && !hasAll(former.values, action.values)) return { is: 'former', latest, former }
  return {
    is: hasAll(latest.values, action.values) && isWithin(changed, action) ? 'wanted' : 'another',
    latest,
    former,
  }
}

/**
 * The standing once no helm works on the release. A killed helm of this run leaves its revision pending, so it is
 * waited for only while it may still run. Throws REFUSED if the release has changed, BUSY if another helm does not end
 * in time, INTERRUPTED.
 */
export async function settled(action: Upgrade, workshop: Workshop): Promise<Standing> {
  const { open, patienceMs, signal, progress } = workshop
  const release = await open.release()
  const end = performance.now() + patienceMs
  for (;;) {
    const standing = await standingOf(action, release)
    if (standing.is === 'another') throw changed(standing, release)
    if (!isPending(standing.latest)) return standing
    const isLeft = await isLeftBehind(standing, workshop)
    if (isLeft === true) return standing
    if (performance.now() > end) {
      if (isLeft === null) return standing
      throw busy(standing, release)
    }
    progress(`${release.target} is ${standing.latest.status}: waiting for that helm operation to end`)
    if (signal.aborted) throw new AdminError('INTERRUPTED', 'interrupted while waiting for helm to end')
    await sleep(pollMs, undefined, { signal }).catch(() => undefined)
  }
}

/** True if an operation on the release is pending: helm refuses to work on it then (helm.sh/docs, "helm upgrade"). */
export function isPending({ status }: Pick<ReleaseRevision, 'status'>): boolean {
  return status.startsWith('pending-')
}

const begun = 'helm '
/** Instead of a mark: the last helm put nothing on record */
export const nothingPut = 'none'

/** Records the mark of a helm, so that a resumed run can tell whether it still runs. */
export async function noteHelm({ journal }: Workshop, mark: string): Promise<void> {
  await journal.note(`${begun}${mark}`)
}

/** The mark of the last helm that this run began; null: none known. */
function lastMark({ journal }: Workshop): string | null {
  return (
    journal
      .ofRun()
      .findLast((note) => note.startsWith(begun))
      ?.slice(begun.length) ?? null
  )
}

/**
 * True if a helm of this run that is gone left the pending revision; null: cannot tell. Others must end what they
 * began, even if the record would be the same.
 */
async function isLeftBehind({ is }: Standing, workshop: Workshop): Promise<boolean | null> {
  const mark = lastMark(workshop)
  // a killed process may not have recorded its helm; only a pending revision with the wanted values can be that helm's
  if (mark === null) return is === 'wanted' ? null : false
  if (mark === nothingPut) return false
  const isRunning = await (await workshop.control.release()).isRunning(mark)
  return isRunning === null ? null : !isRunning
}

/** True if nothing on record comes from this run: the release is as before, or somebody else changed it. */
export function isUntouched({ is }: Standing, workshop: Workshop): boolean {
  const mark = lastMark(workshop)
  return is !== 'wanted' && (mark === null || mark === nothingPut)
}

/** True if all these paths belong to the upgrade. */
export function isWithin(paths: readonly (readonly string[])[], { values }: Pick<Upgrade, 'values'>): boolean {
  const own = values.map(({ path }) => JSON.stringify(path))
  return paths.every((path) => own.includes(JSON.stringify(path)))
}

function isSameChart({ chart: one }: ReleaseRevision, { chart: other }: ReleaseRevision): boolean {
  return one.name === other.name && one.version === other.version
}

function changed({ latest: { revision, status, updatedAt }, former }: Standing, release: ReleaseSource): AdminError {
  const why =
    former === null
      ? 'its revision at that time is no longer on record'
      : `it is now at revision ${revision} (${status}, ${updatedAt}), with another chart or other values`
  return new AdminError('REFUSED', `somebody else has changed ${release.target} since the plan was made: ${why}`, [
    release.helm('history'),
  ])
}

function busy({ latest: { revision, status, updatedAt } }: Standing, release: ReleaseSource): AdminError {
  return new AdminError(
    'BUSY',
    `another helm operation is running on ${release.target}: revision ${revision} has been ${status} since ${updatedAt}`,
    [
      release.helm('history'),
      'testops-admin resume -d {deployment}   # once it has ended',
      command`${nested(release.helm('rollback'))}   # only if no helm is still running: rolls back to the previous revision`,
    ],
  )
}
