import { command, nested } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'
import { printable } from './text.ts'

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
