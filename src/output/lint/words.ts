import { posix } from 'node:path'
import { bytes as size } from '../../core/figures.ts'
import { grouped } from '../../core/grouped.ts'
import { harmless } from '../../core/harmless.ts'
import type { LintDocument, LintProblem } from './document.ts'

/** Returns a number with its noun, such as `1,284 results`, in the English plural. */
export function amount(count: number, singular: string, plural = `${singular}s`): string {
  return `${grouped(count)} ${harmless(count === 1 ? singular : plural)}`
}

/** Returns a size such as `1,284 results in 1,502 files, 5.2 MB`. */
export function extent({ results, files, bytes }: Pick<LintDocument, 'results' | 'files' | 'bytes'>): string {
  return `${amount(results, 'result')} in ${amount(files, 'file')}, ${size(bytes)}`
}

/** Returns counts such as `2 errors, 1 warning`; empty if all are 0. */
export function tally({
  summary: { error, warning },
  undeterminedCount,
}: Pick<LintDocument, 'summary' | 'undeterminedCount'>): string {
  const parts = [
    error > 0 ? amount(error, 'error') : '',
    warning > 0 ? amount(warning, 'warning') : '',
    undeterminedCount > 0 ? `${amount(undeterminedCount, 'file')} not checked` : '',
  ]
  return parts.filter(Boolean).join(', ')
}

/**
 * Returns the test of a result as its author knows it: its name, and the full name if that says more. Null if it has
 * neither.
 */
export function testOf(result: LintProblem['result'], most?: number): string | null {
  const { name, fullName } = result ?? {}
  if (!name) return fullName ? short(fullName, most) : null
  return !fullName || fullName.includes(name) ? short(name, most) : `${short(name, most)} (${short(fullName, most)})`
}

/** Cuts a name, which may be as long as a file, so that it does not hide the rest. */
export function short(name: string, most = 120): string {
  return name.length > most ? `${name.slice(0, most - 1).trimEnd()}…` : name
}

/** Returns the file's path as one would type it where the command was given. */
export function pathOf(directory: string, file: string): string {
  return file === '.' ? directory : posix.join(directory, file)
}
