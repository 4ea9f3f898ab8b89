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
