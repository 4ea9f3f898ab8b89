import type { DoctorReport } from '../../core/check.ts'
import type { RunError } from '../../core/run.ts'
import { command, nested } from '../../core/shell-command.ts'
import { onDeployment } from '../../core/typed.ts'
import { typedHere } from '../error-text.ts'
import type { Say } from '../../core/translation.ts'
import type { Screen } from '../paint.ts'
import { badge, badgeWidth, oneLine, paintFor, plainBadge, saying } from '../paint.ts'
import type { StatusWord } from '../paint.ts'
import { clip, countOf, hang, pad, printable, widthOf } from '../text.ts'
import { isJudged, remedyOf, summary, tell } from './verdict.ts'

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
  /** True if its entry in the configuration is wrong */
  isEntryWrong?: boolean
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
  const say = saying(screen)
  const lines = examined.flatMap((it) => [...headOf(it, width, screen), ...(isShort ? [] : causesOf(it, screen))])
  const next = nextOf(examined, config)
  const end = hang('', `${countsOf(examined, say)} ${say(`Exit code ${exitCode}.`)}`, screen.columns)
  const first = 'Correct the wrong entries first: until then, other commands refuse the configuration.'
  const wrong = examined.some((it) => it.isEntryWrong) ? hang('', say(first), screen.columns) : []
  return [...lines, '', ...end, ...wrong, ...(next === null ? [] : [`${say('Next:')} ${printable(next)}`])]
    .map((line) => `${line}\n`)
    .join('')
}

/** How a report stands, whatever exit code was asked for. */
function stateOf(report: DoctorReport): StatusWord {
  const { error, unknown, warning } = report.summary
  if (error > 0) return 'error'
  if (unknown > 0) return 'unknown'
  if (warning > 0) return 'warning'
  return isJudged(report) ? 'ok' : 'skipped'
}

function headOf({ result }: Examined, width: number, screen: Screen): string[] {
  const word = isExamined(result) ? stateOf(result) : 'error'
  const say = saying(screen)
  const gap = ' '.repeat(badgeWidth(say) - widthOf(plainBadge(word, say)))
  const head = `${badge(word, paintFor(screen), say)}${gap}  ${pad(printable(result.deployment), width)}  `
  return hang(head, isExamined(result) ? aboutReport(result, say) : aboutError(result, say), screen.columns)
}

function aboutReport(report: DoctorReport, say: Say): string {
  const platform = printable(report.platform)
  const about = report.build === null ? platform : say(`${platform}, build ${printable(report.build)}`)
  return `${about}. ${summary(tell(report), say)}`
}

function aboutError({ error, exitCode }: Unexamined, say: Say): string {
  const message = clip(printable(error.message.replace(/\s+/g, ' ')), mostOfError)
  return `${say(`Not examined (exit code ${exitCode}):`)} ${message}`
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

function countsOf(examined: readonly Examined[], say: Say): string {
  const reports = examined.flatMap(({ result }) => (isExamined(result) ? [result] : []))
  const count = (word: StatusWord): number => reports.filter((it) => stateOf(it) === word).length
  const parts = [
    say(`${count('ok')} healthy`),
    say(`${count('error')} with problems`),
    say(`${count('warning')} with warnings only`),
    say(`${count('unknown')} not fully checked`),
    say(`${count('skipped')} with nothing examined`),
    say(`${examined.length - reports.length} not examined`),
  ]
  const told = parts.filter((it) => !it.startsWith('0 '))
  return `${say(countOf(examined.length, 'deployment'))}: ${told.join(', ')}.`
}

/**
 * Returns what to type for the first deployment that has the exit code of all, or whose entry is wrong: no other
 * command would work before. Null: there is nothing to do.
 */
function nextOf(examined: readonly Examined[], config: string | undefined): string | null {
  const first = (['error', 'unknown', 'warning'] as const).map((word) =>
    examined.find(({ result }) => isExamined(result) && stateOf(result) === word),
  )
  const wrong = examined.find((it) => it.isEntryWrong)
  const worst = wrong ?? first[0] ?? examined.find(({ result }) => !isExamined(result)) ?? first[1] ?? first[2]
  if (!worst) return null
  return command`testops-admin doctor ${nested(onDeployment(worst.result.deployment, config))}`
}
