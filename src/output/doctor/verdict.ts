import type { Screen } from '../screen.ts'
import { countOf, hang, printable } from '../text.ts'
import { namesOf } from './lots.ts'
import { firstTypedHere, typedHere } from '../next.ts'
import type { Told } from './stories.ts'

/** Returns the last lines: the summary, the exit code, and what to type next. */
export function verdict(told: Told, exitCode: number, screen: Screen): string[] {
  const lines = hang('', `${summary(told)} Exit code ${exitCode}.`, screen.columns)
  const next = nextCommand(told)
  return next ? [...lines, `Next: ${printable(next)}`] : lines
}

/** Returns the result of the report in one sentence. */
export function summary({ all, stories, unknown, skipped, ok }: Told): string {
  const errors = stories.filter(({ root }) => root.severity === 'error')
  const warnings = stories.filter(({ root }) => root.severity !== 'error')
  const parts = [
    errors.length > 0 ? `${countOf(errors.length, 'problem')}: ${names(errors.map(({ root }) => root))}` : '',
    warnings.length > 0 ? `${countOf(warnings.length, 'warning')}: ${names(warnings.map(({ root }) => root))}` : '',
    unknown.length > 0
      ? `${countOf(unknown.length, 'check')} could not be judged: ${namesOf(unknown, all).join(', ')}`
      : '',
  ].filter(Boolean)
  if (parts.length === 0) return `Healthy: ${ok.length} ok${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}.`
  return `${stories.length === 0 ? 'No problem found, but ' : ''}${parts.join('; ')}.`
}

function nextCommand({ stories, unknown }: Told): string | undefined {
  const [story] = stories
  const { remedy, error, docs } = story?.root ?? unknown[0] ?? {}
  const command = remedy?.commands.find((line) => !line.startsWith('#'))
  return command === undefined ? (firstTypedHere(error?.suggestions ?? []) ?? docs) : typedHere(command)
}

function names(checks: readonly { id: string }[]): string {
  return checks.map(({ id }) => id).join(', ')
}
