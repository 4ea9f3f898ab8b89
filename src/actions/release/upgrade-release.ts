import { differing } from '../../core/differing.ts'
import type { HelmRun } from '../../core/controls.ts'
import { AdminError } from '../../core/error.ts'
import { refuseConflicts } from '../../core/field-conflicts.ts'
import type { ReleaseRevision, ReleaseSource } from '../../core/sources.ts'
import { hasAll } from '../../core/values.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import { giveUpFields } from '../owned-fields.ts'
import { untilUp } from './await-rollout.ts'
import { isPending, isUntouched, isWithin, noteHelm, nothingPut, settled, standingOf } from './standing.ts'
import type { Standing, Upgrade } from './standing.ts'
import { command, nested } from '../../core/shell-command.ts'

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
      `${release.target} is now at revision ${latest.revision}, with another chart or other values than this run left. Undo would lose those changes`,
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
      ? `the files would also change ${others.slice(0, 5).join(', ')}`
      : 'the files or the chart have changed since the plan was made'
  throw new AdminError('REFUSED', `${release.target} was not upgraded: ${what}`, [
    'testops-admin history -d {deployment}',
  ])
}
