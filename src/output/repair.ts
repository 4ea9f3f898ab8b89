import { cancelledMessage } from '../core/error.ts'
import { own } from '../core/lookup.ts'
import type { Plan } from '../core/plan.ts'
import { fileOf, isUndoable, leavesChange } from '../core/plan.ts'
import type { RepairDocument, TreeAccount } from '../core/repair.ts'
import { command, nested } from '../core/shell-command.ts'
import { onDeployment } from '../core/typed.ts'
import { errorText, nextText } from './error-text.ts'
import type { Paint, Screen } from './paint.ts'
import { paintFor } from './paint.ts'
import { planText } from './plan.ts'
import { countOf, hang, pad, printable, widthOf } from './text.ts'
import type { Moving } from '../core/controls.ts'
import { grouped } from '../core/format.ts'

const outcomes = {
  planned: 'Nothing changed: this is only the plan.',
  done: 'Done.',
  'nothing-to-do': 'There is nothing to do.',
  failed: 'Failed.',
  refused: 'Refused: nothing changed.',
  interrupted: 'Unfinished.',
} as const

/**
 * Returns how a repair ended. Shows the plan if it was not applied; steps were reported as they went. `config` is the
 * file that a flag named.
 */
export function repairText(document: RepairDocument, screen: Screen, config?: string): string {
  const { plan, outcome, error, run, verification, reasons = {} } = document
  const paint = paintFor(screen)
  const here = onDeployment(plan.deployment, config, fileOf(plan))
  if (outcome === 'planned')
    return `${planText(plan, screen)}\n${hang('', outcomes.planned, screen.columns).join('\n')}\n`
  if (error?.message === cancelledMessage) return errorText({ error }, screen)
  if (outcome === 'nothing-to-do') return planText(plan, screen)
  const results = new Set(document.applied.flatMap((it) => it.results ?? []))
  const lines = [
    headline(document, paint),
    ...(run === null ? [] : accountLines(document, screen)),
    ...[...results].map((it) => `  ${printable(it)}`),
  ]
  const checks = Object.entries(verification)
  const width = Math.max(0, ...checks.map(([id]) => widthOf(id)))
  for (const [id, status] of checks) {
    lines.push(`  ${pad(id, width)}  ${statusWord(status, paint)}`)
    const why = own(reasons, id)
    if (why !== undefined) lines.push(...hang('    ', printable(why), screen.columns))
  }
  if (outcome === 'done' && run !== null && leavesChange(plan) && !isTakenBack(document))
    lines.push('', command`To undo it: testops-admin undo ${run} ${nested(here)}`)
  const told = error ? `\n${isUnhealthy(document) ? nextText(error.suggestions[0]) : errorText({ error }, screen)}` : ''
  return `${lines.join('\n')}\n${told}`
}

/** True if every step was done, but a check still finds an error. */
function isUnhealthy({ outcome, verification }: RepairDocument): boolean {
  return outcome === 'failed' && Object.values(verification).includes('error')
}

/** True if the run was undone. A run that had touched nothing is undone without a step. */
function isTakenBack({ applied, verification }: RepairDocument): boolean {
  return (
    applied.some(({ status }) => status === 'undone') ||
    (applied.length === 0 && Object.keys(verification).length === 0)
  )
}

/** True if the run ended before it touched anything, so that nothing can be resumed. */
function isOver({ run, error }: RepairDocument): boolean {
  return run === null || !(error?.suggestions ?? []).some((it) => it.includes(` ${run}`))
}

function headline(document: RepairDocument, paint: Paint): string {
  const { outcome, run } = document
  const word = wordFor(document)
  const painted = outcome === 'done' ? paint.good(word) : outcome === 'refused' ? paint.warn(word) : paint.bad(word)
  return run === null ? painted : `${painted} Run ${printable(run)}.`
}

