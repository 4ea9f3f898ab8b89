import { fstatSync } from 'node:fs'
import type { Suggestion } from '../core/shell-command.ts'

/** True if something is piped or redirected into this program; a terminal and /dev/null do not count. */
export function isPiped(): boolean {
  try {
    const input = fstatSync(0)
    return input.isFIFO() || input.isFile()
  } catch {
    // standard input is closed
    return false
  }
}

/** Returns the note for input that is piped into a command that was not told to read it. */
export function unreadNote(program: Suggestion): string {
  return `Standard input is ignored. To read it, run: ${program} -`
}
