import { isDeepStrictEqual } from 'node:util'
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

/** Lists whose members are told apart by one of their fields, as the API's types declare it. */
const mergeKeys: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  env: 'name',
  volumes: 'name',
  volumeMounts: 'mountPath',
  ports: 'containerPort',
  ownerReferences: 'uid',
}

/** A strategic merge patch: new members of a keyed list come first, known ones stay where they are. */
export function strategicPatch(target: Json, patch: Json, field = ''): Json {
  const key = mergeKeys[field]
  if (Array.isArray(patch) && key !== undefined) return mergeLists(Array.isArray(target) ? target : [], patch, key)
  if (!isMembers(patch)) return patch
  const result: Members = isMembers(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    const ordered = /^\$setElementOrder\/(.+)$/.exec(name)?.[1]
    if (ordered !== undefined) continue
    if (value === null) delete result[name]
    else result[name] = strategicPatch(result[name], value, name)
  }
  for (const [name, order] of Object.entries(patch)) {
    const ordered = /^\$setElementOrder\/(.+)$/.exec(name)?.[1]
    if (ordered !== undefined) result[ordered] = inOrder(result[ordered], order, mergeKeys[ordered])
  }
  return result
}

/** As a client has them; what it does not know stays behind the one before it. */
function inOrder(list: Json, order: Json, key: string | undefined): Json {
  if (!Array.isArray(list) || !Array.isArray(order)) return list
  const keyOf = (it: Json): Json => (key !== undefined && isMembers(it) ? it[key] : it)
  const wanted = (order as Json[]).map(keyOf)
  const known = (list as Json[]).filter((it) => wanted.includes(keyOf(it))).sort((one, other) => wanted.indexOf(keyOf(one)) - wanted.indexOf(keyOf(other)))
  const result: Json[] = []
  for (const it of list as Json[]) result.push(wanted.includes(keyOf(it)) ? known.shift() : it)
  return result
}

function mergeLists(target: readonly Json[], patch: readonly Json[], key: string): Json[] {
  const keyOf = (it: Json): Json => (isMembers(it) ? it[key] : undefined)
  const patched = new Map(patch.map((it) => [keyOf(it), it]))
  const isDeleted = (it: Json): boolean => isMembers(it) && it['$patch'] === 'delete'
  const known = new Set(target.map(keyOf))
  const added = patch.filter((it) => !known.has(keyOf(it)) && !isDeleted(it))
  const kept = target
    .filter((it) => !isDeleted(patched.get(keyOf(it))))
    .map((it) => (patched.has(keyOf(it)) ? strategicPatch(it, patched.get(keyOf(it))) : it))
  return [...added, ...kept]
}

/** RFC 6902: add, replace, remove, test. */
export function jsonPatch(target: Json, patch: Json): Json {
  if (!Array.isArray(patch)) throw unprocessable()
  return patch.reduce<Json>((value, it: Members) => apply(value, String(it['path']).split('/').slice(1).map(unescape), it), target)
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

function isMembers(value: Json): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
