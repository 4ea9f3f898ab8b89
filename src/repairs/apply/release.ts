import { listed } from '../../core/format.ts'
import type { Surroundings } from './surroundings.ts'
import { differing } from '../../core/differing.ts'
import { AdminError } from '../../core/error.ts'
import { refuseConflicts } from '../../core/field-conflicts.ts'
import type { Risk, Step } from '../../core/plan.ts'
import type { Repair } from '../../core/repair.ts'
import type { ReleaseRevision, ReleaseSource, ReleaseUpgrade, ServiceSource, Values } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import { hasAll, textAt } from '../../core/values.ts'
import type { WantedValue } from '../../core/values.ts'
import { rolloutRisks } from '../rollout-risks.ts'
import { lookAtService } from '../service/look.ts'
import { needed } from './surroundings.ts'
import { asPath, command, nested } from '../../core/shell-command.ts'

type Draft = Awaited<ReturnType<Repair['plan']>>

/** What helm needs for --apply beside the files. `chartVersion`: null means the installed version. */
export interface ChartOptions {
  chart: string
  chartVersion: string | null
}

/**
 * Adds to the edit of values files the upgrade of their release. `wanted`: all values to set, even if the files already
 * have them. Throws REFUSED if the release was not made from these files or is not in status `deployed`.
 */
export async function withUpgrade(
  draft: Draft,
  wanted: readonly WantedValue[],
  files: readonly string[],
  { chart, chartVersion }: ChartOptions,
  around: Surroundings,
): Promise<Draft> {
  const [release, service] = [needed(around.sources.release), needed(around.sources.service)]
  const [latest, seen] = await Promise.all([
    release.latest(),
    lookAtService({ ...around.sources, service }, around.deployment),
  ])
  refuseUnlessDeployed(latest, release)
  refuseOtherVersion(latest, chartVersion, release)
  const upgrade: ReleaseUpgrade = { chart, chartVersion: latest.chart.version, files }
  const trial = await release.trial(upgrade)
  refuseOtherChart(latest, trial, chart, release)
  refuseOtherValues(latest.values, trial.values, wanted, files, release)
  const values = wanted.filter((it) => !hasAll(latest.values, [it])).map(({ path, to }): WantedValue => ({ path, to }))
  const isUp = seen.status.state === 'running'
  const evidence = [
    release.helm('history'),
    `revision ${latest.revision}, ${latest.status}, chart ${latest.chart.name} ${latest.chart.version}; its values are those of the files`,
  ]
  const target = {
    ...draft.target,
    release: `${release.target}, chart ${latest.chart.name} ${latest.chart.version}`,
    service: seen.target,
  }
  if (values.length === 0) {
    const notes =
      draft.steps.length === 0
        ? draft.notes
        : [...draft.notes, 'the release already has the change: only the file is edited to match']
    return { ...draft, target, notes, evidence: [...draft.evidence, ...evidence] }
  }
  refuseConflicts(release, await release.conflicts({ ...upgrade, values }), 'upgrade')
  const steps: Step[] = [
    ...draft.steps,
    {
      title: `use helm to upgrade ${release.target} with chart ${chart} ${upgrade.chartVersion} and ${files.join(', ')}`,
      action: {
        kind: 'upgrade-release',
        release: release.target,
        revision: latest.revision,
        ...upgrade,
        values,
        wasRunning: isUp && seen.status.isRollingOut !== true,
      },
      interrupts: isUp,
    },
    {
      title: 'wait until all pods are new and ready, and the service answers',
      action: { kind: 'await-rollout' },
      interrupts: false,
    },
  ]
  return {
    ...draft,
    target,
    impact: { ...draft.impact, releaseUpgrades: 1 },
    evidence: [...draft.evidence, ...evidence],
    notes: [
      ...draft.notes,
      ...seen.notes,
      ...(seen.status.state === 'stopped'
        ? ['the service is stopped: helm starts it, with as many replicas as the chart says']
        : []),
    ],
    risks: [
      ...draft.risks,
      ...seen.risks.filter(({ name }) => name !== 'controller' && name !== 'stuck-rollout'),
      ...seen.startRisks,
      ...(await rolloutRisks(service, { mends: ['unready', 'image'], stops: false })),
      ...(await keepers(service, files)),
    ],
    steps,
    verifiedBy: ['service/running', 'api/reachable'],
  }
}

