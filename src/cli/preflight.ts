import { resolve } from 'node:path'
import type { CheckReport } from '../core/check.ts'
import type { Deployment } from '../core/deployment.ts'
import { AdminError } from '../core/error.ts'
import { parseBytes } from '../core/format.ts'
import type { Suggestion } from '../core/shell-command.ts'
import type { FilesSource, ServiceImage } from '../core/sources.ts'
import { typed } from '../core/typed.ts'
import {
  asDeclared,
  buildOf,
  flagsOf,
  isDowngrade,
  isOlder,
  isVersion,
  remarkOn,
  tagOf,
} from '../checks/support/preflight/service.ts'
import type { DeclaredValues, UpgradeTarget } from '../checks/support/preflight/service.ts'
import { legacyImageCommands, runningIt } from '../domain/legacy-image.ts'
import { fillCommand } from '../engine/remedy.ts'
import { exitCodeOf } from '../engine/report.ts'
import { runChecks } from '../engine/run-checks.ts'
import {
  compareBuilds,
  firstLegacyBuild,
  firstV3Build,
  isAtLeast,
  migratesTrees,
  parseBuild,
} from '../knowledge/builds.ts'
import { deniesTransientQueues } from '../knowledge/broker.ts'
import { chartKeys } from '../knowledge/chart.ts'
import { images } from '../knowledge/images.ts'
import { traitsOf } from '../knowledge/platforms.ts'
import type { PreflightDocument } from '../output/preflight.ts'
import { chooseFile, placeOfValues } from '../repairs/files/layout.ts'
import { unfitMaps, unfitSingle } from '../repairs/files/known-chart.ts'
import { imageIn } from '../repairs/legacy-image/values.ts'
import type { OpenedDeployment, SelectedDeployment } from '../runtime/index.ts'
import { chartIfNamed } from './repair/applied.ts'
import { chosenDeployment } from './chosen-deployment.ts'
import { deadlineSlackMs } from '../core/work.ts'
import { defaultTimeoutSeconds, interruptible } from './interrupt.ts'
import { when } from './scan/session.ts'

/** The flags of `preflight`. */
export interface PreflightFlags {
  deployment?: string | undefined
  config?: string | undefined
  timeout?: number | undefined
  to: string
  broker?: string | undefined
  'backup-taken'?: string | undefined
  'database-free'?: string | undefined
  values?: readonly string[] | undefined
  path?: string | undefined
}

/**
 * Runs the checks of `preflight`. Throws USAGE for a flag that is no version, time or size. Throws what finding a
 * deployment throws.
 */
export async function runPreflight(flags: PreflightFlags): Promise<{ document: PreflightDocument; exitCode: number }> {
  const target = targetOf(flags)
  return interruptible(async (signal) => {
    const [{ openDeployment }, { preflightChecks }] = await Promise.all([
      import('../runtime/index.ts'),
      import('../checks/support/preflight/index.ts'),
    ])
    const { deployment: name, config, timeout = defaultTimeoutSeconds } = flags
    const selected = await chosenDeployment({ deployment: name, config }, signal)
    const timeoutMs = timeout * 1000
    const opened = await openDeployment(selected, { timeoutMs, environment: process.env, config, signal })
    try {
      const { deployment, commands } = opened
      const values = await valuesIn(flags, opened, selected)
      const open: typeof opened.open = values
        ? { ...opened.open, service: async () => asDeclared(await opened.open.service(), values) }
        : opened.open
      const image = await open
        .service()
        .then(async (service) => service.image())
        .catch(() => null)
      const from = image && buildOf(image)
      if (isDowngrade(from, target))
        throw new AdminError(
          'USAGE',
          `${target.label} is older than the present build ${from!.label}, and \`preflight\` judges upgrades: a ` +
            'database that was migrated stays so',
        )
      const present = image?.build ?? image?.tag ?? null
      const stays = from && target.build ? compareBuilds(from, target.build) === 0 : present === target.label
      if (stays && target.broker === null)
        throw new AdminError(
          'USAGE',
          `the deployment is declared to run ${present} already: name another build, or the version of RabbitMQ ` +
            'to upgrade to with --broker',
        )
      const upgrade: UpgradeTarget = { ...target, stays, ...(values && { values }) }
      const { rootCauses: _, ...report } = await runChecks({
        checks: preflightChecks(upgrade),
        open,
        deployment,
        deadlineMs: timeoutMs + deadlineSlackMs,
        commands,
        signal,
      })
      const exitCode = exitCodeOf(report)
      const made = stays ? null : { image, deployment, command: await upgradeWith(values, opened) }
      const steps = stepsOf(
        report.checks,
        { ...upgrade, ...(!(await isBrokerUpgrade(target.broker, report.checks, open)) && { broker: null }) },
        made,
        (asked) => fillCommand(asked, deployment, commands),
      )
      const remark = remarkOn(upgrade)
      const { schemaVersion, deployment: shown, found, platform, ...rest } = report
      const document: PreflightDocument = {
        schemaVersion,
        deployment: shown,
        ...(found !== undefined && { found }),
        platform,
        from: present,
        to: target.label,
        ...(target.broker !== null && { broker: target.broker }),
        ...(remark !== null && { remark }),
        verdict: exitCode === 0 ? 'ready' : exitCode === 3 ? 'not-known' : 'not-ready',
        ...rest,
        steps,
      }
      return { document, exitCode }
    } finally {
      await opened.close()
    }
  })
}

