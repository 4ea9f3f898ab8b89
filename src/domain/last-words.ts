import { withoutValues } from '../core/redaction/given.ts'
import { withoutSecrets } from '../core/redaction/index.ts'
import { Secret, UnreadableSecret } from '../core/secret.ts'
import { crashReasons, crashReasonsInError, lastWait } from '../knowledge/log-signatures.ts'
import type { CrashReason } from '../knowledge/log-signatures.ts'

/** Why a run of the service ended, read from what it printed last. */
export interface Ending {
  reason: CrashReason | null
  /** The lines that show the reason, shortened */
  lines: readonly string[]
}

/** Lines of output that are searched; lines that are quoted; characters per quoted line */
const [maxLines, toldLines, lineLength] = [400, 3, 300]

const dated = /^\d{4}-\d\d-\d\d[ T]\d\d:/
const grave =
  /^\d{4}-\d\d-\d\d\S*(?: \S+)?\s+\[?(?:ERROR|FATAL)\b|^(?:Exception in thread|Fatal |Error: |Terminating due to )/

/**
 * Finds why the service ended: known reasons first, then the last error, otherwise the last lines. Null if it printed
 * nothing. `hide` removes secrets from a line.
 */
export function endingIn(text: string, hide: (line: string) => string): Ending | null {
  const lines = text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .slice(-maxLines)
  if (lines.length === 0) return null
  // hide before cutting: half of a secret is not recognized
  const shown = (line: string): string => cut(hide(line))
  for (const reason of crashReasons) {
    const line = lines.findLast((it) => reason.sign.test(it))
    if (line !== undefined) return { reason, lines: [shown(line)] }
  }
  const error = lastError(lines)
  const reason = crashReasonsInError.find(({ sign }) => error.some((line) => sign.test(line)))
  if (reason) return { reason, lines: [shown(error.find((line) => reason.sign.test(line))!)] }
  if (lastWait.sign.test(lines.at(-1)!)) return { reason: lastWait, lines: [shown(lines.at(-1)!)] }
  return { reason: null, lines: (error.length > 0 ? tellingOf(error) : lines.slice(-toldLines)).map(shown) }
}

/** Returns the lines of the last error's record; empty if there is no error. */
function lastError(lines: readonly string[]): string[] {
  const at = lines.findLastIndex((line) => grave.test(line))
  if (at === -1) return []
  const next = lines.findIndex((line, index) => index > at && dated.test(line))
  return lines.slice(at, next === -1 ? undefined : next)
}

/** Returns the first line of an error, the description of Spring Boot's analysis, and the innermost cause. */
function tellingOf(error: readonly string[]): string[] {
  const described = error[error.findIndex((line) => line.trim() === 'Description:') + 1]
  const cause = error.findLast((line) => line.startsWith('Caused by:'))
  const isAnalysed = error.some((line) => line.trim() === 'Description:')
  return [
    error[0]!,
    ...(isAnalysed && described !== undefined ? [described] : []),
    ...(cause === undefined ? [] : [cause]),
  ].slice(0, toldLines)
}

function cut(line: string): string {
  return line.length > lineLength ? `${line.slice(0, lineLength)}…` : line
}

/** Returns the text without secrets: those in the service's own settings, and whatever has the form of a secret. */
export function masked(text: string, environment: ReadonlyMap<string, string | Secret> | null): string {
  const known = [...(environment?.values() ?? [])].flatMap((value) =>
    value instanceof Secret && !(value instanceof UnreadableSecret) ? [value.reveal()] : [],
  )
  return withoutSecrets(withoutValues(text, known, { anywhere: 6 }))
}
