import { applied } from './apply.ts'
import type { Cluster } from './cluster.ts'
import { timestamp } from './cluster.ts'
import { admit, start } from './kubelet.ts'
import { jsonPatch, mergePatch, strategicPatch } from './patch.ts'
import { pending } from './pod-states.ts'
import type { Asked } from './request.ts'
import { apiVersionOf } from './resources.ts'
import type { Pod, Resource, Stored, Workload } from './resources.ts'
import { applyConflict, badRequest, invalidPatch } from './status.ts'
import { isSelected } from './watch.ts'

export interface Answer {
  status: number
  body: unknown
}

/** One page of a list: `limit` and `continue` as recorded. */
export function listed(asked: Asked, cluster: Cluster): Answer {
  const { resource, namespace, query } = asked
  const all = cluster.list(resource.plural, namespace).filter((it) => isSelected(it, asked))
  const from = query.get('continue')
  const start = from === null ? '' : (JSON.parse(Buffer.from(from, 'base64').toString()) as { start: string }).start.replace('\0', '')
  const rest = all.filter(({ metadata: { name } }) => start === '' || name > start)
  const items = rest.slice(0, Number(query.get('limit') || rest.length))
  const left = rest.length - items.length
  const rv = String(cluster.resourceVersion)
  const token = (): string => Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: Number(rv), start: `${items.at(-1)?.metadata.name}\0` })).toString('base64')
  const metadata = { resourceVersion: rv, ...(left > 0 && { continue: token(), remainingItemCount: left }) }
  return { status: 200, body: { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata, items } }
}

export function got({ resource, namespace, name }: Asked, cluster: Cluster): Answer {
  return { status: 200, body: shown(resource, cluster.get(resource.plural, namespace, name ?? '')) }
}

export function created({ resource, namespace }: Asked, body: unknown, cluster: Cluster): Answer {
  const { kind: _kind, apiVersion: _apiVersion, ...object } = body as Stored
  const metadata = { ...object.metadata, ...(namespace !== null && { namespace }) }
  if (resource.plural === 'pods') return createdPod(resource, { ...object, metadata } as Pod, cluster)
  return { status: 201, body: shown(resource, cluster.create(resource.plural, storable(resource, { ...object, metadata }))) }
}

function createdPod(resource: Resource, pod: Pod, cluster: Cluster): Answer {
  admit(pod, cluster)
  const stored = cluster.create('pods', { ...pod, status: pending(pod.spec) }) as Pod
  setTimeout(() => start(stored, cluster), cluster.timing.startMs).unref()
  return { status: 201, body: shown(resource, stored) }
}

export function replaced({ resource, namespace }: Asked, body: unknown, cluster: Cluster): Answer {
  const { kind: _kind, apiVersion: _apiVersion, ...object } = body as Stored
  const metadata = { ...object.metadata, ...(namespace !== null && { namespace }) }
  return { status: 200, body: shown(resource, cluster.replace(resource.plural, { ...object, metadata })) }
}

export function deleted({ resource, namespace, name, query }: Asked, cluster: Cluster): Answer {
  const isAtOnce = query.get('gracePeriodSeconds') === '0'
  const { metadata } = isAtOnce ? cluster.get(resource.plural, namespace, name ?? '') : cluster.delete(resource.plural, namespace, name ?? '')
  if (isAtOnce) cluster.remove(resource.plural, { metadata })
  const details = { name: metadata.name, ...(resource.group !== '' && { group: resource.group }), kind: resource.plural, uid: metadata.uid }
  return { status: 200, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } }
}

export function patched(asked: Asked, type: string, patch: unknown, cluster: Cluster): Answer {
  if (type.startsWith('application/apply-patch+yaml')) return appliedTo(asked, patch, cluster)
  const { resource, namespace, name, query } = asked
  const before = cluster.get(resource.plural, namespace, name ?? '')
  const after = patchedObject(before, type, patch)
  if (!isWhole(after)) throw invalidPatch(patch)
  if (!query.getAll('dryRun').includes('All')) return { status: 200, body: shown(resource, cluster.replace(resource.plural, after)) }
  const isChanged = JSON.stringify(before['spec']) !== JSON.stringify(after['spec'])
  const { generation } = before.metadata
  const metadata = { ...after.metadata, ...(generation !== undefined && { generation: generation + (isChanged ? 1 : 0) }) }
  return { status: 200, body: shown(resource, { ...after, metadata }) }
}

