import { fstatSync } from 'node:fs'
import type { Suggestion } from '../core/shell-command.ts'

/** Whether something is piped or redirected into this program; a terminal, and /dev/null, is nothing. */
export function isPiped(): boolean {
  try {
    const input = fstatSync(0)
    return input.isFIFO() || input.isFile()
  } catch {
    // it is closed
    return false
  }
}

/** What is told where something is piped into a command that was not told to read it. */
export function unreadNote(program: Suggestion): string {
  return `Standard input is not read. To read it: ${program} -`
}
