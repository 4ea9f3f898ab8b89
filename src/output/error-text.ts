import type { ErrorCode } from '../core/error.ts'
import { cancelledMessage } from '../core/error.ts'
import { harmless, harmlessLines } from '../core/harmless.ts'
import type { Suggestion } from '../core/shell-command.ts'
import { command, nested } from '../core/shell-command.ts'
import type { Screen } from './paint.ts'
import { paintFor } from './paint.ts'
import { hang, printable } from './text.ts'

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

const here = '# on this machine'

/** Returns the next step as printed. Says on which machine a command is typed, except for this program's own. */
export function typedHere(next: Suggestion): Suggestion {
  return next.startsWith('testops-admin ') || next.includes('   # ') ? next : command`${nested(next)}   ${nested(here)}`
}

const programs = /^(?:testops-admin|kubectl|helm|docker|ls|getent|curl|openssl|tail|\$\{EDITOR:-vi\}) /

/**
 * Returns the first of the suggestions that is a command with a known machine to type it on. For an operator whose
 * check could not ask; the suggestions are commands and sentences.
 */
export function firstTypedHere(suggestions: readonly string[]): string | undefined {
  const first = suggestions.find((it) => programs.test(it) || it.includes('   # on '))
  return first === undefined || first.startsWith('testops-admin ') || first.includes('   # ')
    ? first
    : `${first}   ${here}`
}

/** Returns `Next:` with the next step, on one line however long, so that it can be copied; empty if there is none. */
export function nextText(next: Suggestion | undefined): string {
  return next === undefined ? '' : `Next: ${printable(typedHere(next))}\n`
}
