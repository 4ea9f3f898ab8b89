import { refuseConflicts } from '../../core/by-others.ts'
import type { Wanted } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import { listed, moment } from '../../core/format.ts'
import type { Risk, Step } from '../../core/plan.ts'
import type { Repair } from '../../core/repair.ts'
import { asPath, command, nested, sentence } from '../../core/shell-command.ts'
import type {
  ReleaseRevision,
  ReleaseSource,
  ReleaseUpgrade,
  ServiceSource,
  SourceName,
  Sources,
  Values,
} from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import type { WantedValue } from '../../core/values.ts'
import { differing, hasAll, textAt } from '../../core/values.ts'
import { rolloutRisks, lookAtService } from '../service-steps.ts'

/** Sources read before an edit is applied; an edit of a file alone needs none of them. */
export const applyReads = [
  'release',
  'service',
  'database',
  'broker',
  'logs',
  'api',
] as const satisfies readonly SourceName[]

/** The deployment whose files are edited, and its sources. */
export interface Surroundings {
  sources: { [K in (typeof applyReads)[number]]: Wanted<Sources[K]> }
  deployment: Deployment
}

/** Sets the chart's version to the installed one if none is named. Throws as the release does. */
export async function installedChart<C extends { chart: string; chartVersion: string | null }>(
  chart: C,
  { sources }: Surroundings,
): Promise<C> {
  return { ...chart, chartVersion: chart.chartVersion ?? (await needed(sources.release).latest()).chart.version }
}

/** Returns the source; throws why it cannot be opened. */
export function needed<T>(source: Wanted<T>): T {
  if (source instanceof AdminError) throw source
  return source
}

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
    `revision ${latest.revision}, ${latest.status}, chart ${latest.chart.name} ${latest.chart.version}; the ` +
      "release's values match the files",
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
        : [...draft.notes, 'the release already has the change, so the repair edits only the file']
    return { ...draft, target, notes, evidence: [...draft.evidence, ...evidence] }
  }
  refuseConflicts(release, await release.conflicts({ ...upgrade, values }), 'upgrade')
  const steps: Step[] = [
    ...draft.steps,
    {
      title:
        `use helm to upgrade ${release.target} with chart ${chart} ${upgrade.chartVersion} ` +
        `and ${files.join(', ')}`,
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
      title: 'wait until new, ready pods have replaced all old pods, and the service answers',
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
        ? ['the service is stopped. The upgrade starts it with the number of replicas that the chart sets']
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
      message:
        `${names} may revert what helm changes. If the release is kept in a Git repository, commit the file there ` +
        'instead of applying it here. To edit only the file, leave out `--apply`.',
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
  const back = command`${nested(release.helm('rollback'))}   # rolls back to the previous revision, or to the
    revision number that you add`
  if (status.startsWith('pending-')) {
    throw new AdminError(
      'REFUSED',
      `${release.target} has been ${status} since ${moment(updatedAt)} (revision ${revision}): another helm ` +
        'operation is running, or was killed. Nothing was changed',
      [history, command`${nested(back)}; only if no helm process is running`],
    )
  }
  const why =
    status === 'failed'
      ? `the last change to ${release.target} failed (revision ${revision}: ${description.slice(0, 200)})`
      : `${release.target} is ${status} (revision ${revision})`
  throw new AdminError('REFUSED', `${why}. Fix the release first. Nothing was changed`, [history, back])
}

function refuseOtherVersion({ chart }: ReleaseRevision, asked: string | null, { target }: ReleaseSource): void {
  if (asked === null || asked === chart.version) return
  throw new AdminError(
    'REFUSED',
    `${target} has chart ${chart.name} ${chart.version}, not the requested ${asked}. Change the chart and its ` +
      'values separately. Nothing was changed',
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
    `${named} is chart ${found.name} ${found.version}, but ${target} has ${installed.name} ` +
      `${installed.version}. Change the chart and its values separately. Nothing was changed`,
    [
      '--chart CHART   # the installed version of the chart: a folder, an archive, REPOSITORY/NAME or a URL',
      'helm repo list',
    ],
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
    return (
      `${path.join('.')} ` +
      `(${here === null ? 'only in the release' : there === null ? 'only in the files' : 'different values'})`
    )
  }
  throw new AdminError(
    'REFUSED',
    `helm would also change values that differ between ${release.target} and ${files.join(', ')}: ` +
      `${listed(others.map(how), 10)}. Somebody used \`--set\` or another file. Nothing was changed`,
    [
      command`${nested(release.helm('get values'))}   # shows secrets too`,
      sentence`copy the release's values into the files, or name all values files of the release in order: --values FILE
        --values FILE`,
    ],
  )
}