/** Maximum number of settings that are read from values files */
const mostSettings = 500

/**
 * Reads what values files say; null if none were named. Throws USAGE if the deployment has no chart, and as reading the
 * files does.
 */
async function valuesIn(
  flags: PreflightFlags,
  { deployment, open }: OpenedDeployment,
  selected: SelectedDeployment,
): Promise<DeclaredValues | null> {
  if (!flags.values) return null
  if (traitsOf(deployment).image !== 'values')
    throw new AdminError(
      'USAGE',
      `--values names values of a Helm chart, but deployment \`${deployment.name}\` is not installed by one`,
    )
  const names = flags.values.map((name) => resolve(name))
  const files = await open.files()
  try {
    for (const file of names) await refuseOtherThanMap(files, file)
    return { ...(await valuesOf(flags, names, files)), chart: (await chartIfNamed({}, selected)).chart ?? null }
  } catch (error) {
    // nothing was to be changed, so nothing is refused
    if (!(error instanceof AdminError) || error.code !== 'REFUSED') throw error
    const message = `the values cannot be judged: ${readingOf(error.message)}`
    throw new AdminError('USAGE', message, error.suggestions, { cause: error })
  }
}

/** Returns why values cannot be read, where the message says why they cannot be edited. */
function readingOf(message: string): string {
  const unsafe = ' cannot be edited safely: '
  // a file's name may hold it too
  const at = message.lastIndexOf(unsafe)
  const read = at < 0 ? message : `${message.slice(0, at)} cannot be read: ${message.slice(at + unsafe.length)}`
  return without(without(read, '. Nothing was changed'), ', and rejects it if it is changed without SOPS')
}

function without(text: string, end: string): string {
  return text.endsWith(end) ? text.slice(0, -end.length) : text
}

/** Throws USAGE for a file that Helm cannot parse as values. A file without any value is fine. */
async function refuseOtherThanMap(files: FilesSource, file: string): Promise<void> {
  const { kind } = await files.look(file, [])
  if (kind === 'list' || kind === 'single')
    throw new AdminError('USAGE', `${file} is not a map of values, so Helm rejects it`, [
      typed(['head', '-n', '5', file]),
    ])
}