/** Returns the risk that a controller reverts what helm changes; the file then belongs in its repository. */
async function keepers(service: ServiceSource, files: readonly string[]): Promise<Risk[]> {
  const atWork = (await service.controllers()).filter(({ paused }) => paused !== true)
  if (atWork.length === 0) return []
  const names = atWork.map(({ name }) => name).join(' and ')
  return [
    {
      name: 'controller',
      message: `${names} may revert what helm changes. If a repository keeps the release, commit the file there instead of applying it. To edit only the file, leave out --apply.`,
      proof: [typed(['git', 'commit', ...files.map(asPath)]), ...atWork.flatMap(({ pause }) => pause)],
    },
  ]
}

function refuseUnlessDeployed(
  { status, revision, updatedAt, description }: ReleaseRevision,
  release: ReleaseSource,
): void {
  if (status === 'deployed') return
  const history = release.helm('history')
  const back = command`${nested(release.helm('rollback'))}   # to the previous revision; or name one`
  if (status.startsWith('pending-')) {
    throw new AdminError(
      'REFUSED',
      `${release.target} has been ${status} since ${updatedAt} (revision ${revision}): another helm operation is running on it or was killed. Nothing was changed`,
      [history, command`${nested(back)}. Only if no helm is still running`],
    )
  }
  const why =
    status === 'failed'
      ? `the last change of ${release.target} failed (revision ${revision}: ${description.slice(0, 200)})`
      : `${release.target} is ${status} (revision ${revision})`
  throw new AdminError('REFUSED', `${why}. Fix that first. Nothing was changed`, [history, back])
}

function refuseOtherVersion({ chart }: ReleaseRevision, asked: string | null, { target }: ReleaseSource): void {
  if (asked === null || asked === chart.version) return
  throw new AdminError(
    'REFUSED',
    `${target} is installed with ${chart.name} ${chart.version}, but ${asked} was requested. The chart cannot change along with its values. Nothing was changed`,
    [command`--chart-version ${chart.version}, or kubernetes.chartVersion in the configuration`],
  )
}

/** Throws REFUSED if the chart is not the installed one: a chart folder has a version of its own. */
function refuseOtherChart(
  { chart: installed }: ReleaseRevision,
  { chart: found }: Pick<ReleaseRevision, 'chart'>,
  named: string,
  { target }: ReleaseSource,
): void {
  if (found.name === installed.name && found.version === installed.version) return
  throw new AdminError(
    'REFUSED',
    `${named} is chart ${found.name} ${found.version}, but ${target} is installed with ${installed.name} ${installed.version}. The chart cannot change along with its values. Nothing was changed`,
    ['--chart CHART   # where that version is: a folder, an archive, REPOSITORY/NAME or an address', 'helm repo list'],
  )
}

/** Throws REFUSED with the paths but never the values: they may be secrets. */
function refuseOtherValues(
  installed: Values,
  ofFiles: Values,
  wanted: readonly WantedValue[],
  files: readonly string[],
  release: ReleaseSource,
): void {
  const own = wanted
    .filter((it) => hasAll(installed, [it]) || hasAll(ofFiles, [it]))
    .map(({ path }) => JSON.stringify(path))
  const others = differing(installed, ofFiles).filter((path) => !own.includes(JSON.stringify(path)))
  if (others.length === 0) return
  const how = (path: readonly string[]): string => {
    const [there, here] = [textAt(installed, path), textAt(ofFiles, path)]
    return `${path.join('.')} (${here === null ? 'only in the release' : there === null ? 'only in the files' : 'another value'})`
  }
  throw new AdminError(
    'REFUSED',
    `${release.target} has other values than ${files.join(', ')}: ${listed(others.map(how), 10)}. Somebody used --set or another file. With these files, helm would change those values too. Nothing was changed`,
    [
      command`${nested(release.helm('get values'))}   # shows secrets too`,
      "copy the release's values into the files, or name all of its files in their order: --values FILE --values FILE",
    ],
  )
}
