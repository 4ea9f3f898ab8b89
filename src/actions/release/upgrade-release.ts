import { setTimeout as sleep } from 'node:timers/promises'
import type { ActionOf } from '../../core/action.ts'
import { refuseConflicts } from '../../core/by-others.ts'
import type { HelmRun } from '../../core/controls.ts'
import { AdminError } from '../../core/error.ts'
import { moment } from '../../core/format.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { ReleaseRevision, ReleaseSource } from '../../core/sources.ts'
import { differing, hasAll } from '../../core/values.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import { giveUpFields } from '../handler.ts'
import { untilUp } from './await-rollout.ts'

type Upgrade = ActionOf<'upgrade-release'>

/**
 * How a release stands relative to an upgrade: as before, as wanted, or different. Compares what is on record, not who
 * put it there: a killed helm leaves the same record.
 */
interface Standing {
  is: 'former' | 'wanted' | 'another'
  latest: ReleaseRevision
  /** The revision before the upgrade; null: no longer on record */
  former: ReleaseRevision | null
}

const pollMs = 1000

async function standingOf(action: Upgrade, release: ReleaseSource): Promise<Standing> {
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
async function settled(action: Upgrade, workshop: Workshop): Promise<Standing> {
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
    progress(`waiting for the helm operation on ${release.target} to end (${standing.latest.status})`)
    if (signal.aborted) throw new AdminError('INTERRUPTED', 'interrupted while waiting for the helm operation to end')
    await sleep(pollMs, undefined, { signal }).catch(() => undefined)
  }
}

/** True if an operation on the release is pending: helm refuses to work on it then (helm.sh/docs, "helm upgrade"). */
function isPending({ status }: Pick<ReleaseRevision, 'status'>): boolean {
  return status.startsWith('pending-')
}

const begun = 'helm '
/** Instead of a mark: the last helm put nothing on record */
const nothingPut = 'none'

/** Records the mark of a helm, so that a resumed run can tell whether it still runs. */
async function noteHelm({ journal }: Workshop, mark: string): Promise<void> {
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
function isUntouched({ is }: Standing, workshop: Workshop): boolean {
  const mark = lastMark(workshop)
  return is !== 'wanted' && (mark === null || mark === nothingPut)
}

/** True if all these paths belong to the upgrade. */
function isWithin(paths: readonly (readonly string[])[], { values }: Pick<Upgrade, 'values'>): boolean {
  const own = values.map(({ path }) => JSON.stringify(path))
  return paths.every((path) => own.includes(JSON.stringify(path)))
}

function isSameChart({ chart: one }: ReleaseRevision, { chart: other }: ReleaseRevision): boolean {
  return one.name === other.name && one.version === other.version
}

function changed({ latest: { revision, status, updatedAt }, former }: Standing, release: ReleaseSource): AdminError {
  const why =
    former === null
      ? 'helm no longer has the revision that the plan was made for'
      : `revision ${revision}, ${status} at ${moment(updatedAt)}, has a different chart or different values`
  return new AdminError('REFUSED', `somebody else has changed ${release.target} since the plan was made: ${why}`, [
    release.helm('history'),
  ])
}

function busy({ latest: { revision, status, updatedAt } }: Standing, release: ReleaseSource): AdminError {
  return new AdminError(
    'BUSY',
    `another helm operation is running on ${release.target}: ` +
      `revision ${revision} has been ${status} since ${moment(updatedAt)}`,
    [
      release.helm('history'),
      'testops-admin resume -d {deployment}   # once that operation has ended',
      command`${nested(release.helm('rollback'))}   # only if no helm process is still running: rolls back to the
        previous revision`,
    ],
  )
}

export const upgradeRelease: ActionHandler<'upgrade-release'> = {
  failpoints: ['cleared', 'upgraded'],
  async isDone(action, { open }) {
    const { is, latest } = await standingOf(action, await open.release())
    return is === 'wanted' && latest.status === 'deployed'
  },
  async perform(action, workshop) {
    const { control, failpoint } = workshop
    const { is, latest, former } = await settled(action, workshop)
    // a helm that outlived its process has finished the upgrade
    if (is === 'wanted' && latest.status === 'deployed') return
    // fields that this program wrote must not make helm fail
    await giveUpFields(workshop)
    // only a rollback clears what a killed helm left
    if (isPending(latest)) await rollBack(action, workshop)
    await failpoint('cleared')
    await refuseOtherFiles(action, former!, workshop)
    workshop.progress(`helm upgrades ${action.release}`)
    await (await control.release()).upgrade(action, runOf(workshop)).catch(async (error: unknown) => {
      if (error instanceof AdminError && error.code === 'BUSY') await noteHelm(workshop, nothingPut)
      throw error
    })
    await failpoint('upgraded')
  },
  async foresee(action, { open }) {
    const release = await open.release()
    refuseConflicts(release, await release.conflicts(action), 'upgrade')
  },
  async undo(action, workshop) {
    const release = await workshop.open.release()
    if (isUntouched(await standingOf(action, release), workshop)) return
    await giveUpFields(workshop)
    if (!isAsBefore(await settled(action, workshop))) await rollBack(action, workshop)
    if (action.wasRunning) await untilUp(workshop)
  },
  async foreseeUndo(action, workshop) {
    const release = await workshop.open.release()
    const standing = await standingOf(action, release)
    if (isUntouched(standing, workshop)) return
    if (standing.is !== 'another') {
      if (!isAsBefore(standing))
        refuseConflicts(release, await release.conflicts({ revision: action.revision }), 'rollback')
      return
    }
    const { latest } = standing
    throw new AdminError(
      'REFUSED',
      `${release.target} has changed since this run: revision ${latest.revision} has a different chart or ` +
        'different values. Undo would also revert those changes',
      [
        release.helm('history'),
        command`${nested(release.helm('rollback', String(action.revision)))}   # also reverts those changes`,
      ],
    )
  },
}

/** Rolls the release back with helm, which needs neither the chart nor the files and restores everything exactly. */
async function rollBack({ revision }: Upgrade, workshop: Workshop): Promise<void> {
  workshop.progress(`helm rolls back to revision ${revision}`)
  await (await workshop.control.release()).rollback(revision, runOf(workshop))
}

function isAsBefore({ is, latest }: Standing): boolean {
  return is === 'former' && latest.status === 'deployed'
}

function runOf(workshop: Workshop): HelmRun {
  return { timeoutMs: workshop.patienceMs, signal: workshop.signal, started: async (mark) => noteHelm(workshop, mark) }
}

/** Throws REFUSED if the files have changed since the plan was made, and the upgrade would change more than planned. */
async function refuseOtherFiles(action: Upgrade, former: ReleaseRevision, { open }: Workshop): Promise<void> {
  const release: ReleaseSource = await open.release()
  const { values, chart } = await release.trial(action)
  const paths = differing(former.values, values)
  if (chart.version === former.chart.version && hasAll(values, action.values) && isWithin(paths, action)) return
  const others = paths.filter((path) => !isWithin([path], action)).map((path) => path.join('.'))
  const what =
    others.length > 0
      ? `an upgrade with the current values files would also change ${others.slice(0, 5).join(', ')}`
      : 'the values files or the chart have changed since the plan was made'
  throw new AdminError('REFUSED', `${release.target} was not upgraded: ${what}`, [
    'testops-admin history -d {deployment}',
  ])
}
