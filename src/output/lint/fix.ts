import type { RuleId } from '../../knowledge/result-rules.ts'
import { grouped } from '../../core/grouped.ts'
import type { Screen } from '../screen.ts'
import { hang, printable } from '../text.ts'
import type { LintFix } from './document.ts'
import { amount } from './words.ts'

/** so many of what was left as it is are named */
const mostLeft = 5

/** Whether `--fix` may mend what that rule finds. */
export function isMendable(rule: RuleId): boolean {
  return rule === 'nested-attachment' || rule === 'long-field'
}

/** What was mended in the copy, what was not and why, and what is not in it. */
export function fixLines(
  { from, output, files, mended, left, leftCount, omitted }: LintFix,
  { columns }: Screen,
): string[] {
  const counts = Object.entries(mended).map(([rule, count]) => `${rule} ${grouped(count)}`)
  return [
    ...hang(
      '',
      printable(
        `Copied ${amount(files, 'file')} from ${from} to ${output}; fixed: ${counts.join(', ') || 'nothing'}. The rest is about the copy.`,
      ),
      columns,
    ),
    ...listed(
      'Not fixed:',
      left.map(
        ({ rule, file, place, message }) => `${rule}: ${file}${place === undefined ? '' : `, ${place}`}: ${message}`,
      ),
      leftCount,
      columns,
    ),
    ...listed(
      'Not in the copy:',
      omitted.map(({ file, message }) => `${file}: ${message}`),
      omitted.length,
      columns,
    ),
  ]
}

function listed(title: string, lines: readonly string[], count: number, columns: number): string[] {
  if (count === 0) return []
  const here = lines.slice(0, mostLeft)
  const more = count - here.length
  return [
    title,
    ...here.flatMap((line) => hang('  - ', printable(line), columns)),
    ...(more > 0 ? [`    and ${grouped(more)} more`] : []),
  ]
}
