import { Errors } from '@oclif/core'
import { AdminError, messageOf } from '../core/error.ts'
import type { ErrorDocument } from '../output/error-text.ts'
import { withoutSecretsIn } from '../core/redaction/document.ts'

/** The exit code of a bug of this program. */
const bugExitCode = 70
/** where standard output can take no more: what the command needs is not there */
const noOutputExitCode = 69

export interface Failure {
  exitCode: number
  document: ErrorDocument
  /** only of bugs */
  stack?: string
}

/** What to say, without secrets, of anything that a command threw; null where it only asked to end. */
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
 * Whether writing failed where no file is named: standard output on a full disk. Those who stop reading are no failure.
 */
export function isOutput(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const { syscall, path, code } = thrown as NodeJS.ErrnoException
  return syscall === 'write' && path === undefined && (code === 'ENOSPC' || code === 'EIO' || code === 'EDQUOT')
}