/** Reads what the values files say. Throws as `valuesIn`, and REFUSED. */
async function valuesOf(
  flags: PreflightFlags,
  names: readonly string[],
  files: FilesSource,
): Promise<Omit<DeclaredValues, 'chart'>> {
  const others = (['deployment', 'config', 'broker', 'backup-taken', 'database-free'] as const).flatMap((name) => {
    const given = flags[name]
    return given === undefined ? [] : [`--${name}`, given]
  })
  const named = ['--to', flags.to, ...others, ...names.flatMap((it) => ['--values', it])]
  const place = await placeOfValues(files, {
    files: names,
    path: flags.path?.split('.').filter(Boolean) ?? [],
    keys: [chartKeys.imageName],
    applies: false,
    again: (path) => typed(['testops-admin', 'preflight', ...named, '--path', path]),
  })
  const { own } = place
  const version = await chooseFile(files, names, [...own, ...chartKeys.version])
  const settings = [...own, ...chartKeys.openSettings]
  const imageName = await unfitSingle(files, names, [...own, ...chartKeys.imageName])
  const unfit = [
    ...(await unfitMaps(files, names, place)),
    await unfitSingle(files, names, [...own, ...chartKeys.version], { orEmpty: true }),
    imageName,
  ]
  const keys = (await Promise.all(names.map(async (file) => files.keys(file, settings)))).flat()
  const set = new Map<string, string>()
  for (const key of [...new Set(keys)].slice(0, mostSettings)) {
    const path = [...settings, key]
    const { text } = (await chooseFile(files, names, path)).look
    if (text === null) unfit.push(await unfitSingle(files, names, path))
    else set.set(key, text)
  }
  return {
    files: names,
    unfit: unfit.filter((it) => it !== null),
    ...(flags.path !== undefined && { path: flags.path }),
    imageName: imageName === null ? (await imageIn(files, names, own)).parts.name : images.standard,
    version:
      version.look.text === null ? null : { text: version.look.text, file: version.file, line: version.look.line },
    settings: set,
  }
}

/**
 * Returns the command that makes the upgrade: Helm's if there are values and a release, else where to make it; null:
 * only the operator knows how the service was installed.
 */
async function upgradeWith(
  values: DeclaredValues | null,
  { open: { release }, deployment }: OpenedDeployment,
): Promise<Suggestion | null> {
  if (!values) return traitsOf(deployment).image === 'by-hand' ? null : '{edit}'
  try {
    const { chart = 'CHART', chartVersion = null } = values.chart ?? {}
    const version = chartVersion === null ? [] : ['--version', chartVersion]
    return (await release()).helm('upgrade', chart, ...version, ...values.files.flatMap((file) => ['-f', file]))
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return '{edit}'
    throw error
  }
}

function targetOf(flags: PreflightFlags): UpgradeTarget {
  // images are tagged in lower case
  const label = versionIn('--to', flags.to, 'a build such as 527u01, or a version such as 5.27').toLowerCase()
  const broker = flags.broker === undefined ? null : versionIn('--broker', flags.broker, 'a version such as 4.3.0')
  if (broker !== null && deniesTransientQueues(broker) === null)
    throw new AdminError('USAGE', `--broker ${broker} is no version of RabbitMQ: write it as 4.3.0`)
  const taken = flags['backup-taken']
  const backupAt =
    taken === undefined ? null : when('--backup-taken', taken)(Intl.DateTimeFormat().resolvedOptions().timeZone)
  if (backupAt !== null && backupAt.getTime() > Date.now() + 60_000)
    throw new AdminError('USAGE', `--backup-taken ${taken} is in the future`)
  const free = flags['database-free']
  return { label, build: parseBuild(label), broker, backupAt, freeBytes: free === undefined ? null : bytesIn(free) }
}

function versionIn(flag: string, text: string, form: string): string {
  if (!isVersion(text)) throw new AdminError('USAGE', `${flag} ${text.slice(0, 100)} is no version: name ${form}`)
  return text.trim().replace(/^v/i, '')
}

function bytesIn(text: string): number {
  const size = parseBytes(text)
  if (size === null)
    throw new AdminError('USAGE', `--database-free ${text.slice(0, 100)} is no size: write it as 20GB`, [
      typed(['df', '-H']),
    ])
  return size
}

/** True unless RabbitMQ is known to have this version already, or a newer one. */
async function isBrokerUpgrade(
  version: string | null,
  reports: readonly CheckReport[],
  open: OpenedDeployment['open'],
): Promise<boolean> {
  // a broker that did not answer then would only cost time again
  const isKnown = reports.some(({ id, status }) => id === 'broker/upgrade' && (status === 'ok' || status === 'problem'))
  if (version === null || !isKnown) return true
  return open
    .broker()
    .then(async (broker) => isOlder((await broker.identity()).version, version))
    .catch(() => true)
}

