import { isDeepStrictEqual } from 'node:util'
import { isMembers } from './fields.ts'
import { unprocessable } from './status.ts'

type Json = unknown
type Members = Record<string, Json>

/** RFC 7386. */
export function mergePatch(target: Json, patch: Json): Json {
  if (!isMembers(patch)) return patch
  const result: Members = isMembers(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = mergePatch(result[key], value)
  }
  return result
}

/** RFC 6902: add, replace, remove, test. */
export function jsonPatch(target: Json, patch: Json): Json {
  if (!Array.isArray(patch)) throw unprocessable()
  return patch.reduce<Json>(
    (value, it: Members) => apply(value, String(it['path']).split('/').slice(1).map(unescape), it),
    target,
  )
}

function apply(target: Json, path: readonly string[], operation: Members): Json {
  const [first, ...rest] = path
  if (first === undefined) return operation['op'] === 'test' ? tested(target, operation) : operation['value']
  if (!Array.isArray(target) && !isMembers(target)) throw unprocessable()
  const copy: Json[] | Members = Array.isArray(target) ? [...(target as Json[])] : { ...target }
  const at = (key: string): Json => (Array.isArray(copy) ? copy[Number(key)] : copy[key])
  const has = Array.isArray(copy) ? Number(first) < copy.length : first in copy
  if (rest.length > 0) {
    if (!has) throw unprocessable()
    const changed = apply(at(first), rest, operation)
    if (Array.isArray(copy)) copy[Number(first)] = changed
    else copy[first] = changed
    return copy
  }
  switch (operation['op']) {
    case 'test':
      tested(at(first), operation)
      return copy
    case 'remove':
      if (!has) throw unprocessable()
      if (Array.isArray(copy)) copy.splice(Number(first), 1)
      else delete copy[first]
      return copy
    case 'replace':
    case 'add': {
      const isNew = operation['op'] === 'add'
      if (!isNew && !has) throw unprocessable()
      if (!Array.isArray(copy)) copy[first] = operation['value']
      else if (first === '-') copy.push(operation['value'])
      else copy.splice(Number(first), isNew ? 0 : 1, operation['value'])
      return copy
    }
    default:
      throw unprocessable()
  }
}

function tested(value: Json, operation: Members): Json {
  if (!isDeepStrictEqual(value, operation['value'])) throw unprocessable()
  return value
}

function unescape(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}
