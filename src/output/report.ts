import type { DoctorReport } from '../core/check.ts'
import type { PlatformName } from '../core/deployment.ts'
import { bytes, counted, moment } from '../core/format.ts'
import { asPath, command } from '../core/shell-command.ts'
import { paintFor } from './paint.ts'
import type { Screen } from './paint.ts'
import { textOf } from './doctor/table.ts'
import { countOf, hang, pad, printable } from './text.ts'

/** What `report.json` of a report says. */
export interface ReportManifest {
  schemaVersion: 1
  kind: 'testops-admin report'
  /** Of testops-admin */
  version: string
  createdAt: string
  deployment: string
  platform: PlatformName
  build: string | null
  summary: DoctorReport['summary']
  rootCauses: readonly string[]
  /** What `doctor` exits with */
  exitCode: number
  /** What could not be read, or did not fit */
  gaps: readonly { what: string; why: string }[]
  /** Number of secrets that were removed */
  secrets: number
  files: readonly { name: string; bytes: number }[]
}

/** What `report --json` prints. */
export interface MadeReport extends ReportManifest {
  file: string
  /** Size of the archive */
  bytes: number
  /** Number of places where a secret was removed */
  places: number
}

/** What `report show --json` prints. */
export interface ShownReport extends ReportManifest {
  file: string
  removed: readonly { mark: string; where: readonly string[]; count: number }[]
}

/** What `report diff --json` prints. */
export interface ReportDifference {
  schemaVersion: 1
  from: ComparedReport
  to: ComparedReport
  changes: readonly { part: string; name: string; from: string | null; to: string | null }[]
  /** Parts that one of them lacks, and settings that are secret in both */
  notCompared: readonly string[]
}

interface ComparedReport {
  file: string
  deployment: string
  createdAt: string
}

/** report.json and removed.json, which list the others and what was removed from them */
const listing = 2

/** Returns what was written, what it holds and lacks, and what to do with it. */
export function madeText(made: MadeReport, screen: Screen): string {
  const { columns } = screen
  const { file, files, bytes: size, secrets, places } = made
  const removed =
    secrets === 0
      ? 'No secret was found in it.'
      : `${counted(secrets, 'secret')} removed, in ${counted(places, 'place')} (removed.json lists them).`
  return textOf([
    hang(
      '',
      `Wrote ${printable(file)}: ${counted(files.length + listing, 'file')}, ${bytes(size)}. ` +
        'Only this user can read it.',
      columns,
    ),
    [
      ...hang('', verdictOf(made), columns),
      ...hang('', removed, columns),
      ...hang(
        '',
        'Host names, user names and log lines are still in it: look through it before you send it on.',
        columns,
      ),
    ],
    gapLines(made, columns),
    [
      'Next:',
      `  ${command`testops-admin report show ${asPath(file)}`}`,
      `  ${command`testops-admin doctor --from ${asPath(file)}`}`,
    ],
  ])
}

function verdictOf({ summary, rootCauses, exitCode }: ReportManifest): string {
  const { ok, error, warning, unknown, suppressed = 0 } = summary
  const parts = [
    ...(error > 0 ? [countOf(error, 'error')] : []),
    ...(warning > 0 ? [countOf(warning, 'warning')] : []),
    ...(unknown > 0 ? [`${countOf(unknown, 'check')} without a result`] : []),
  ]
  const causes = rootCauses.length === 0 ? '' : ` Causes: ${rootCauses.map(printable).join(', ')}.`
  const isJudged = ok + error + warning + unknown + suppressed > 0
  const found = parts.length > 0 ? parts : [isJudged ? 'healthy' : 'nothing was examined']
  const result = [...found, ...(suppressed > 0 ? [`${suppressed} suppressed`] : [])].join(', ')
  return `Diagnosis: ${result}.${causes} Exit code of doctor: ${exitCode}.`
}

function gapLines({ gaps }: ReportManifest, columns: number): string[] {
  if (gaps.length === 0) return []
  return [
    'Missing in it:',
    ...gaps.flatMap(({ what, why }) => hang('  - ', `${printable(what)}: ${printable(why)}`, columns)),
  ]
}

/** Returns what a report holds. */
export function shownText(shown: ShownReport, screen: Screen): string {
  const { columns } = screen
  const { file, deployment, platform, build, createdAt, version, files, removed } = shown
  const width = Math.max(...files.map(({ name }) => name.length), 0)
  const about = `${printable(platform)}${build === null ? '' : `, build ${printable(build)}`}`
  return textOf([
    [
      ...hang('', `${printable(file)}: report of ${printable(deployment)} (${about})`, columns),
      ...hang('', `Made ${moment(createdAt)} by testops-admin ${printable(version)}`, columns),
      ...hang('', verdictOf(shown), columns),
    ],
    gapLines(shown, columns),
    ['Files:', ...files.map(({ name, bytes: size }) => `  ${pad(printable(name), width)}  ${bytes(size)}`)],
    removed.length === 0
      ? ['No secret was removed.']
      : [
          'Removed secrets:',
          ...removed.flatMap(({ mark, where, count }) => {
            const places = where.slice(0, mostPlaces).map((it) => printable(String(it)))
            const all = count > mostPlaces ? [...places, `… (${counted(count, 'place')})`] : places
            return hang(`  ${printable(mark)}  `, all.join(', '), columns)
          }),
        ],
  ])
}

/** Places that are shown of each secret */
const mostPlaces = 3

/** Returns what changed between two reports, part by part. */
export function differenceText({ from, to, changes, notCompared }: ReportDifference, screen: Screen): string {
  const { columns } = screen
  const paint = paintFor(screen)
  const parts = [...new Set(changes.map(({ part }) => part))]
  const head = [from, to].map(({ file, deployment, createdAt }, at) =>
    hang(at === 0 ? 'from ' : 'to   ', `${printable(file)} (${printable(deployment)}, ${moment(createdAt)})`, columns),
  )
  return textOf([
    head.flat(),
    ...parts.map((part) => [
      paint.strong(`${printable(part)}:`),
      ...changes
        .filter((it) => it.part === part)
        .flatMap((it) => hang('  ', `${printable(it.name)}: ${shownValue(it.from)} → ${shownValue(it.to)}`, columns)),
    ]),
    notCompared.length === 0 ? [] : hang('Not compared: ', notComparedText(notCompared), columns),
    [changes.length === 0 ? 'No difference was found.' : `${counted(changes.length, 'difference')}.`],
  ])
}

/** Names a part once: `queues; settings A, B`. */
function notComparedText(notCompared: readonly string[]): string {
  const parts = new Map<string, string[]>()
  for (const it of notCompared) {
    const [, part = it, name] = /^(\w+): ([^]*)$/.exec(it) ?? []
    parts.set(part, [...(parts.get(part) ?? []), ...(name === undefined ? [] : [name])])
  }
  return [...parts].map(([part, names]) => printable(`${part} ${names.join(', ')}`.trim())).join('; ')
}

const shownValue = (value: string | null): string => (value === null ? 'missing' : printable(value) || '(empty)')