function wordFor(document: RepairDocument): string {
  const { outcome, plan, applied, error } = document
  if (isUnhealthy(document)) return 'Done, but not healthy.'
  if (outcome === 'done' && isTakenBack(document))
    return plan.steps.some(isUndoable) ? 'Undone.' : 'Closed: its changes stay.'
  if (outcome === 'interrupted' && isOver(document)) return 'Interrupted: nothing changed.'
  if (outcome === 'failed' && error && applied.length === 0 && isOver(document)) return 'Failed: nothing changed.'
  return outcomes[outcome]
}

function statusWord(status: string, paint: Paint): string {
  if (status === 'ok') return paint.good(status)
  return status === 'error' ? paint.bad(status) : status === 'warning' ? paint.warn(status) : printable(status)
}

/** Returns a function that reports each step as it begins and ends, one line each. */
export function stepLines(
  { steps, expectedMs = [] }: Plan,
  say: (line: string) => void,
): (step: number, status: 'begun' | 'going-back' | 'done' | 'already' | 'failed' | 'interrupted' | 'undone') => void {
  const since = new Map<number, number>()
  return (step, status) => {
    const place = `${step + 1}/${steps.length}`
    const title = printable(steps[step]?.title ?? '')
    if (status === 'begun' || status === 'going-back') since.set(step, performance.now())
    if (status === 'going-back') return say(`  ${place}  undoing: ${title}`)
    if (status === 'begun') {
      const usual = expectedMs[step]
      return say(`  ${place}  ${title}${usual == null || usual < 1000 ? '' : ` (about ${Math.round(usual / 1000)} s)`}`)
    }
    const seconds = ((performance.now() - (since.get(step) ?? performance.now())) / 1000).toFixed(1)
    say(status === 'already' ? `  ${place}  already done` : `  ${place}  ${status} after ${seconds} s`)
  }
}

/** Returns the steps that an undo reverses, in its order; '' if there are none. */
export function takeBackText({ steps }: Plan, order: readonly number[], { columns }: Screen): string {
  const lines = order.flatMap((index) => hang(`  ${index + 1}. `, printable(steps[index]!.title), columns))
  return lines.length === 0 ? '' : `\nThe undo reverses these steps, in this order:\n${lines.join('\n')}\n`
}

const mostFailures = 10

/** Returns the outcome of the calls of a repair that counts them; no lines for other repairs. */
export function accountLines(
  { requested, accepted = 0, skipped = 0, failed = [] }: Partial<TreeAccount>,
  { columns }: Screen,
): string[] {
  if (requested === undefined) return []
  const parts = [
    `${grouped(accepted)} of ${grouped(requested)} ${requested === 1 ? 'call' : 'calls'} accepted`,
    ...(failed.length > 0 ? [`${grouped(failed.length)} failed`] : []),
    ...(skipped > 0 ? [`${grouped(skipped)} without an answer`] : []),
  ]
  const lines = failed
    .slice(0, mostFailures)
    .flatMap(({ project, tree, message }) =>
      hang(
        tree === undefined ? `    project ${project}: ` : `    tree ${project}/${tree}: `,
        printable(message),
        columns,
      ),
    )
  const more = failed.length - mostFailures
  return [`  ${parts.join(', ')}`, ...lines, ...(more > 0 ? [`    and ${countOf(more, 'more failure')}`] : [])]
}

/** Returns progress such as `412,000 of 1,284,000 sessions, 85,000/s, 10 s left`; the rate only once it is known. */
export function movingLine({ done, total, unit }: Moving, elapsedMs: number): string {
  const amount = `${grouped(done)} of ${grouped(total)} ${unit}`
  const rate = elapsedMs >= 1000 ? (1000 * done) / elapsedMs : 0
  if (rate === 0) return amount
  const shown = rate >= 10 ? grouped(Math.round(rate)) : rate.toFixed(1)
  return `${amount}, ${shown}/s${done < total ? `, ${left((total - done) / rate)} left` : ''}`
}

function left(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}
