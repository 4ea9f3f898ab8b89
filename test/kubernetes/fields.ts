import { isDeepStrictEqual } from 'node:util'

type Members = Readonly<Record<string, unknown>>

/** Elements as `fieldsV1` writes them: `f:spec`, `k:{"name":"testops"}`, `v:"kubernetes"`. */
export type Path = readonly string[]

/** Paths of fields, each as one text (`textOf`). */
export type FieldSet = ReadonlySet<string>

/**
 * How `fieldsV1` writes a set: what stands for itself has an own member `.` as soon as something below it is in the set
 * too.
 */
export interface FieldsV1 {
  [element: string]: FieldsV1
}

const separator = '\0'

/** A path as one text. */
export function textOf(path: Path): string {
  return path.join(separator)
}

function pathOf(text: string): Path {
  return text.split(separator)
}

/**
 * Lists whose items are told apart by some of their members (Kubernetes API reference, `x-kubernetes-list-map-keys`).
 */
const listKeys: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  initContainers: ['name'],
  ephemeralContainers: ['name'],
  env: ['name'],
  volumes: ['name'],
  imagePullSecrets: ['name'],
  secrets: ['name'],
  'containers.ports': ['containerPort', 'protocol'],
  'initContainers.ports': ['containerPort', 'protocol'],
  'spec.ports': ['port', 'protocol'],
  volumeMounts: ['mountPath'],
  volumeDevices: ['devicePath'],
  conditions: ['type'],
  ownerReferences: ['uid'],
  hostAliases: ['ip'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
}
/** what stands for a key that an item does not have */
const keyDefaults: Members = { protocol: 'TCP' }
const setLists: ReadonlySet<string> = new Set(['finalizers'])
/** Maps that are set as a whole (`x-kubernetes-map-type: atomic`). */
const atomicMaps: ReadonlySet<string> = new Set([
  'selector',
  'secretKeyRef',
  'configMapKeyRef',
  'fieldRef',
  'resourceFieldRef',
  'nodeSelector',
  'secretRef',
  'configMapRef',
  'labelSelector',
  'claimRef',
  'targetRef',
  'roleRef',
  'imagePullSecrets',
])
/** Maps whose members the API does not name: a member is none of a type. */
const freeMaps: ReadonlySet<string> = new Set([
  'labels',
  'annotations',
  'data',
  'binaryData',
  'stringData',
  'limits',
  'requests',
  'capacity',
  'parameters',
])

/** The names of the fields that lead to a place; items of lists have none. */
export type Names = readonly string[]

/** By which its items are told apart; null: it is set as a whole. */
export function keysOf(names: Names): readonly string[] | 'values' | null {
  const last = names.at(-1) ?? ''
  if (setLists.has(last)) return 'values'
  return listKeys[names.slice(-2).join('.')] ?? listKeys[last] ?? null
}

