import { isDeepStrictEqual } from 'node:util'
import { merged } from './apply.ts'
import { compared } from './compare.ts'
import { below, common, decoded, encoded, fieldsOf, inOrder, removed, union, without, withNamed } from './fields.ts'
import type { FieldSet, FieldsV1, Path } from './fields.ts'
import { lastAppliedFields } from './last-applied.ts'
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
const ownedByNobody: readonly Path[] = [
  ['f:apiVersion'],
  ['f:kind'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((it): Path => ['f:metadata', `f:${it}`]),
]
const replicas = ['f:spec', 'f:replicas'].join('\0')
const nobodys: FieldSet = new Set(['f:metadata', ...ownedByNobody.map((path) => path.join('\0'))])

/**
 * Who writes an object itself owns nothing of its status, and the other way round (`GetResetFields` of the registries).
 */
function ignored({ subresource }: Writer): readonly Path[] {
  return subresource === 'status' ? [['f:spec'], ['f:metadata', 'f:labels']] : [['f:status']]
}

/**
 * The object with its owners after a write that is no apply. `live`: null: it is made. One whose fields nobody owned
 * before is owned by nobody afterwards (apimachinery, `managedfields/internal/skipnonapplied.go`).
 */
export function written(live: Stored | null, next: Stored, writer: Writer): Stored {
  const owners = ownersAfter(live, next, writer)
  if (owners.length === 0 && live) return withOwners(next, [])
  if (writer.subresource !== 'scale')
    return withOwners(next, taken(live ?? emptyOf(writer.resource), next, owners, writer))
  // of a scale only the owners of its one field are known: one that nobody owns stays nobody's
  if (!owners.some(({ set }) => set.has(replicas))) return withOwners(next, owners)
  return withOwners(next, taken(live ?? emptyOf(writer.resource), next, owners.flatMap(apart), writer))
}

/** Its replicas are another entry from then on (apimachinery, `managedfields/scalehandler.go`, `ToParent`). */
function apart(owner: Owner): Owner[] {
  const set: FieldSet = new Set([replicas])
  if (owner.operation === 'Apply' || !owner.set.has(replicas)) return [owner]
  const { time: _time, ...entry } = owner
  return [
    { ...owner, set: without(owner.set, set) },
    { ...entry, set },
  ]
}

/** What a server-side apply makes of it. Throws 409 with what others own. */
export function appliedBy(live: Stored | null, config: Stored, writer: Writer, isForced: boolean): Stored {
  let owners = live ? ownersOf(live) : []
  // what was there before anybody applied is the doing of one manager (apimachinery, `skipnonapplied.go`)
  if (live && owners.length === 0)
    owners = taken(emptyOf(writer.resource), live, [], { ...writer, manager: 'before-first-apply', subresource: null })
  const before = plain(live ? wholeOf(writer.resource, live) : emptyOf(writer.resource))
  const last = owners.find((it) => isOf(it, writer, 'Apply'))
  const others = owners.filter((it) => it !== last)
  const set = outside(fieldsOf(plain(config)), ignored(writer))
  const own: Owner = {
    manager: writer.manager,
    operation: 'Apply',
    apiVersion: apiVersionOf(writer.resource),
    set: without(set, nobodys),
    ...(writer.subresource !== null && { subresource: writer.subresource }),
  }
  const whole = pruned(merged(before, plain(config)), last?.set, [...others.map((it) => it.set), set]) as Stored
  const { added, modified, removed: gone } = narrowed(before, whole, writer)
  const changed = union(added, modified)
  const known = live && writer.manager === 'kubectl' ? lastAppliedFields(live, own.apiVersion) : new Set<string>()
  const conflicts = others
    .map((it) => ({ owner: it, fields: inOrder(without(common(it.set, changed), known)) }))
    .filter(({ fields }) => fields.length > 0)
  if (conflicts.length > 0 && !isForced) throw applyConflict(conflicts)
  const left = others.map((it) => ({ ...it, set: without(without(it.set, changed), gone) }))
  const isSame = changed.size === 0 && gone.size === 0 && last !== undefined && isDeepStrictEqual(last.set, own.set)
  const { metadata, ...rest } = whole
  return withOwners({ ...rest, metadata: { ...(live && ofServer(live)), ...metadata } }, [
    ...left,
    { ...own, time: isSame && last.time !== undefined ? last.time : writer.now },
  ])
}

/** Whether nothing is other than before but the times of its owners. */
export function isUnchanged(before: Stored, after: Stored): boolean {
  const timeless = ({ metadata, ...rest }: Stored): unknown => {
    const entries = metadata.managedFields?.map(({ time: _time, ...entry }) => entry)
    return { ...rest, metadata: { ...metadata, managedFields: entries } }
  }
  return isDeepStrictEqual(timeless(before), timeless(after))
}

/** With what an object of the kind has in Go whoever made it. */
function wholeOf(resource: Resource, object: Stored): Stored {
  return 'status' in emptyOf(resource) ? { status: {}, ...object } : object
}

/** A new object of a kind in Go has these without any value; who gives them one does not set them themselves. */
function emptyOf({ plural }: Resource): Stored {
  const metadata = { name: '' }
  const template = { metadata: {}, spec: { containers: null } }
  if (plural === 'deployments') return { metadata, spec: { strategy: {}, template }, status: {} }
  if (plural === 'statefulsets') return { metadata, spec: { updateStrategy: {}, template }, status: {} }
  if (plural === 'jobs') return { metadata, spec: { template }, status: {} }
  return ['secrets', 'configmaps'].includes(plural) ? { metadata } : { metadata, spec: {}, status: {} }
}

/**
 * Those that a request names in place of the ones that are there (apimachinery, `fieldmanager.go`, `decodeLiveOrNew`).
 */
function ownersAfter(live: Stored | null, next: Stored, { subresource }: Writer): Owner[] {
  const { managedFields: given } = next.metadata
  const named = given ?? []
  if (subresource !== null) return live ? ownersOf(live) : []
  // nobody's from then on (`isResetManagedFields`)
  const isReset =
    given !== undefined && (named.length === 0 || (named.length === 1 && Object.keys(named[0]!).length === 0))
  if (isReset) return []
  return named.length > 0 ? ownersOf(next) : live ? ownersOf(live) : []
}

/** Of entries for the same owner the last counts (`DecodeManagedFields`). */
function ownersOf({ metadata }: Stored): Owner[] {
  const owners = (metadata.managedFields ?? []).map(
    ({ fieldsV1, fieldsType: _type, ...entry }): Owner => ({ ...entry, set: decoded(fieldsV1) }),
  )
  const nameOf = ({ manager, operation, apiVersion, subresource = '' }: Owner): string =>
    [manager, operation, operation === 'Update' ? apiVersion : '', subresource].join('\0')
  return [...new Map(owners.map((it) => [nameOf(it), it])).values()]
}

function taken(before: Stored, after: Stored, owners: readonly Owner[], writer: Writer): Owner[] {
  const {
    added,
    modified,
    removed: gone,
  } = narrowed(plain(wholeOf(writer.resource, before)), plain(wholeOf(writer.resource, after)), writer)
  const changed = union(added, modified)
  const left = owners.map((it) => ({ ...it, set: without(without(it.set, changed), gone) }))
  const set = without(changed, nobodys)
  if (set.size === 0) return left
  const own = left.find((it) => isOf(it, writer, 'Update'))
  const self: Owner = {
    manager: writer.manager,
    operation: 'Update',
    apiVersion: apiVersionOf(writer.resource),
    ...(writer.subresource !== null && { subresource: writer.subresource }),
    time: writer.now,
    set: union(own?.set ?? new Set(), set),
  }
  return [...left.filter((it) => it !== own), self]
}

function narrowed(
  before: unknown,
  after: unknown,
  writer: Writer,
): { added: FieldSet; modified: FieldSet; removed: FieldSet } {
  const all = compared(before, after)
  const without_ = (set: FieldSet): FieldSet => outside(set, ignored(writer))
  return { added: without_(all.added), modified: without_(all.modified), removed: without_(all.removed) }
}

function outside(set: FieldSet, paths: readonly Path[]): FieldSet {
  return without(set, below(set, paths))
}

/**
 * What a manager applied before and leaves out now goes, unless somebody else owns it (structured-merge-diff, `prune`).
 */
function pruned(object: unknown, last: FieldSet | undefined, owners: readonly FieldSet[]): unknown {
  if (last === undefined || last.size === 0) return object
  const [all, lastOnes] = [withNamed(fieldsOf(object)), withNamed(last)]
  const owned = union(...owners.map(withNamed))
  const rest = removed(object, lastOnes)
  const kept = union(withNamed(fieldsOf(rest ?? {})), owned)
  const backed = removed(object, without(all, kept))
  return removed(object, common(without(all, withNamed(fieldsOf(backed ?? {}))), lastOnes)) ?? {}
}

function isOf({ manager, operation, subresource }: Owner, writer: Writer, by: Owner['operation']): boolean {
  return manager === writer.manager && operation === by && (subresource ?? null) === writer.subresource
}

const serversOwn = ['resourceVersion', 'generation', 'uid', 'creationTimestamp']

/** Without what no owner is told of. */
function plain({ metadata, kind: _kind, apiVersion: _apiVersion, ...rest }: Stored): Stored {
  const own = Object.fromEntries(
    Object.entries(metadata).filter(([name]) => name !== 'managedFields' && !serversOwn.includes(name)),
  )
  return { ...rest, metadata: own as unknown as Stored['metadata'] }
}

/** What the server itself keeps in an object. */
function ofServer({ metadata }: Stored): Partial<Stored['metadata']> {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => serversOwn.includes(name)))
}

function withOwners(object: Stored, owners: readonly Owner[]): Stored {
  const entries = owners
    .filter(({ set }) => set.size > 0)
    .map(({ set, ...entry }): ManagedEntry => ({ ...entry, fieldsType: 'FieldsV1', fieldsV1: encoded(set) }))
    .sort((one, other) => order(keyOf(one), keyOf(other)))
  const { managedFields: _former, ...metadata } = object.metadata
  return { ...object, metadata: { ...metadata, ...(entries.length > 0 && { managedFields: entries }) } }
}

/** apimachinery, `managedfields/internal/managedfields.go`, `sortEncodedManagedFields` */
function keyOf({ operation, time = '', manager, apiVersion, subresource = '' }: ManagedEntry): string {
  return [operation, time, manager, apiVersion, subresource].join('\0')
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
