import { AdminError, exitCodes, messageOf } from '../core/error.ts'
import type { RunError, RunOutcome } from '../core/run.ts'
import { withoutSecretsIn } from '../core/redaction/document.ts'
import type { Suggestion } from '../core/shell-command.ts'

/** A failure as a document and a journal keep it. `fill`: commands as they are typed on this deployment. */
export function runError(error: unknown, fill: (suggestion: Suggestion) => Suggestion = (same) => same): RunError {
  if (error instanceof AdminError)
    return withoutSecretsIn({ code: error.code, message: error.message, suggestions: error.suggestions.map(fill) })
  return withoutSecretsIn({
    code: 'BUG',
    message: `this is a bug of testops-admin: ${messageOf(error)}`,
    suggestions: [],
  })
}

/**
 * What a failure makes of a run. One that has changed something and not come to its end is half done, whatever stopped
 * it, but for a step that was tried and failed by itself.
 */
export function outcomeOf({ code }: Pick<RunError, 'code'>, halfDone: boolean): RunOutcome {
  if (code === 'FAILED' || code === 'BUG') return 'failed'
  if (halfDone || code === 'INTERRUPTED') return 'interrupted'
  return code === 'REFUSED' || code === 'BUSY' ? 'refused' : 'failed'
}

/** The exit code of a run (DESIGN.md 3). */
export function exitCodeOfRun(
  outcome: RunOutcome,
  error: Pick<RunError, 'code'> | undefined,
  verification: Readonly<Record<string, string>>,
): number {
  if (outcome === 'interrupted') return exitCodes.INTERRUPTED
  if (error?.code === 'BUG') return 70
  if (error) return exitCodes[error.code]
  const statuses = Object.values(verification)
  if (outcome === 'failed' || statuses.includes('error')) return exitCodes.FAILED
  return statuses.includes('unknown') ? 3 : 0
}