/** By which an object is made, too, where there is none. */
function appliedTo({ resource, namespace, name, query }: Asked, patch: unknown, cluster: Cluster): Answer {
  const { kind: _kind, apiVersion: _apiVersion, ...given } = patch as Stored
  const next = storable(resource, given)
  const live = cluster.find(resource.plural, namespace, name ?? '')
  const manager = `${resource.plural}/${namespace ?? ''}/${name}/${query.get('fieldManager')}`
  const { object, conflicts } = applied({ live: live ?? undefined, last: live ? cluster.applied.get(manager) : undefined, next })
  if (conflicts.length > 0 && query.get('force') !== 'true') throw applyConflict(resource, name ?? '', conflicts)
  if (query.getAll('dryRun').includes('All')) return { status: live ? 200 : 201, body: shown(resource, object as Stored) }
  cluster.applied.set(manager, next)
  const { metadata, ...rest } = object as Stored
  const whole = { ...rest, metadata: { ...metadata, ...(namespace !== null && { namespace }) } }
  if (!live) return { status: 201, body: shown(resource, cluster.create(resource.plural, whole)) }
  const isSame = JSON.stringify(whole) === JSON.stringify(live)
  return { status: 200, body: shown(resource, isSame ? live : cluster.replace(resource.plural, whole)) }
}

/** What is given as text is kept as the other data of a Secret. */
function storable({ plural }: Resource, object: Stored): Stored {
  const { stringData, ...rest } = object
  if (plural !== 'secrets' || stringData === undefined) return object
  const encoded = Object.entries(stringData as Record<string, string>).map(([key, text]): [string, string] => [key, Buffer.from(text).toString('base64')])
  return { ...rest, data: { ...(rest['data'] as object | undefined), ...Object.fromEntries(encoded) } }
}

/** The scale subresource, read or written. */
export function scaled({ resource, namespace, name, verb, query }: Asked, type: string, change: unknown, cluster: Cluster): Answer {
  const before = cluster.get(resource.plural, namespace, name ?? '') as Workload
  if (verb === 'get') return { status: 200, body: scaleOf(before) }
  const scale = verb === 'update' ? change : patchedObject(scaleOf(before), type, change)
  const { metadata, spec } = scale as Stored & { spec?: { replicas?: unknown } }
  const replicas = spec?.replicas ?? 0
  if (typeof replicas !== 'number' || replicas < 0) throw invalidPatch(change)
  const { resourceVersion: _old, ...rest } = before.metadata
  const wanted = { ...rest, ...(metadata.resourceVersion !== undefined && { resourceVersion: metadata.resourceVersion }) }
  if (query.getAll('dryRun').includes('All')) return { status: 200, body: scaleOf({ ...before, spec: { ...before.spec, replicas } }) }
  const after = cluster.replace(resource.plural, { ...before, metadata: wanted, spec: { ...before.spec, replicas } }) as Workload
  cluster.hooks.scaled?.(after, replicas)
  return { status: 200, body: scaleOf(after) }
}

/** Whether who asks may do something, as the table of what is forbidden says. */
export function reviewed(body: unknown, allowed: (attributes: Record<string, string>) => boolean): Answer {
  const { spec } = body as { spec: { resourceAttributes: Record<string, string> } }
  const review = { kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', metadata: {}, spec }
  return { status: 201, body: { ...review, status: { allowed: allowed(spec.resourceAttributes) } } }
}

function patchedObject(before: Stored, type: string, patch: unknown): Stored {
  if (type.startsWith('application/merge-patch+json')) return mergePatch(before, patch) as Stored
  if (type.startsWith('application/strategic-merge-patch+json')) return strategicPatch(before, patch) as Stored
  if (type.startsWith('application/json-patch+json')) return jsonPatch(before, patch) as Stored
  throw badRequest(`the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json`)
}

function scaleOf({ metadata: { name, namespace, uid, resourceVersion, creationTimestamp }, spec, status }: Workload): Stored {
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace && { namespace }), ...(uid && { uid }), ...(resourceVersion && { resourceVersion }), creationTimestamp: creationTimestamp ?? timestamp(new Date()) },
    spec: spec.replicas ? { replicas: spec.replicas } : {},
    status: {
      replicas: status?.['replicas'] ?? 0,
      selector: Object.entries(spec.selector.matchLabels)
        .map(([key, value]) => `${key}=${value}`)
        .join(','),
    },
  }
}

/** As far as the API's types are looked at here. */
function isWhole(object: Stored): boolean {
  const spec = object['spec'] as { replicas?: unknown } | undefined
  return spec?.replicas === undefined || typeof spec.replicas === 'number'
}

function shown({ kind, group, version }: Resource, object: Stored): unknown {
  return { kind, apiVersion: group === '' ? version : `${group}/${version}`, ...object }
}
