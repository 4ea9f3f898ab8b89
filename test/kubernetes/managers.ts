import { isDeepStrictEqual } from 'node:util'
import { merged } from './apply.ts'
import { below, common, compared, decoded, encoded, fieldsOf, removed, union, without, withNamed } from './fields.ts'
import type { FieldSet, FieldsV1, Path } from './fields.ts'
import { apiVersionOf } from './resources.ts'
import type { Resource, Stored } from './resources.ts'
import { applyConflict } from './status.ts'

/** One entry of `metadata.managedFields`. */
export interface ManagedEntry {
  manager: string
  operation: 'Apply' | 'Update'
  apiVersion: string
  time?: string
  fieldsType: 'FieldsV1'
  fieldsV1: FieldsV1
  subresource?: string
}

/** Who writes, and through what. */
export interface Writer {
  resource: Resource
  manager: string
  subresource: string | null
  now: string
}

interface Owner extends Omit<ManagedEntry, 'fieldsV1' | 'fieldsType'> {
  set: FieldSet
}

/** Nobody owns these (apimachinery, `managedfields/internal/stripmeta.go`). */
const ownedByNobody: readonly Path[] = [['f:apiVersion'], ['f:kind'], ...['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation', 'managedFields', 'resourceVersion'].map((it): Path => ['f:metadata', `f:${it}`])]
const nobodys: FieldSet = new Set(['f:metadata', ...ownedByNobody.map((path) => path.join('\0'))])

/** Who writes an object itself owns nothing of its status, and the other way round (`GetResetFields` of the registries). */
function ignored({ subresource }: Writer): readonly Path[] {
  return subresource === 'status' ? [['f:spec'], ['f:metadata', 'f:labels']] : [['f:status']]
}

/**
 * The object with its owners after a write that is no apply. `live`: null: it is made. One whose fields nobody owned before is owned by
 * nobody afterwards (apimachinery, `managedfields/internal/skipnonapplied.go`).
 */
export function written(live: Stored | null, next: Stored, writer: Writer): Stored {
  const owners = ownersAfter(live, next, writer)
  if (owners.length === 0 && live) return withOwners(next, [])
  return withOwners(next, taken(live ?? empty, next, owners, writer))
}

/** What a server-side apply makes of it. Throws 409 with what others own. */
export function appliedBy(live: Stored | null, config: Stored, writer: Writer, isForced: boolean): Stored {
  let owners = live ? ownersOf(live) : []
  // what was there before anybody applied is the doing of one manager (apimachinery, `skipnonapplied.go`)
  if (live && owners.length === 0) owners = taken(empty, live, [], { ...writer, manager: 'before-first-apply', subresource: null })
  const before = plain(live ?? empty)
  const last = owners.find((it) => isOf(it, writer, 'Apply'))
  const others = owners.filter((it) => it !== last)
  const own: Owner = { manager: writer.manager, operation: 'Apply', apiVersion: apiVersionOf(writer.resource), set: without(outside(fieldsOf(plain(config)), ignored(writer)), nobodys), ...(writer.subresource !== null && { subresource: writer.subresource }) }
  const whole = pruned(merged(before, plain(config)), last?.set, [...others, own]) as Stored
  const { added, modified, removed: gone } = narrowed(before, whole, writer)
  const changed = union(added, modified)
  const conflicts = others.map((it) => ({ owner: it, fields: [...common(it.set, changed)].sort() })).filter(({ fields }) => fields.length > 0)
  if (conflicts.length > 0 && !isForced) throw applyConflict(conflicts)
  const left = others.map((it) => ({ ...it, set: without(without(it.set, changed), gone) }))
  const isSame = changed.size === 0 && gone.size === 0 && last !== undefined && isDeepStrictEqual(last.set, own.set)
  const { metadata, ...rest } = whole
  return withOwners({ ...rest, metadata: { ...live?.metadata, ...metadata } }, [...left, { ...own, time: isSame && last.time !== undefined ? last.time : writer.now }], live?.metadata)
}

/** Whether nothing is other than before but the times of its owners. */
export function isUnchanged(before: Stored, after: Stored): boolean {
  const timeless = ({ metadata, ...rest }: Stored): unknown => {
    const entries = metadata.managedFields?.map(({ time: _time, ...entry }) => entry)
    return { ...rest, metadata: { ...metadata, managedFields: entries } }
  }
  return isDeepStrictEqual(timeless(before), timeless(after))
}

