import { isDeepStrictEqual } from 'node:util'
import { isMap } from './project.ts'
import { own } from '../../core/own.ts'

/** Returns the paths of keys at which two values differ; never the values, which may be secret. */
export function differences(one: unknown, other: unknown, path: readonly string[] = []): string[] {
  if (isDeepStrictEqual(one, other)) return []
  if (!isMap(one) || !isMap(other)) return [path.join('.')]
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return keys.flatMap((key) => differences(own(one, key), own(other, key), [...path, key]))
}
