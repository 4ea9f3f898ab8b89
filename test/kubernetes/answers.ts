import { isDeepStrictEqual } from 'node:util'
import type { Cluster } from './cluster.ts'
import { timestamp } from './cluster.ts'
import { compact, defaulted } from './defaults.ts'
import { admit, start } from './kubelet.ts'
import { withLastApplied } from './last-applied.ts'
import { appliedBy, isUnchanged, written } from './managers.ts'
import type { Writer } from './managers.ts'
import { jsonPatch, mergePatch } from './patch.ts'
import { pending } from './pod-states.ts'
import type { Asked } from './request.ts'
import { apiVersionOf } from './resources.ts'
import type { Pod, Resource, Stored, Workload } from './resources.ts'
import { badRequest, invalidPatch } from './status.ts'
import { strategicPatch } from './strategic.ts'
import { validate } from './validate.ts'
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
  const start =
    from === null
      ? ''
      : (JSON.parse(Buffer.from(from, 'base64').toString()) as { start: string }).start.replace('\0', '')
  const rest = all.filter(({ metadata: { name } }) => start === '' || name > start)
  const items = rest.slice(0, Number(query.get('limit') || rest.length))
  const left = rest.length - items.length
  const rv = String(cluster.resourceVersion)
  const token = (): string =>
    Buffer.from(
      JSON.stringify({ v: 'meta.k8s.io/v1', rv: Number(rv), start: `${items.at(-1)?.metadata.name}\0` }),
    ).toString('base64')
  const metadata = { resourceVersion: rv, ...(left > 0 && { continue: token(), remainingItemCount: left }) }
  return { status: 200, body: { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata, items } }
}

export function got({ resource, namespace, name }: Asked, cluster: Cluster): Answer {
  return { status: 200, body: shown(resource, cluster.get(resource.plural, namespace, name ?? '')) }
}

export function created(asked: Asked, body: unknown, cluster: Cluster): Answer {
  const { resource, namespace, query } = asked
  const { kind: _kind, apiVersion: _apiVersion, ...object } = body as Stored
  const metadata = { ...object.metadata, ...(namespace !== null && { namespace }) }
  if (resource.plural === 'pods') return createdPod(resource, { ...object, metadata } as Pod, cluster)
  const made = written(null, storable(resource, { ...object, metadata }), writerOf(asked))
  validate(resource, null, made)
  if (isTrial(query)) return { status: 201, body: shown(resource, made) }
  return { status: 201, body: shown(resource, cluster.create(resource.plural, made)) }
}

function createdPod(resource: Resource, pod: Pod, cluster: Cluster): Answer {
  admit(pod, cluster)
  const stored = cluster.create('pods', { ...pod, status: pending(pod.spec) }) as Pod
  setTimeout(() => start(stored, cluster), cluster.timing.startMs).unref()
  return { status: 201, body: shown(resource, stored) }
}

export function replaced(asked: Asked, body: unknown, cluster: Cluster): Answer {
  const { resource, namespace, name } = asked
  const { kind: _kind, apiVersion: _apiVersion, ...object } = body as Stored
  const metadata = { ...object.metadata, ...(namespace !== null && { namespace }) }
  return put(
    asked,
    cluster.get(resource.plural, namespace, name ?? object.metadata.name),
    { ...object, metadata },
    cluster,
  )
}

/** A new state of an object that is there, with its owners. One that differs in nothing is not written. */
function put(asked: Asked, before: Stored, next: Stored, cluster: Cluster): Answer {
  const { resource } = asked
  const whole = storable(resource, next)
  validate(resource, before, whole)
  return stored(asked, before, withPart(asked, before, written(before, whole, writerOf(asked))), cluster)
}

/** Who writes the status writes nothing else, and the other way round (`PrepareForUpdate` of the registries). */
function withPart({ resource: { plural }, subresource }: Asked, before: Stored, after: Stored): Stored {
  if (plural !== 'deployments' && plural !== 'statefulsets') return after
  const { status, ...rest } =
    subresource === 'status'
      ? {
          ...before,
          metadata: { ...after.metadata, ...(before.metadata.labels && { labels: before.metadata.labels }) },
          status: after['status'],
        }
      : { ...after, status: before['status'] }
  return status === undefined ? rest : { ...rest, status }
}

function stored({ resource, query }: Asked, before: Stored, after: Stored, cluster: Cluster): Answer {
  const { resourceVersion } = after.metadata
  const isCurrent = resourceVersion === undefined || resourceVersion === before.metadata.resourceVersion
  if (
    isCurrent &&
    isUnchanged(before, {
      ...after,
      metadata: {
        ...after.metadata,
        ...(before.metadata.resourceVersion !== undefined && { resourceVersion: before.metadata.resourceVersion }),
      },
    })
  )
    return { status: 200, body: shown(resource, before) }
  if (!isTrial(query)) return { status: 200, body: shown(resource, cluster.replace(resource.plural, after)) }
  const isChanged = !isDeepStrictEqual(before['spec'], after['spec'])
  const { generation } = before.metadata
  const metadata = {
    ...after.metadata,
    ...(generation !== undefined && { generation: generation + (isChanged ? 1 : 0) }),
  }
  return { status: 200, body: shown(resource, { ...after, metadata }) }
}

