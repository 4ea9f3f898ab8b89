import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { recordedCluster } from './cluster.ts'
import type { Fate } from './cluster.ts'
import { recordedObjects, recording, recordingNames } from './recordings.ts'
import type { Recording } from './recordings.ts'
import type { Pod } from './resources.ts'
import { startApiServer } from './server.ts'
import type { ApiServer } from './server.ts'

let server: ApiServer
beforeEach(async () => {
  server = await startApiServer(recordedCluster({ crashing: true }))
  server.cluster.users.set('viewer', 'token-viewer')
})
afterEach(async () => server.close())

const first = 'testops-testops-8c5b7486b-28wq4'

/** How the world was when an answer was recorded, where that differs from the time of the lists. */
const worlds: Readonly<Record<string, () => void>> = {
  'deployment-at-zero': () => become({ ...(recording('deployment-at-zero').response.body as object) }),
  'deployment-paused': () => become(recording('deployment-paused').response.body as object),
  'deployment-stuck-rollout': () => become(recording('deployment-stuck-rollout').response.body as object),
  'deployment-updated-replicas-missing': () =>
    become(recording('deployment-updated-replicas-missing').response.body as object),
  'exec-kubelet-unreachable': hidden,
  'log-kubelet-unreachable': hidden,
  'portforward-kubelet-unreachable': hidden,
  'env-set-dry-run': () => become(watched()),
  'replicasets-of-stuck-rollout': () => {
    const name = 'replicasets-of-stuck-rollout'
    for (const it of server.cluster.list('replicasets')) server.cluster.remove('replicasets', it)
    for (const it of recordedObjects(name)) server.cluster.load('replicasets', it)
    server.cluster.resourceVersion = Number(
      (recording(name).response.body as { metadata: { resourceVersion: string } }).metadata.resourceVersion,
    )
  },
  'watch-deployment': () => become(watched()),
  'scale-to-zero': () => void (server.cluster.resourceVersion = 424),
  'scale-back': () => {
    become({ ...(recording('deployment-at-zero').response.body as object) })
    server.cluster.resourceVersion = 457
  },
  'deployments-all-namespaces-forbidden': () =>
    server.cluster.forbidden.push({ verb: 'list', resource: 'deployments', namespace: null }),
  'secret-forbidden': () => server.cluster.forbidden.push({ resource: 'secrets' }),
  'self-access-review': () => server.cluster.forbidden.push({ resource: 'deployments/scale', verb: 'patch' }),
  'lease-create-conflict': () =>
    server.cluster.load('leases', { metadata: { name: 'testops-admin', namespace: 'testops' } }),
  'pod-exec-without-upgrade': podOfLogs,
  'pod-log': () => {
    podOfLogs()
    for (const line of String(recording('pod-log').response.body).trim().split('\n')) {
      const [time = '', ...text] = line.split(' ')
      server.cluster.print(first, 'testops-testops', text.join(' '), { at: time })
    }
  },
  'pod-log-previous-none': podOfLogs,
  'pod-log-wrong-container': podOfLogs,
  'pod-log-previous': () => {
    for (const text of String(recording('pod-log-previous').response.body).trim().split('\n')) {
      server.cluster.print('crashing-7749b5fbbd-wbvsm', 'main', text, { previous: true })
    }
  },
  // of the 26 events that there were, five were recorded
  'events-list': () => {
    for (let left = 0; left < 21; left++)
      server.cluster.load('events', {
        metadata: { name: `later-${String(left).padStart(2, '0')}`, namespace: 'testops' },
      })
  },
}

function watched(): object {
  return (recording('watch-deployment').response.body as { object: object }).object
}

function become(object: object): void {
  const { kind: _kind, apiVersion: _apiVersion, ...deployment } = object as Pod
  server.cluster.load('deployments', deployment)
}

function podOfLogs(): void {
  const [pod] = server.cluster.pods.filter(({ metadata }) => metadata.name.startsWith('testops-testops'))
  if (pod) server.cluster.load('pods', { ...pod, metadata: { ...pod.metadata, name: first } })
}

