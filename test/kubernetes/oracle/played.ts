import { Cluster } from '../cluster.ts'
import type { Stored } from '../resources.ts'
import { startApiServer } from '../server.ts'
import type { Sequence, Write } from './writes.ts'

/** What became of a write: the object without what chance or a clock gives it, or the refusal. */
export interface Played {
  status: number
  object?: unknown
  message?: string
  causes?: unknown
}

const places = {
  Deployment: '/apis/apps/v1/namespaces/testops/deployments',
  Secret: '/api/v1/namespaces/testops/secrets',
  ConfigMap: '/api/v1/namespaces/testops/configmaps',
}
const types: Partial<Record<Write['verb'], string>> = {
  json: 'json-patch+json',
  giveUp: 'json-patch+json',
  merge: 'merge-patch+json',
  scale: 'merge-patch+json',
  forget: 'merge-patch+json',
  strategic: 'strategic-merge-patch+json',
  apply: 'apply-patch+yaml',
}
const methods: Partial<Record<Write['verb'], string>> = { create: 'POST', replace: 'PUT' }

/** Plays the writes on an API server of the tests. */
export async function playedHere({ kind, writes }: Sequence): Promise<Played[]> {
  const cluster = new Cluster()
  cluster.isFrozen = true
  const server = await startApiServer(cluster)
  const plural = `${kind.toLowerCase()}s`
  try {
    const all: Played[] = []
    for (const write of writes) {
      const response = await fetch(`${server.url}${places[kind]}${addressOf(write)}`, {
        method: methods[write.verb] ?? 'PATCH',
        headers: { authorization: 'Bearer test-token', 'content-type': `application/${types[write.verb] ?? 'json'}` },
        body: JSON.stringify(bodyOf(write, cluster.find(plural, 'testops', 'a'))),
      })
      const body = (await response.json()) as Answer
      all.push(plainly({ ...body, status: response.status, object: cluster.find(plural, 'testops', 'a') }))
    }
    return all
  } finally {
    await server.close()
  }
}

function addressOf({ verb, manager, subresource, force }: Write): string {
  const place =
    verb === 'create' ? '' : `/a${verb === 'scale' ? '/scale' : subresource === undefined ? '' : `/${subresource}`}`
  const query = new URLSearchParams({ fieldManager: manager, ...(verb === 'apply' && { force: String(force) }) })
  return `${place}?${query.toString()}`
}

function bodyOf({ verb, manager, replicas, body }: Write, live: Stored | null): unknown {
  if (verb === 'scale') return { spec: { replicas } }
  if (verb === 'forget') return { metadata: { managedFields: [{}] } }
  if (verb !== 'giveUp') return body
  const own = (live?.metadata.managedFields ?? []).flatMap((it, index) =>
    it.manager === manager && it.operation === 'Update' ? [index] : [],
  )
  return own.reverse().map((index) => ({ op: 'remove', path: `/metadata/managedFields/${index}` }))
}

/** As the oracle tells it, and the server in part. */
export interface Answer {
  status: number
  object?: unknown
  message?: string
  causes?: unknown
  details?: { causes?: unknown }
}

/** What can be compared of it. */
export function plainly({ status, object, message, causes, details }: Answer): Played {
  if (status === 409)
    return { status, ...(message !== undefined && { message }), causes: byManager(causes ?? details?.causes) }
  return status >= 400 ? { status: 422 } : { status: 200, object: without(object as Stored) }
}

/** Their own order is by chance. */
function byManager(causes: unknown): unknown {
  return (causes as { message: string }[]).sort((one, other) =>
    one.message < other.message ? -1 : one.message > other.message ? 1 : 0,
  )
}

function without({ kind: _kind, apiVersion: _version, status, metadata, ...rest }: Stored): object {
  const {
    uid: _uid,
    creationTimestamp: _created,
    resourceVersion: _number,
    generation: _generation,
    managedFields = [],
    ...own
  } = metadata
  // which of a second are first is by chance
  const owners = managedFields
    .map(({ time: _time, ...entry }) => sorted(entry))
    .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
  const isNone =
    status === undefined || (typeof status === 'object' && status !== null && Object.keys(status).length === 0)
  return sorted({ ...rest, ...(!isNone && { status }), metadata: own, owners }) as object
}

/** The same whatever the order of its members. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, it]) => [key, sorted(it)]),
  )
}