export function isTracked({ metadata }: Stored): boolean {
  return (metadata.managedFields ?? []).length > 0
}

/** A new object of a kind in Go has these without any value; who gives them one does not set them themselves. */
const empty: Stored = { metadata: { name: '' }, spec: { strategy: {}, updateStrategy: {}, template: { metadata: {}, spec: { containers: null } } }, status: {} }

/** Those that a request names in place of the ones that are there (apimachinery, `fieldmanager.go`, `decodeLiveOrNew`). */
function ownersAfter(live: Stored | null, next: Stored, { subresource }: Writer): Owner[] {
  const named = next.metadata.managedFields ?? []
  if (subresource !== null) return live ? ownersOf(live) : []
  if (named.length === 1 && Object.keys(named[0]!).length === 0) return []
  return named.length > 0 ? ownersOf(next) : live ? ownersOf(live) : []
}

function ownersOf({ metadata }: Stored): Owner[] {
  const entries = metadata.managedFields ?? []
  return entries.map(({ fieldsV1, fieldsType: _type, ...entry }) => ({ ...entry, set: decoded(fieldsV1) }))
}

function taken(before: Stored, after: Stored, owners: readonly Owner[], writer: Writer): Owner[] {
  const { added, modified, removed: gone } = narrowed(plain(before), plain(after), writer)
  const changed = union(added, modified)
  const left = owners.map((it) => ({ ...it, set: without(without(it.set, changed), gone) }))
  const set = without(changed, nobodys)
  if (set.size === 0) return left
  const own = left.find((it) => isOf(it, writer, 'Update'))
  const self: Owner = { manager: writer.manager, operation: 'Update', apiVersion: apiVersionOf(writer.resource), ...(writer.subresource !== null && { subresource: writer.subresource }), time: writer.now, set: union(own?.set ?? new Set(), set) }
  return [...left.filter((it) => it !== own), self]
}

function narrowed(before: unknown, after: unknown, writer: Writer): { added: FieldSet; modified: FieldSet; removed: FieldSet } {
  const all = compared(before, after)
  const without_ = (set: FieldSet): FieldSet => outside(set, ignored(writer))
  return { added: without_(all.added), modified: without_(all.modified), removed: without_(all.removed) }
}

function outside(set: FieldSet, paths: readonly Path[]): FieldSet {
  return without(set, below(set, paths))
}

/** What a manager applied before and leaves out now goes, unless somebody else owns it (structured-merge-diff, `prune`). */
function pruned(object: unknown, last: FieldSet | undefined, owners: readonly Owner[]): unknown {
  if (last === undefined || last.size === 0) return object
  const [all, lastOnes] = [withNamed(fieldsOf(object)), withNamed(last)]
  const owned = union(...owners.map((it) => withNamed(it.set)))
  const rest = removed(object, lastOnes)
  const kept = union(withNamed(fieldsOf(rest ?? {})), owned)
  const backed = removed(object, without(all, kept))
  return removed(object, common(without(all, withNamed(fieldsOf(backed ?? {}))), lastOnes)) ?? {}
}

function isOf({ manager, operation, subresource }: Owner, writer: Writer, by: Owner['operation']): boolean {
  return manager === writer.manager && operation === by && (subresource ?? null) === writer.subresource
}

/** Without what no owner is told of. */
function plain({ metadata, kind: _kind, apiVersion: _apiVersion, ...rest }: Stored): Stored {
  const { managedFields: _fields, resourceVersion: _version, generation: _generation, uid: _uid, creationTimestamp: _created, ...own } = metadata
  return { ...rest, metadata: own }
}

function withOwners(object: Stored, owners: readonly Owner[], former?: Stored['metadata']): Stored {
  const entries = owners
    .filter(({ set }) => set.size > 0)
    .map(({ set, ...entry }): ManagedEntry => ({ ...entry, fieldsType: 'FieldsV1', fieldsV1: encoded(set) }))
    .sort((one, other) => order(keyOf(one), keyOf(other)))
  const { managedFields: _former, ...metadata } = { ...former, ...object.metadata }
  return { ...object, metadata: { ...metadata, ...(entries.length > 0 && { managedFields: entries }) } }
}

/** apimachinery, `managedfields/internal/managedfields.go`, `sortEncodedManagedFields` */
function keyOf({ operation, time = '', manager, apiVersion, subresource = '' }: ManagedEntry): string {
  return [operation, time, manager, apiVersion, subresource].join('\0')
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
