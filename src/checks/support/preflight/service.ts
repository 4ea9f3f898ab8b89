import type { Check, Finding, Outcome } from '../../../core/check.ts'
import { defineCheck } from '../../../core/check.ts'
import { PartialSettings } from '../../../core/deployment.ts'
import { AdminError } from '../../../core/error.ts'
import { command, editing, nested } from '../../../core/shell-command.ts'
import type { ShellCommand, Suggestion } from '../../../core/shell-command.ts'
import { typed } from '../../../core/typed.ts'
import { listed, moment, span } from '../../../core/format.ts'
import type { LogRecord, ServiceImage, ServiceSource } from '../../../core/sources.ts'
import { grepLog } from '../../../domain/evidence.ts'
import { byHand } from '../../../domain/by-hand.ts'
import { judgeMachine } from '../../../domain/processors.ts'
import { recentRecords } from '../../../domain/service.ts'
import { had, tolerant } from '../../../domain/wanted.ts'
import {
  comesAfterTrees,
  compareBuilds,
  firstLegacyBuild,
  firstV3Build,
  isAtLeast,
  isBuildLabel,
  migratesTrees,
  parseBuild,
  treeMigration,
} from '../../../knowledge/builds.ts'
import type { Build } from '../../../knowledge/builds.ts'
import { images } from '../../../knowledge/images.ts'
import { logSignatures } from '../../../knowledge/log-signatures.ts'
import { hypervisorAdvice } from '../../../knowledge/processors.ts'
import { serviceCpuLevel } from '../../service/cpu-level.ts'
import { treesMigrated } from '../../trees/migrated.ts'

/** What a deployment is about to be upgraded to. */
export interface UpgradeTarget {
  /** As it was named: `527u01`, `5.27`, `25.3.1` */
  label: string
  /** Null for a version named after its year: what it needs is not documented */
  build: Build | null
  /** True if the service runs it already: only RabbitMQ is upgraded */
  stays?: boolean
  /** Version of RabbitMQ; null: it stays as it is */
  broker: string | null
  /** When a backup was made; null: none was named */
  backupAt: Date | null
  /** Free bytes on the database's disk, where somebody looked; null: nobody did */
  freeBytes: number | null
  /** The values that the upgrade will be made with; absent: none were named */
  values?: DeclaredValues
}

/** What values files of the service's chart say. */
export interface DeclaredValues {
  /** Absolute, in Helm's order */
  files: readonly string[]
  /** Keys to the chart's values, as they were given; absent: found without */
  path?: string
  /** Last part of the image's name */
  imageName: string
  /** Keys that hold another kind of value than the chart reads there */
  unfit: readonly { key: string; needs: 'a map' | 'a single value'; file: string; line: number | null }[]
  /** The build, and the file that sets it; null: none does, and the chart decides */
  version: { text: string; file: string; line: number | null } | null
  /** Settings of the service by their names */
  settings: ReadonlyMap<string, string>
  /** The chart in the configuration; null: none is set there */
  chart: { chart: string; chartVersion: string | null } | null
}

/** Returns the flags that name these values again. */
export function flagsOf({ files, path }: DeclaredValues): string[] {
  return [...files.flatMap((file) => ['--values', file]), ...(path ? ['--path', path] : [])]
}

/** Returns the same question with another answer, or with one more. */
export function again(target: UpgradeTarget, flag: string, value: string): Suggestion {
  const { label, broker, backupAt, freeBytes, values } = target
  const given: [string, string][] = [
    ['--to', label],
    ...(broker === null ? [] : [['--broker', broker] as [string, string]]),
    ...(backupAt === null ? [] : [['--backup-taken', backupAt.toISOString()] as [string, string]]),
    ...(freeBytes === null ? [] : [['--database-free', `${freeBytes}B`] as [string, string]]),
  ]
  const kept = given.filter(([name]) => name !== flag).flat()
  const words = typed([...kept, ...(values ? flagsOf(values) : []), flag, value])
  return command`testops-admin preflight -d {deployment} ${nested(words)}`
}

/** Returns what is not known of a build that comes after all documented ones; null: it is none. */
export function remarkOn({ label, build, stays }: UpgradeTarget): string | null {
  if (stays || build === null || compareBuilds(build, firstLegacyBuild) <= 0) return null
  const { label: newest } = firstLegacyBuild
  return `${newest} is the newest documented build, so ${label} is judged by what ${newest} needs.`
}