async function ask({
  method,
  path,
  contentType,
  body,
  as,
  headers,
}: Recording['request']): Promise<Recording['response']> {
  if (headers) return upgrade({ method, path, headers })
  const token = as === 'an unknown token' ? 'unknown' : as === undefined ? 'test-token' : 'viewer'
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(contentType && { 'content-type': contentType }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const type = response.headers.get('content-type') ?? ''
  return {
    status: response.status,
    contentType: type,
    body: type === 'application/json' ? (JSON.parse(text) as unknown) : text,
  }
}

/** A stream that is asked for, and is refused. */
async function upgrade({
  method,
  path,
  headers,
}: {
  method: string
  path: string
  headers: Record<string, string>
}): Promise<Recording['response']> {
  const asking = request(`${server.url}${path}`, {
    method,
    headers: {
      authorization: 'Bearer test-token',
      connection: 'Upgrade',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    },
  })
  asking.end()
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  return {
    status: answer.statusCode ?? 0,
    contentType: answer.headers['content-type'] ?? '',
    body: JSON.parse(await text(answer)) as unknown,
  }
}

/** The pod of these recordings, on a node whose kubelet is not reached. */
function hidden(): void {
  const [pod] = server.cluster.pods.filter(({ metadata }) => metadata.name.startsWith('testops-testops'))
  if (!pod) throw new Error('no pod is recorded')
  server.cluster.load('pods', { ...pod, metadata: { ...pod.metadata, name: 'testops-testops-544cf59445-xq9zk' } })
  server.cluster.hiddenNodes.add(pod.spec.nodeName ?? '')
}

/**
 * What differs from one run to the next, and the owners of fields, which these recordings leave out (fields.test.ts has
 * them).
 */
function withoutChance(value: unknown, key = ''): unknown {
  if (['uid', 'creationTimestamp'].includes(key)) return typeof value
  if (Array.isArray(value)) return value.map((it) => withoutChance(it))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name]) => name !== 'managedFields')
  return Object.fromEntries(entries.map(([name, it]) => [name, withoutChance(it, name)]))
}

describe('each recorded exchange', () => {
  it.each(recordingNames())('%s is answered as it was', async (name) => {
    worlds[name]?.()
    const { request, response, others = [] } = recording(name)
    // resource versions count other things of that cluster too
    if (name === 'lease-create') server.cluster.resourceVersion = 494
    expect(withoutChance(await ask(request))).toEqual(withoutChance(response))
    // an upgrade to SPDY is none of ours
    for (const other of others.filter((it) => it.request.method === 'GET' && it.response.status !== 101))
      expect(withoutChance(await ask(other.request))).toEqual(withoutChance(other.response))
  })
})

describe('the pods of a workload', () => {
  const scale = (replicas: number): Promise<unknown> =>
    ask({
      method: 'PATCH',
      path: '/apis/apps/v1/namespaces/testops/deployments/testops-testops/scale',
      contentType: 'application/merge-patch+json',
      body: { spec: { replicas } },
    })
  const pods = (): Pod[] => server.cluster.pods.filter(({ metadata }) => metadata.labels?.['app'] === 'testops-testops')
  const states = (): string[] =>
    pods().map(({ metadata, status }) =>
      metadata.deletionTimestamp ? 'Terminating' : `${status.phase}${isReady(status) ? ', ready' : ''}`,
    )
  const isReady = ({ conditions }: Pod['status']): boolean =>
    conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
  /** All states from now on until the last of them. */
  const seen = (last: string): Promise<string[]> => {
    const all: string[] = []
    return new Promise((resolve) => {
      const look = (): void => {
        const now = states().join('; ')
        if (all.at(-1) !== now) all.push(now)
        if (now !== last) return
        server.cluster.changes.off('change', look)
        resolve(all)
      }
      server.cluster.changes.on('change', look)
      look()
    })
  }

  it('end one after another when it is scaled to zero, and come back', async () => {
    const ending = seen('')
    await scale(0)
    expect(await ending).toEqual(expect.arrayContaining(['Terminating; Terminating', '']))
    const coming = seen('Running, ready; Running, ready')
    await scale(2)
    const stages = await coming
    expect([
      stages[0],
      stages.includes('Pending; Pending'),
      stages.includes('Running; Running'),
      stages.at(-1),
    ]).toEqual(['', true, true, 'Running, ready; Running, ready'])
    const status = (): unknown => server.cluster.find('deployments', 'testops', 'testops-testops')?.['status']
    await expect.poll(status).toMatchObject({ observedGeneration: 3, replicas: 2, readyReplicas: 2 })
  })

  it('become what their fate is', async () => {
    const fates: Fate[] = ['never-ready', { exitCode: 127, reason: 'Error', log: 'CPU does not support x86-64-v3' }]
    server.cluster.hooks.starting = () => fates.shift() ?? 'ready'
    await scale(0)
    await seen('')
    await scale(2)
    await expect
      .poll(() =>
        pods()
          .map(({ status }) => status.containerStatuses?.[0]?.state['waiting']?.['reason'] ?? status.phase)
          .sort(),
      )
      .toEqual(['CrashLoopBackOff', 'Running'])
    const crashed = pods().find(({ status }) => status.containerStatuses?.[0]?.restartCount === 3)
    const log = await ask({
      method: 'GET',
      path: `/api/v1/namespaces/testops/pods/${crashed?.metadata.name}/log?previous=true`,
    })
    expect(log.body).toBe('CPU does not support x86-64-v3\n')
  })

  it('stay on a node that is dead', async () => {
    server.cluster.deadNodes.add('gpu-1')
    await scale(0)
    await seen('Terminating')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(states()).toEqual(['Terminating'])
  })

  it('are made anew from another template, which is told to who watches', async () => {
    const path = '/apis/apps/v1/namespaces/testops/deployments/testops-testops'
    const watch = fetch(
      `${server.url}/api/v1/namespaces/testops/pods?watch=true&timeoutSeconds=1&resourceVersion=424`,
      {
        headers: { authorization: 'Bearer test-token' },
      },
    )
    const before = pods().map(({ metadata }) => metadata.name)
    await ask({
      method: 'PATCH',
      path,
      contentType: 'application/json-patch+json',
      body: [{ op: 'add', path: '/spec/template/spec/containers/0/env/-', value: { name: 'A', value: '1' } }],
    })
    await expect.poll(() => pods().filter(({ metadata }) => before.includes(metadata.name))).toEqual([])
    await expect.poll(states).toEqual(['Running, ready', 'Running, ready'])
    const told = (await (await watch).text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; object: Pod })
    const ends = told.filter(({ type }) => type === 'DELETED').map(({ object }) => object.metadata.name)
    expect([told.filter(({ type }) => type === 'ADDED').length, ends.sort()]).toEqual([3, before.sort()])
  })
})

