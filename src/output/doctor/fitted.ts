import { countOf, widthOf } from '../text.ts'

const colours = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g')
/** Rows of the line that says how much was left out, with an empty line before and after */
const gapRows = 3

/**
 * Cuts a report to the rows of a screen, so that the next one can be drawn in its place. Keeps its beginning, and its
 * last lines with the verdict.
 */
export function fitted(text: string, { rows, columns }: { rows: number; columns: number }): string {
  const lines = text.trimEnd().split('\n')
  const rowsOf = (line: string): number => Math.max(1, Math.ceil(widthOf(line.replaceAll(colours, '')) / columns))
  const taken = (some: readonly string[]): number => some.reduce((sum, line) => sum + rowsOf(line), 0)
  if (taken(lines) <= rows) return `${lines.join('\n')}\n`
  const last = lines.slice(lines.lastIndexOf('') + 1)
  const room = rows - taken(last) - gapRows
  const first: string[] = []
  for (const line of lines.slice(0, lines.length - last.length)) {
    if (taken(first) + rowsOf(line) > room) break
    first.push(line)
  }
  const left = lines.length - first.length - last.length
  return `${[...first, '', `(${countOf(left, 'more line')}: the terminal has no room)`, '', ...last].join('\n')}\n`
}
