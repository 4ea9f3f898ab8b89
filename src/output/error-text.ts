import { cancelledMessage } from '../core/error.ts'
import type { ErrorCode } from '../core/error.ts'
import { harmless, harmlessLines } from '../core/harmless.ts'
import { paintFor } from './paint.ts'
import type { Screen } from './screen.ts'
import { hang, printable } from './text.ts'
import type { Suggestion } from '../core/shell-command.ts'

/** What `--json` prints in place of a result (DESIGN.md 2). `BUG` is any unforeseen error. */
export interface ErrorDocument {
  error: { code: ErrorCode | 'BUG'; message: string; suggestions: readonly Suggestion[] }
}

/** Returns an error as shown to people: what happened, then what to type next. */
export function errorText({ error }: ErrorDocument, screen: Screen): string {
  if (error.message === cancelledMessage) return `${error.message}\n`
  const paint = paintFor(screen)
  const [what = '', ...items] = error.message.split(/\n(?=- )/)
  const [first = '', ...rest] = [
    ...hang('Error: ', printable(what), screen.columns),
    ...items.flatMap((item) => hang('  - ', printable(item.slice(2)), screen.columns)),
  ]
  const lines = [first.replace('Error:', paint.bad('Error:')), ...rest]
  if (error.suggestions.length > 0) {
    lines.push('', 'Try:')
    for (const suggestion of error.suggestions) lines.push(`  ${printable(suggestion)}`)
  }
  return `${lines.join('\n')}\n`
}

/** Returns where a bug of this program occurred: its message on one line, then the places in the code. */
export function stackText(stack: string): string {
  const places = stack.search(/^ {4}at /m)
  const [head, rest] = places < 0 ? [stack, ''] : [stack.slice(0, places).trimEnd(), stack.slice(places)]
  return `${harmless(head)}\n${rest === '' ? '' : `${harmlessLines(rest).replace(/^(?! )/gm, '    ')}\n`}`
}
