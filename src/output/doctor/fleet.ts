import type { DoctorReport } from '../../core/check.ts'
import type { RunError } from '../../core/run.ts'
import { command, nested } from '../../core/shell-command.ts'
import { onDeployment } from '../../core/typed.ts'
import { typedHere } from '../error-text.ts'
import type { Screen } from '../paint.ts'
import { badge, oneLine, paintFor } from '../paint.ts'
import type { StatusWord } from '../paint.ts'
import { clip, countOf, hang, pad, printable, widthOf } from '../text.ts'
import { remedyOf, summary, tell } from './verdict.ts'

/** A deployment that could not be examined at all. */
export interface Unexamined {
  deployment: string
  error: RunError
  exitCode: number
}

/** What `doctor --all --json` prints. */
export interface FleetDocument {
  schemaVersion: 1
  /** In the order of the configuration, or of the command line */
  deployments: readonly (DoctorReport | Unexamined)[]
}

/** A deployment and how its diagnosis ended. */
export interface Examined {
  result: DoctorReport | Unexamined
  exitCode: number
}

export function isExamined(result: DoctorReport | Unexamined): result is DoctorReport {
  return !('error' in result)
}

interface FleetView {
  screen: Screen
  exitCode: number
  /** True to leave out the causes */
  isShort: boolean
  /** The configuration that a flag named */
  config?: string | undefined
}

/** Characters of an error that are shown here; `doctor` for this deployment alone shows all */
const mostOfError = 200

/**
 * Returns one line for each deployment, with its causes below unless `isShort`; then how many are how, the exit code,
 * and what to type next.
 */
export function fleetText(examined: readonly Examined[], { screen, exitCode, isShort, config }: FleetView): string {
  const width = Math.min(30, Math.max(0, ...examined.map(({ result }) => widthOf(result.deployment))))
  const lines = examined.flatMap((it) => [...headOf(it, width, screen), ...(isShort ? [] : causesOf(it, screen))])
  const next = nextOf(examined, config)
  const end = hang('', `${countsOf(examined)} Exit code ${exitCode}.`, screen.columns)
  return [...lines, '', ...end, ...(next === null ? [] : [`Next: ${printable(next)}`])]
    .map((line) => `${line}\n`)
    .join('')
}

/** How a report stands, whatever exit code was asked for. */
function stateOf({ summary: { error, unknown, warning } }: DoctorReport): StatusWord {
  if (error > 0) return 'error'
  return unknown > 0 ? 'unknown' : warning > 0 ? 'warning' : 'ok'
}

function headOf({ result }: Examined, width: number, screen: Screen): string[] {
  const word = isExamined(result) ? stateOf(result) : 'error'
  const gap = ' '.repeat(9 - widthOf(`x ${word}`))
  const head = `${badge(word, paintFor(screen))}${gap}  ${pad(printable(result.deployment), width)}  `
  return hang(head, isExamined(result) ? aboutReport(result) : aboutError(result), screen.columns)
}

function aboutReport(report: DoctorReport): string {
  const build = report.build === null ? '' : `, build ${printable(report.build)}`
  return `${printable(report.platform)}${build}. ${summary(tell(report))}`
}

function aboutError({ error, exitCode }: Unexamined): string {
  return `Not examined (exit code ${exitCode}): ${clip(printable(error.message.replace(/\s+/g, ' ')), mostOfError)}`
}

/** Returns the causes of one deployment, each with the first command of its remedy. */
function causesOf({ result }: Examined, { columns }: Screen): string[] {
  const stories = isExamined(result) ? tell(result).stories : []
  return stories.flatMap(({ root }) => {
    const first = remedyOf(root).commands.find((line) => !line.startsWith('#'))
    return [
      ...hang('    ', `${root.id}: ${oneLine(root)}`, columns),
      ...(first === undefined ? [] : [`        ${printable(typedHere(first))}`]),
    ]
  })
}

function countsOf(examined: readonly Examined[]): string {
  const reports = examined.flatMap(({ result }) => (isExamined(result) ? [result] : []))
  const count = (word: StatusWord): number => reports.filter((it) => stateOf(it) === word).length
  const parts = [
    [count('ok'), 'healthy'],
    [count('error'), 'with problems'],
    [count('warning'), 'with warnings only'],
    [count('unknown'), 'not fully checked'],
    [examined.length - reports.length, 'not examined'],
  ] as const
  const told = parts.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`)
  return `${countOf(examined.length, 'deployment')}: ${told.join(', ')}.`
}

/** Returns what to type for the first deployment that has the exit code of all; null if all are healthy. */
function nextOf(examined: readonly Examined[], config: string | undefined): string | null {
  const first = (['error', 'unknown', 'warning'] as const).map((word) =>
    examined.find(({ result }) => isExamined(result) && stateOf(result) === word),
  )
  const worst = first[0] ?? examined.find(({ result }) => !isExamined(result)) ?? first[1] ?? first[2]
  if (!worst) return null
  return command`testops-admin doctor ${nested(onDeployment(worst.result.deployment, config))}`
}
