import { command } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

/** Where the steps of a repair stand, for whoever makes them one by one. */
export function byHand(id: string): ShellCommand {
  return command`testops-admin explain ${id}   # the same by hand`
}
