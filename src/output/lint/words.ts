import { posix } from 'node:path'
import { bytes as size } from '../../core/figures.ts'
import { grouped } from '../../core/grouped.ts'
import { harmless } from '../../core/harmless.ts'
import type { LintDocument, LintProblem } from './document.ts'

/** `1,284 results`, with the plural of English. */
export function amount(count: number, singular: string, plural = `${singular}s`): string {
  return `${grouped(count)} ${harmless(count === 1 ? singular : plural)}`
}

/** `1,284 results in 1,502 files, 5.2 MB` */
export function extent({ results, files, bytes }: Pick<LintDocument, 'results' | 'files' | 'bytes'>): string {
  return `${amount(results, 'result')} in ${amount(files, 'file')}, ${size(bytes)}`
}

/** `2 errors, 1 warning`; empty where there is neither. */
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

/** The test that a result is of, as its author knows it: its name, with the full name where that says more. */
export function testOf(result: LintProblem['result'], most?: number): string | null {
  const { name, fullName } = result ?? {}
  if (!name) return fullName ? short(fullName, most) : null
  return !fullName || fullName.includes(name) ? short(name, most) : `${short(name, most)} (${short(fullName, most)})`
}

/** A name, which may be as long as a file, cut to where it does not hide the rest. */
export function short(name: string, most = 120): string {
  return name.length > most ? `${name.slice(0, most - 1).trimEnd()}…` : name
}

/** The file as one would name it from where the command was given. */
export function pathOf(directory: string, file: string): string {
  return file === '.' ? directory : posix.join(directory, file)
}
