import type { ParameterContent, ResultContent } from './result-file.ts'

/**
 * By what the service takes several results for reruns of one: the full name and the parameters in any order (SPEC.md
 * 2), but for those that are excluded (FIELD-NOTES.md 6). Null: there is no full name.
 */
export function identityOf({ fullName, parameters }: ResultContent): string | null {
  if (typeof fullName !== 'string' || fullName.trim() === '') return null
  if (!parameters || parameters.length === 0) return fullName
  const pairs: string[] = []
  for (const it of parameters) if (it && it.excluded !== true) pairs.push(pairOf(it))
  return pairs.length === 0 ? fullName : `${fullName}\0${pairs.sort().join('\0')}`
}

function pairOf({ name, value }: ParameterContent): string {
  // the length keeps a sign in a name from being taken for the one that divides
  return `${name?.length ?? 0}:${name ?? ''}=${value ?? ''}`
}