/** Returns the tag of the target's images; null: only a version is known, which need not be one. */
export function tagOf({ label }: UpgradeTarget): string | null {
  return isBuildLabel(label) ? label : null
}

/** Returns the service as it will be with these values. */
export function asDeclared(service: ServiceSource, { files, imageName, settings }: DeclaredValues): ServiceSource {
  const image = async (): Promise<ServiceImage> => ({
    ...(await service.image()),
    name: imageName,
    declaredIn: files.join(', '),
  })
  const environment: ServiceSource['environment'] = async () => {
    const now = await service.environment()
    const then = new Map([...now, ...settings])
    return now instanceof PartialSettings ? new PartialSettings(then, now.missing) : then
  }
  return new Proxy(service, {
    get: (target, property) =>
      property === 'image'
        ? image
        : property === 'environment'
          ? environment
          : (Reflect.get(target, property, target) as unknown),
  })
}

/** Judges whether the values install the version that was named. */
export function valuesFor(target: UpgradeTarget, { files, version, chart, unfit }: DeclaredValues): Check {
  const { label, build } = target
  return defineCheck({
    id: 'values',
    title: 'the values install the version',
    reads: [],
    async run(): Promise<Outcome> {
      const [first, ...others] = unfit
      if (first) {
        const { key, file } = first
        return {
          status: 'problem',
          severity: 'error',
          findings: [unfitValue(first), ...others.map(unfitValue)],
          remedy: { text: `Correct \`${key}\` in ${file}.`, commands: [editing(file)] },
        }
      }
      const look = command`grep -n ${'version:'} ${files}`
      if (version === null)
        throw new AdminError(
          'UNAVAILABLE',
          `${listed(files)} ${files.length === 1 ? 'does' : 'do'} not set \`version\`, so the chart decides which ` +
            'build is installed',
          [defaultsOf(chart)],
        )
      const { text, file, line } = version
      const set = parseBuild(text)
      // the text is the image's tag, in which capitals count
      const isBuild = set && build ? compareBuilds(set, build) === 0 : text === label
      const isSame = isBuild && (set === null || text === text.toLowerCase())
      if (isSame) return { status: 'ok', detail: `${file} sets version ${text}` }
      return {
        status: 'problem',
        severity: 'error',
        findings: [
          {
            message:
              `${place(file, line)} sets version ${text}, not ${label}` +
              (isBuild ? ': the tags of the images are written in lower case' : ''),
            evidence: [look],
          },
        ],
        remedy: {
          text: `Set \`version\` to ${tagOf(target) ?? `the tag of ${label}`} in ${file}.`,
          commands: [editing(file)],
        },
      }
    },
  })
}

function unfitValue({ key, needs, file, line }: DeclaredValues['unfit'][number]): Finding {
  return {
    message: `${place(file, line)}: the chart needs ${needs} as \`${key}\``,
    evidence: [command`grep -n ${`${key.split('.').at(-1)!}:`} ${file}`],
  }
}

function place(file: string, line: number | null): string {
  return line === null ? file : `${file} line ${line}`
}

/** Returns what shows the build that the chart installs by itself. */
function defaultsOf(chart: DeclaredValues['chart']): ShellCommand {
  if (chart === null) return command`helm show values CHART | grep -n version:   # CHART: the chart of the service`
  const version = chart.chartVersion === null ? [] : ['--version', chart.chartVersion]
  return command`${nested(typed(['helm', 'show', 'values', chart.chart, ...version]))} | grep -n version:`
}

/** True if a text is written as versions and builds are. */
export function isVersion(text: string): boolean {
  return isBuildLabel(text) || /^v?\d{1,4}(?:\.\d{1,3}){1,3}$/.test(text.trim())
}

/** Returns the build that an image is declared to run; null if it is not known. */
export function buildOf({ build, tag }: ServiceImage): Build | null {
  return parseBuild(build ?? '') ?? parseBuild(tag ?? '')
}

/** True if the target is older than a build. */
export function isDowngrade(from: Build | null, { build }: UpgradeTarget): boolean {
  return from !== null && build !== null && compareBuilds(build, from) < 0
}