/** What makes the upgrade of the service. */
export interface ServiceUpgrade {
  /** Null: not known */
  image: ServiceImage | null
  deployment: Deployment
  command: Suggestion | null
}

/** Returns the steps of an upgrade in their order: what must be found out or repaired, then the upgrades themselves. */
function stepsOf(
  reports: readonly CheckReport[],
  target: UpgradeTarget,
  /** Null: the service stays at its build */
  upgrade: ServiceUpgrade | null,
  fill: (asked: Suggestion) => Suggestion,
): PreflightDocument['steps'] {
  const before = reports.flatMap(({ id, status, remedy, error, because }): PreflightDocument['steps'] => {
    if (because !== undefined) return []
    if (status === 'problem' && remedy) return [{ text: `${id}: ${remedy.text}`, commands: remedy.commands }]
    if (status !== 'unknown' || !error || error.code === 'BUG') return []
    // eslint-disable-next-line own/quoted-commands -- an error's suggestions were quoted where they were made
    return [{ text: `${id}: find this out. ${capital(error.message)}.`, commands: error.suggestions }]
  })
  const look = fill('testops-admin doctor -d {deployment} --wait')
  const step = upgrade && upgradeStep(reports, target, upgrade)
  return [
    ...before,
    ...(target.broker === null
      ? []
      : [{ text: `Upgrade RabbitMQ to ${target.broker}, and wait until all is healthy.`, commands: [look] }]),
    ...(step ? [{ text: step.text, commands: [...step.commands.map(fill), look] }] : []),
    ...(step && target.build !== null && migratesTrees(target.build)
      ? [
          {
            text: 'This version migrates the trees. If one looks wrong, migrate it again.',
            commands: [fill('testops-admin migrate-trees -d {deployment} --all-projects')],
          },
        ]
      : []),
  ]
}

/** Returns the step that upgrades the service, to the image that its processors need; null: no image of it fits. */
export function upgradeStep(
  reports: readonly CheckReport[],
  target: UpgradeTarget,
  { image, deployment, command: usual }: ServiceUpgrade,
): PreflightDocument['steps'][number] | null {
  const name = image && imageAfter(image, reports, target)
  if (name === 'none') return null
  const to = `Upgrade the service to ${target.label}`
  const before = usual === null ? [] : [usual]
  // neither the tags of other images are known, nor the images of other versions
  if (image === null || target.build === null || (name !== images.standard && name !== images.legacy))
    return { text: `${to}, and wait until all is healthy.`, commands: before }
  const tag = tagOf(target)
  const wish = {
    build: tag ?? 'TAG',
    revert: name === images.standard,
    ...(target.values && { files: flagsOf(target.values) }),
  }
  const means = traitsOf(deployment).image
  const isSwitch = means === 'by-hand' || name !== (image.name ?? images.standard)
  const text =
    means === 'by-hand'
      ? `${to}.${runningIt(deployment, image, wish)} Wait until all is healthy.`
      : `${to} with image ${name}, and wait until all is healthy.`
  return {
    text:
      text + (isSwitch && tag === null ? ` Replace TAG with the tag that ${target.label} has in your registry.` : ''),
    commands: [
      ...(isSwitch ? legacyImageCommands(deployment, image, wish) : []),
      // a compose file is applied by the same command that edits it
      ...(isSwitch && means === 'apply' ? [] : before),
    ],
  }
}

/** Returns the name of the image that the target must have for its processors; null: undeclared; `none`: none fits. */
function imageAfter({ name }: ServiceImage, reports: readonly CheckReport[], { build }: UpgradeTarget): string | null {
  const isProblem = (id: string): boolean => reports.some((it) => it.id === id && it.status === 'problem')
  // an old processor may be why the legacy image is in use: nobody has judged the machines for another one
  if (name === images.legacy && isProblem('service/image'))
    return build && isAtLeast(build, firstV3Build) ? 'none' : images.standard
  if (name === images.legacy || !isProblem('service/cpu-level')) return name
  return build && isAtLeast(build, firstLegacyBuild) ? images.legacy : 'none'
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
