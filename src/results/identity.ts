import type { TestOfResult } from './problem.ts'
import type { ParameterContent, ResultContent } from './result-file.ts'

/**
 * Returns the identity by which the service takes several results for reruns of one. It is the full name and the
 * parameters in any order (SPEC.md 2), except excluded ones (FIELD-NOTES.md 6). Null if there is no full name.
 */
export function identityOf({ fullName, parameters }: ResultContent): string | null {
  if (typeof fullName !== 'string' || fullName.trim() === '') return null
  if (!parameters || parameters.length === 0) return fullName
  const pairs: string[] = []
  for (const it of parameters) if (it && it.excluded !== true) pairs.push(pairOf(it))
  return pairs.length === 0 ? fullName : `${fullName}\0${pairs.sort().join('\0')}`
}

function pairOf({ name, value }: ParameterContent): string {
  // the length keeps a character in a name from being read as the separator
  return `${name?.length ?? 0}:${name ?? ''}=${value ?? ''}`
}

/** Maximum characters of a text that are kept: four times what the service keeps. */
const mostLetters = 1020

/** Returns what shows which test a result belongs to, as far as present; null if nothing does. */
export function testOf(content: unknown): TestOfResult | null {
  if (typeof content !== 'object' || content === null) return null
  const { name, fullName, status } = content as Record<string, unknown>
  const test: TestOfResult = {}
  if (typeof name === 'string') test.name = cut(name)
  if (typeof fullName === 'string') test.fullName = cut(fullName)
  if (typeof status === 'string') test.status = cut(status)
  return Object.keys(test).length > 0 ? test : null
}

function cut(text: string): string {
  return text.length > mostLetters ? `${text.slice(0, mostLetters)}…` : text
}