export function deleted({ resource, namespace, name, query }: Asked, cluster: Cluster): Answer {
  const isAtOnce = query.get('gracePeriodSeconds') === '0'
  const { metadata } = isAtOnce
    ? cluster.get(resource.plural, namespace, name ?? '')
    : cluster.delete(resource.plural, namespace, name ?? '')
  if (isAtOnce) cluster.remove(resource.plural, { metadata })
  const details = {
    name: metadata.name,
    ...(resource.group !== '' && { group: resource.group }),
    kind: resource.plural,
    uid: metadata.uid,
  }
  return { status: 200, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } }
}

export function patched(asked: Asked, type: string, patch: unknown, cluster: Cluster): Answer {
  if (type.startsWith('application/apply-patch+yaml')) return appliedTo(asked, patch, cluster)
  const { resource, namespace, name } = asked
  const before = cluster.get(resource.plural, namespace, name ?? '')
  const after = patchedObject(before, type, patch)
  if (!isWhole(after)) throw invalidPatch(patch)
  return put(asked, before, after, cluster)
}

/** By which an object is made, too, where there is none. */
function appliedTo(asked: Asked, patch: unknown, cluster: Cluster): Answer {
  const { resource, namespace, name, query } = asked
  if (!query.get('fieldManager'))
    throw badRequest(
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    )
  const { kind, apiVersion, ...given } = patch as Stored
  const config = { ...given, metadata: { ...given.metadata, ...(namespace !== null && { namespace }) } }
  const live = cluster.find(resource.plural, namespace, name ?? '')
  const writer = writerOf(asked)
  const applied = storable(resource, appliedBy(live, config, writer, query.get('force') === 'true'))
  const after = writer.manager === 'kubectl' ? withLastApplied(applied, { apiVersion, kind, ...config }) : applied
  validate(resource, live, after)
  if (live) return stored(asked, live, after, cluster)
  return { status: 201, body: shown(resource, isTrial(query) ? after : cluster.create(resource.plural, after)) }
}

function writerOf({ resource, subresource, query, agent }: Asked): Writer {
  return {
    resource,
    subresource,
    manager: query.get('fieldManager') ?? agent.split('/')[0]!,
    now: timestamp(new Date()),
  }
}

function isTrial(query: URLSearchParams): boolean {
  return query.getAll('dryRun').includes('All')
}

/** What is given as text is kept as the other data of a Secret. */
function encodedData({ plural }: Resource, object: Stored): Stored {
  const { stringData, ...rest } = object
  if (plural !== 'secrets' || stringData === undefined) return object
  const encoded = Object.entries(stringData as Record<string, string>).map(([key, text]): [string, string] => [
    key,
    Buffer.from(text).toString('base64'),
  ])
  return { ...rest, data: { ...(rest['data'] as object | undefined), ...Object.fromEntries(encoded) } }
}

function storable(resource: Resource, object: Stored): Stored {
  return defaulted(resource, compact(encodedData(resource, compact(object))))
}

/**
 * The scale subresource, read or written. Its replicas are left out of it where they are none, so that nobody owns them
 * then (autoscaling/v1, `ScaleSpec`; apimachinery, `managedfields/scalehandler.go`).
 */
export function scaled(asked: Asked, type: string, change: unknown, cluster: Cluster): Answer {
  const { resource, namespace, name, verb, query } = asked
  const before = cluster.get(resource.plural, namespace, name ?? '') as Workload
  if (verb === 'get') return { status: 200, body: scaleOf(before) }
  const scale = verb === 'update' ? change : patchedObject(scaleOf(before), type, change)
  const { metadata, spec } = scale as Stored & { spec?: { replicas?: unknown } }
  const replicas = spec?.replicas ?? 0
  if (typeof replicas !== 'number' || replicas < 0) throw invalidPatch(change)
  const { resourceVersion: _old, managedFields: _owners, ...rest } = before.metadata
  const wanted = {
    ...rest,
    ...(metadata.resourceVersion !== undefined && { resourceVersion: metadata.resourceVersion }),
  }
  const inScale = ({ spec: { replicas: count, ...own } }: Workload): Stored => ({
    ...before,
    spec: count ? { ...own, replicas: count } : own,
  })
  const { managedFields } = written(
    inScale(before),
    inScale({ ...before, spec: { ...before.spec, replicas } }),
    writerOf(asked),
  ).metadata
  if (isTrial(query)) return { status: 200, body: scaleOf({ ...before, spec: { ...before.spec, replicas } }) }
  const after = cluster.replace(resource.plural, {
    ...before,
    metadata: { ...wanted, ...(managedFields && { managedFields }) },
    spec: { ...before.spec, replicas },
  }) as Workload
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
  throw badRequest(
    'the body of the request was in an unknown format - accepted media types include: ' +
      'application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json',
  )
}

function scaleOf({
  metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
  spec,
  status,
}: Workload): Stored {
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name,
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
      creationTimestamp: creationTimestamp ?? timestamp(new Date()),
    },
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