describe('a rollout', () => {
  const path = '/apis/apps/v1/namespaces/testops/deployments/testops-testops'
  type Status = { conditions?: { type: string; status: string; reason?: string }[] } & Readonly<Record<string, unknown>>
  const counts = ({ replicas, updatedReplicas, readyReplicas }: Status): unknown => ({
    replicas,
    updatedReplicas,
    readyReplicas,
  })
  const recorded = (name: string): Status => (recording(name).response.body as { status: Status }).status
  const status = (): Status => server.cluster.get('deployments', 'testops', 'testops-testops')['status'] as Status
  const renew = async (): Promise<void> => {
    server.cluster.settle()
    await expect.poll(() => status()['readyReplicas']).toBe(2)
    await ask({
      method: 'PATCH',
      path,
      contentType: 'application/json-patch+json',
      body: [{ op: 'add', path: '/spec/template/spec/containers/0/env/-', value: { name: 'A', value: '1' } }],
    })
  }

  it('of a Deployment that is paused begins with no pod, whatever is changed', async () => {
    await ask({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body: { spec: { paused: true } } })
    await renew()
    await expect
      .poll(() => status()['observedGeneration'])
      .toBe(server.cluster.get('deployments', 'testops', 'testops-testops').metadata.generation)
    expect(counts(status())).toEqual(counts(recorded('deployment-paused')))
  })

  it('whose new pods have an image that cannot be had leaves those of before', async () => {
    server.cluster.hooks.starting = () => ({ waiting: 'ImagePullBackOff', message: 'Back-off pulling image' })
    await renew()
    await expect.poll(() => counts(status())).toEqual(counts(recorded('deployment-stuck-rollout')))
  })

  it('whose new pods are refused counts none of them', async () => {
    server.cluster.hooks.admitting = () => 'violates PodSecurity "restricted:latest": runAsNonRoot != true'
    await renew()
    const failure = ({ conditions = [] }: Status): unknown =>
      conditions.filter(({ type }) => type === 'ReplicaFailure').map((it) => [it.status, it.reason])
    await expect.poll(() => failure(status())).toEqual(failure(recorded('deployment-updated-replicas-missing')))
    expect(counts(status())).toEqual(counts(recorded('deployment-updated-replicas-missing')))
    server.cluster.hooks.admitting = () => null
    await expect.poll(() => counts(status())).toEqual({ replicas: 2, updatedReplicas: 2, readyReplicas: 2 })
    expect(failure(status())).toEqual([])
  })
})

describe('a patch', () => {
  const path = '/apis/apps/v1/namespaces/testops/deployments/testops-testops'
  const conflict = (recording('patch-conflict').response.body as { message: string }).message

  it.each([
    ['a version that is over', 'application/merge-patch+json', { metadata: { resourceVersion: '1' } }, 409, conflict],
    [
      'a test that fails',
      'application/json-patch+json',
      [{ op: 'test', path: '/spec/replicas', value: 9 }],
      422,
      'the server rejected our request due to an error in our request',
    ],
  ])('with %s is refused', async (_, contentType, body, status, message) => {
    expect(await ask({ method: 'PATCH', path, contentType, body })).toMatchObject({ status, body: { message } })
  })
})
