import { closeSync, openSync } from 'node:fs'

/** Whether this process has a terminal, wherever its streams go to. */
export function isOnTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r+'))
    return true
  } catch {
    return false
  }
}