/** Whether its members are data, and no fields that the API names. */
export function isFree(names: Names): boolean {
  return freeMaps.has(names.at(-1) ?? '')
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether the value is set field by field, and not as a whole. */
export function isGranular(value: unknown, names: Names): boolean {
  if (Array.isArray(value)) return keysOf(names) !== null
  return isMembers(value) && !atomicMaps.has(names.at(-1) ?? '')
}

export function elementOf(item: unknown, names: Names): string {
  const keys = keysOf(names)
  if (keys === 'values' || keys === null || !isMembers(item)) return `v:${JSON.stringify(item)}`
  const known = [...keys].sort().map((key) => [key, item[key] ?? keyDefaults[key]] as const)
  return `k:${JSON.stringify(Object.fromEntries(known.filter(([, value]) => value !== undefined)))}`
}

/** The parts of a value that is set field by field, in their order. */
export function partsOf(value: unknown, names: Names): { element: string; names: Names; value: unknown }[] {
  if (Array.isArray(value))
    return value.map((item: unknown) => ({ element: elementOf(item, names), names, value: item }))
  return isMembers(value)
    ? Object.entries(value).map(([key, it]) => ({ element: `f:${key}`, names: [...names, key], value: it }))
    : []
}

/**
 * The fields that an object sets; items that their keys do not tell apart are one field together
 * (structured-merge-diff, `ToFieldSet`).
 */
export function fieldsOf(object: unknown): FieldSet {
  const set = new Set<string>()
  const walk = (value: unknown, names: Names, path: Path): void => {
    if (!isGranular(value, names)) return void set.add(textOf(path))
    const parts = partsOf(value, names)
    for (const part of parts) {
      const next = [...path, part.element]
      if (parts.some((it) => it !== part && it.element === part.element)) {
        set.add(textOf(next))
        continue
      }
      walk(part.value, part.names, next)
      const isEmpty = isMembers(part.value) && Object.keys(part.value).length === 0
      if (part.element.startsWith('f:') ? isEmpty || isFree(names) : true) set.add(textOf(next))
    }
  }
  walk(object, [], [])
  return set
}

/** Whether a list has several items that its keys do not tell apart. */
export function hasTwins(object: unknown, names: Names = []): boolean {
  if (!isGranular(object, names)) return false
  const parts = partsOf(object, names)
  return (
    new Set(parts.map(({ element }) => element)).size < parts.length ||
    parts.some((part) => hasTwins(part.value, part.names))
  )
}

/** The set, and the fields of types that lie above it (structured-merge-diff, `EnsureNamedFieldsAreMembers`). */
export function withNamed(set: FieldSet): FieldSet {
  const all = new Set(set)
  for (const text of set) {
    const path = pathOf(text)
    path.forEach((element, index) => {
      const above = namesIn(path.slice(0, index))
      if (element.startsWith('f:') && !isFree(above)) all.add(textOf(path.slice(0, index + 1)))
    })
  }
  return all
}

function namesIn(path: Path): Names {
  return path.filter((it) => it.startsWith('f:')).map((it) => it.slice(2))
}

/** What is in the set itself comes before what is below its paths (structured-merge-diff, `Set.Iterate`). */
export function inOrder(set: FieldSet): string[] {
  const levels = (path: Path): string[] =>
    path.map((element, index) => `${index === path.length - 1 ? 0 : 1}${element}`)
  const order = (one: Path, other: Path): number => {
    const at = one.findIndex((element, index) => element !== other[index])
    return one[at]! < (other[at] ?? '') ? -1 : 1
  }
  return [...set]
    .map((text) => ({ text, levels: levels(pathOf(text)) }))
    .sort((one, other) => order(one.levels, other.levels))
    .map(({ text }) => text)
}

export function union(...sets: readonly FieldSet[]): FieldSet {
  return new Set(sets.flatMap((set) => [...set]))
}

export function without(set: FieldSet, other: FieldSet): FieldSet {
  return new Set([...set].filter((it) => !other.has(it)))
}

export function common(set: FieldSet, other: FieldSet): FieldSet {
  return new Set([...set].filter((it) => other.has(it)))
}

/** Those at one of the paths or below it. */
export function below(set: FieldSet, tops: readonly Path[]): FieldSet {
  return new Set([...set].filter((it) => tops.some((top) => isDeepStrictEqual(pathOf(it).slice(0, top.length), top))))
}

/** The object without these fields (structured-merge-diff, `RemoveItems`). */
export function removed(object: unknown, set: FieldSet): unknown {
  const walk = (value: unknown, names: Names, path: Path): unknown => {
    if (!isGranular(value, names)) return value
    const kept = partsOf(value, names)
      .filter(({ element }) => !set.has(textOf([...path, element])))
      .map((part) => ({
        ...part,
        value: [...set].some((it) => it.startsWith(textOf([...path, part.element, ''])))
          ? walk(part.value, part.names, [...path, part.element])
          : part.value,
      }))
    if (kept.length === 0) return null
    return Array.isArray(value)
      ? kept.map((it) => it.value)
      : Object.fromEntries(kept.map((it) => [it.element.slice(2), it.value]))
  }
  return walk(object, [], [])
}

export function encoded(set: FieldSet): FieldsV1 {
  const fields: FieldsV1 = {}
  const all = [...set].map(pathOf)
  for (const path of all) {
    let at = fields
    for (const element of path) at = at[element] ??= {}
  }
  // a leaf is nothing but itself
  for (const path of all) {
    const at = path.reduce<FieldsV1>((it, element) => it[element]!, fields)
    if (Object.keys(at).length > 0) at['.'] = {}
  }
  return fields
}

export function decoded(fields: FieldsV1): FieldSet {
  const set = new Set<string>()
  const walk = (at: FieldsV1, path: Path): void => {
    const elements = Object.entries(at)
    if (elements.length === 0 && path.length > 0) set.add(textOf(path))
    for (const [element, it] of elements) {
      if (element === '.') set.add(textOf(path))
      else walk(it, [...path, element])
    }
  }
  walk(fields, [])
  return set
}

/** `.spec.containers[name="testops"].image`, as messages name a field. */
export function shownPath(text: string): string {
  return pathOf(text)
    .map((element) => {
      const rest = element.slice(2)
      if (element.startsWith('f:')) return `.${rest}`
      if (element.startsWith('v:')) return `[=${rest}]`
      return `[${Object.entries(JSON.parse(rest) as Members)
        .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
        .join(',')}]`
    })
    .join('')
}
