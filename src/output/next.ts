import { command, nested } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'
import { printable } from './text.ts'

const here = '# on this machine'

/**
 * The next step as it is printed: this program is at home where that is read; of any other command it is said on which
 * machine it is typed.
 */
export function typedHere(next: Suggestion): Suggestion {
  return next.startsWith('testops-admin ') || next.includes('   # ') ? next : command`${nested(next)}   ${nested(here)}`
}

const programs = /^(?:testops-admin|kubectl|helm|docker|ls|getent|curl|openssl|tail|\$\{EDITOR:-vi\}) /

/**
 * Of what is suggested to whoever could not ask, commands and sentences, the first command of which it is known where
 * it is typed.
 */
export function firstTypedHere(suggestions: readonly string[]): string | undefined {
  const first = suggestions.find((it) => programs.test(it) || it.includes('   # on '))
  return first === undefined || first.startsWith('testops-admin ') || first.includes('   # ')
    ? first
    : `${first}   ${here}`
}

/** `Next:` with that step, on one line however long, so that it can be copied; empty: there is none. */
export function nextText(next: Suggestion | undefined): string {
  return next === undefined ? '' : `Next: ${printable(typedHere(next))}\n`
}
