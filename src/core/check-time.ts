import { command, nested } from './shell-command.ts'
import type { ShellCommand } from './shell-command.ts'

/**
 * Milliseconds that a check's deadline exceeds its adapter's time-out, so that the adapter's more telling error comes
 * first.
 */
export const deadlineSlackMs = 1000
/** What `--timeout` takes at most */
const mostSeconds = 3600

/** Returns the command that runs a check alone, with twice the `--timeout` from which this deadline follows. */
export function withMoreTime(
  id: string,
  deadlineMs: number,
  on: ShellCommand = command`-d {deployment}`,
): ShellCommand {
  const seconds = Math.max(1, Math.ceil((deadlineMs - deadlineSlackMs) / 1000))
  return command`testops-admin doctor ${nested(on)} --only ${id} --timeout ${Math.min(mostSeconds, 2 * seconds)}`
}