/** True if a version of RabbitMQ comes before another; 4.3 is as old as 4.3.6. */
export function isOlder(version: string, present: string): boolean {
  const numbers = (it: string): number[] =>
    it
      .replace(/[-~].*/s, '')
      .split('.')
      .map((part) => Number.parseInt(part, 10))
  const [one, other] = [numbers(version), numbers(present)]
  for (const [index, part] of one.entries()) {
    const difference = part - (other[index] ?? 0)
    if (difference !== 0) return difference < 0
  }
  const isBeforeRelease = (it: string): boolean => /[-~]/.test(it)
  return isBeforeRelease(version) && !isBeforeRelease(present)
}

/** Returns the service with the target's build in place of its own. */
function asUpgraded(service: ServiceSource, { label }: UpgradeTarget): ServiceSource {
  const image = async (): Promise<ServiceImage> => ({ ...(await service.image()), build: label, tag: label })
  return new Proxy(service, {
    get: (target, property) => (property === 'image' ? image : (Reflect.get(target, property, target) as unknown)),
  })
}

/** Returns an outcome. Throws UNAVAILABLE if the check left the question open: then nothing may be called ready. */
export function known(outcome: Outcome): Outcome {
  if (outcome.status === 'skipped') throw new AdminError('UNAVAILABLE', outcome.reason)
  return outcome
}

export function imageFor(target: UpgradeTarget): Check {
  return defineCheck({
    id: 'service/image',
    title: 'the version has the image',
    reads: ['service'],
    async run({ service }): Promise<Outcome> {
      const { build, label, stays } = target
      if (stays) return { status: 'skipped', reason: 'the service keeps its image' }
      if (build === null)
        throw new AdminError(
          'UNAVAILABLE',
          'versions named after their year are not documented. Check the release notes of ' +
            `${label} for its images and what they need`,
        )
      const image = await service.image()
      if (image.name === null) return { status: 'skipped', reason: 'no image is declared' }
      if (image.name !== images.legacy) return { status: 'skipped', reason: `image ${images.legacy} is not in use` }
      if (isAtLeast(build, firstLegacyBuild)) return { status: 'ok', detail: `${label} has image ${images.legacy}` }
      const needsV3 = isAtLeast(build, firstV3Build)
      return {
        status: 'problem',
        severity: 'error',
        findings: [
          {
            message:
              `build ${label} has no image ${images.legacy}: the first build with that image is ` +
              firstLegacyBuild.label,
            evidence: [`${image.declaredIn}: image ${image.name}`],
          },
        ],
        remedy: {
          text: needsV3
            ? `Name build ${firstLegacyBuild.label} or later. Build ${label} has only image ${images.standard}, ` +
              'which needs x86-64-v3.'
            : `Upgrade to image ${images.standard}, as the step of the upgrade says.`,
          commands: needsV3 ? [again(target, '--to', firstLegacyBuild.label)] : [],
        },
      }
    },
  })
}

export function processorsFor(target: UpgradeTarget): Check {
  return {
    ...serviceCpuLevel,
    title: 'processors have what the version needs',
    wants: [],
    async run({ service }, deployment): Promise<Outcome> {
      const verdicts = ((await tolerant(service.machines())) ?? []).map(judgeMachine)
      // then no version and no image asks for more
      if (verdicts.length > 0 && verdicts.every(({ hasV3 }) => hasV3 === true))
        return { status: 'ok', detail: verdicts.map((it) => `${it.name}: ${it.level}`).join('; ') }
      const logs = new AdminError('NOT_CONFIGURED', 'a log tells of what ran so far')
      const image = await service.image()
      if (target.build === null && image.name !== images.legacy)
        throw new AdminError(
          'UNAVAILABLE',
          `which processors ${target.label} needs is not documented, and ` +
            (verdicts.length === 0
              ? 'the processors are not known'
              : `${listed(verdicts.filter(({ hasV3 }) => hasV3 !== true).map(({ name }) => name))} may lack x86-64-v3`),
        )
      const outcome = known(await serviceCpuLevel.run({ service: asUpgraded(service, target), logs }, deployment))
      if (outcome.status !== 'problem') return outcome
      // nothing is upgraded that could bring another image
      if (target.stays) return { ...outcome, severity: 'error' }
      const hasLegacy = target.build !== null && isAtLeast(target.build, firstLegacyBuild)
      const isVirtual = verdicts.some((it) => it.hasV3 === false && it.isVirtual)
      return {
        ...outcome,
        // a machine that lacks it is one on which the new version may be started
        severity: 'error',
        remedy: {
          text:
            `${isVirtual ? hypervisorAdvice : 'Move the service to a machine with x86-64-v3.'} Otherwise ` +
            (hasLegacy
              ? `upgrade to image ${images.legacy}, as the step of the upgrade says.`
              : `name build ${firstLegacyBuild.label} or later, which has image ${images.legacy}.`),
          commands: [
            ...(hasLegacy ? [] : [again(target, '--to', firstLegacyBuild.label)]),
            byHand('service/cpu-level'),
          ],
        },
      }
    },
  }
}

