import { Errors } from '@oclif/core'
import { AdminError, messageOf } from '../core/error.ts'
import type { ErrorDocument } from '../output/error-text.ts'
import { withoutSecretsIn } from '../core/redaction/document.ts'

/** Exit code for a bug in this program */
const bugExitCode = 70
/** Exit code if standard output takes no more: something that the command needs is missing */
const noOutputExitCode = 69

export interface Failure {
  exitCode: number
  document: ErrorDocument
  /** Only for bugs */
  stack?: string
}

/** Returns what to say about anything that a command threw, without secrets; null if it only asked to exit. */
export function failureOf(thrown: unknown, program: string): Failure | null {
  return withoutSecretsIn(saidOf(thrown, program))
}

function saidOf(thrown: unknown, program: string): Failure | null {
  if (thrown instanceof Errors.ExitError) return null
  if (thrown instanceof AdminError) {
    const { code, message, suggestions, exitCode } = thrown
    return { exitCode, document: { error: { code, message, suggestions } } }
  }
  if (isOutput(thrown)) {
    const message = `cannot write the output: ${messageOf(thrown)}`
    return { exitCode: noOutputExitCode, document: { error: { code: 'UNAVAILABLE', message, suggestions: [] } } }
  }
  const stack = thrown instanceof Error ? thrown.stack : undefined
  return {
    exitCode: bugExitCode,
    document: { error: { code: 'BUG', message: `this is a bug in ${program}: ${messageOf(thrown)}`, suggestions: [] } },
    ...(stack ? { stack } : {}),
  }
}

/**
 * True if writing to standard output failed, as on a full disk: the error names no file. A reader that stops is no
 * failure.
 */
export function isOutput(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const { syscall, path, code } = thrown as NodeJS.ErrnoException
  return syscall === 'write' && path === undefined && (code === 'ENOSPC' || code === 'EIO' || code === 'EDQUOT')
}