export function treesFor(target: UpgradeTarget): Check {
  return defineCheck({
    id: 'trees/migrated',
    title: 'trees have their new structure',
    reads: ['service'],
    wants: ['api'],
    async run({ service, api }, deployment): Promise<Outcome> {
      const image = await service.image()
      const from = buildOf(image)
      const { first, last } = treeMigration
      const range = `versions ${first} to ${last} migrate the trees`
      const isBeforeTheirEnd = target.build !== null && !comesAfterTrees(target.build)
      if (from === null) {
        const present = image.build ?? image.tag
        const why = present === null ? 'the present build is not declared' : `build ${present} is not documented`
        throw new AdminError(
          'UNAVAILABLE',
          `cannot tell whether ${target.label} is newer than the present build` +
            `${isBeforeTheirEnd ? '' : `, or whether the trees are migrated (${range})`}: ${why}`,
        )
      }
      if (isBeforeTheirEnd) return { status: 'skipped', reason: `${range}: look at them after the upgrade` }
      if (migratesTrees(from)) {
        if (api instanceof AdminError) throw api
        return known(await treesMigrated.run({ service, api }, deployment))
      }
      if (!comesAfterTrees(from))
        throw new AdminError(
          'UNAVAILABLE',
          `${range}, and this upgrade from ${from.label} skips them: whether that is possible is not documented`,
        )
      return { status: 'skipped', reason: `build ${from.label} comes after those that migrate trees` }
    },
  })
}

/** A migration of the database that the log tells of. */
interface Migration {
  at: Date
  tookMs: number
}

/**
 * Judges whether a probe would restart the service in the middle of its migration, by the longest one in the log
 * (FIELD-NOTES.md 1.1: the usual cause of a stale lock).
 */
export const probesLeaveTime: Check = defineCheck({
  id: 'probes',
  title: 'probes leave time for a migration',
  reads: ['service'],
  wants: ['logs'],
  async run({ service, logs }): Promise<Outcome> {
    const limit = (await service.startLimit?.()) ?? null
    if (limit === null) return { status: 'skipped', reason: 'no probe restarts the service while it starts' }
    const longest = longestOf(await recentRecords(logs))
    const { by, afterMs, proof } = limit
    const allowed = `its ${by} restarts the service ${span(afterMs)} after a start that has not ended`
    if (longest === null)
      return { status: 'skipped', reason: `${allowed}; the log tells of no migration to compare that with` }
    const took = `the longest migration in its log took ${span(longest.tookMs)} (${moment(longest.at)})`
    // as much again may come with more data, or with more changes at once
    if (longest.tookMs * 2 <= afterMs) return { status: 'ok', detail: `${took}; ${allowed}` }
    const source = had(logs)
    return {
      status: 'problem',
      severity: longest.tookMs >= afterMs ? 'error' : 'warning',
      findings: [
        {
          message: `${took}, and ${allowed}: a migration that is cut off leaves the change-log lock behind`,
          evidence: [proof, ...(source ? [grepLog(source, 'change log lock')] : [])],
        },
      ],
      remedy: {
        text: `Switch the ${by} off for the upgrade, or give it more time, and back once the service is up.`,
        commands: ['{edit}'],
        risk: 'Meanwhile a service that hangs is not restarted.',
      },
    }
  },
})

function longestOf(records: readonly LogRecord[]): Migration | null {
  let [begun, longest]: [Date | null, Migration | null] = [null, null]
  for (const { at, text } of records) {
    if (at === null) continue
    if (logSignatures.lockTaken.test(text)) begun = at
    else if (begun !== null && logSignatures.lockReleased.test(text)) {
      const tookMs = at.getTime() - begun.getTime()
      if (tookMs >= (longest?.tookMs ?? 0)) longest = { at: begun, tookMs }
      begun = null
    }
  }
  return longest
}
