import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Secret } from '../../src/core/secret.ts'
import { openClient } from '../../src/platforms/kubernetes/client.ts'
import type { KubernetesClient } from '../../src/platforms/kubernetes/client.ts'
import { execIn } from '../../src/platforms/kubernetes/exec.ts'
import { openKubernetes } from '../../src/platforms/kubernetes/index.ts'
import { awaitPod, imagesOn, makePod, UnusableImage } from '../../src/platforms/kubernetes/short-lived.ts'
import type { Node, Pod, Workload } from '../../src/platforms/kubernetes/objects.ts'
import { timedLine, wholeSecond } from '../../src/platforms/follow.ts'
import { errorOf } from '../adapters/failure-of.ts'
import { recordedObjects } from '../kubernetes/recordings.ts'

const timeoutMs = 10_000
const name = 'testops-testops'

/**
 * What an API server of Kubernetes does, and what this program makes of it: in a namespace of its own, which is made
 * and deleted again. Whether the service's image can be had there makes no difference.
 */
export function kubernetesContract(kubeconfig: () => Promise<string>): void {
  const namespace = `testops-admin-${randomBytes(4).toString('hex')}`
  const deployment = { resource: 'deployments', namespace, name } as const
  const settings = { context: null, namespace, release: null }
  let environment: Record<string, string>
  let client: KubernetesClient

  beforeAll(async () => {
    environment = { KUBECONFIG: await kubeconfig() }
    client = await openClient({ context: null }, { timeoutMs, environment })
    await client.change(
      { resource: 'namespaces', namespace: null },
      { verb: 'create', body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } } },
    )
    const [secret] = recordedObjects('secret-get')
    await client.change(
      { resource: 'secrets', namespace },
      {
        verb: 'create',
        body: { apiVersion: 'v1', kind: 'Secret', metadata: { name }, type: 'Opaque', data: secret?.['data'] },
      },
    )
    await client.change(
      { resource: 'configmaps', namespace },
      { verb: 'create', body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { TZ: 'UTC' } } },
    )
    const [recorded] = recordedObjects('deployment-get') as unknown as Workload[]
    if (!recorded) throw new Error('no deployment is recorded')
    const { labels, annotations } = recorded.metadata
    const [container] = recorded.spec.template.spec.containers
    const template = {
      ...recorded.spec.template,
      spec: {
        ...recorded.spec.template.spec,
        containers: [
          { name: 'proxy', image: 'registry.example.org/proxy:1' },
          { ...container, envFrom: [{ configMapRef: { name } }] },
        ],
      },
    }
    await client.change(
      { resource: 'deployments', namespace },
      {
        verb: 'create',
        body: {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name, labels, annotations },
          spec: { ...recorded.spec, template },
        },
      },
    )
    while ((await pods()).length < 2) await sleep(100)
  }, 60_000)

  afterAll(async () => {
    await client.change({ resource: 'namespaces', namespace: null, name: namespace }, { verb: 'delete' })
    client.close()
  })

  const pods = async (): Promise<readonly Pod[]> =>
    client.list<Pod>({ resource: 'pods', namespace, query: { labelSelector: 'app=testops-testops' } })
  const failure = async (work: Promise<unknown>): Promise<[string, string] | null> => {
    const error = await errorOf(work)
    return (
      error && [
        error.code,
        error.message
          .replaceAll(namespace, 'NAMESPACE')
          .replace(/ of (?:the cluster of context `[^`]*`|this cluster)/, '')
          .replace(/^(?:the cluster of context `[^`]*`|this cluster)/, 'the cluster'),
      ]
    )
  }

  it('the service is found by its image, among several containers', async () => {
    const platform = await openKubernetes(settings, { timeoutMs, environment })
    try {
      const source = await platform.service()
      const { name: image, tag, build } = await source.image()
      expect({ image, tag, build }).toEqual({ image: 'testops', tag: '526u03', build: '526u03' })
      const read = await source.environment()
      expect([
        read.get('TZ'),
        read.get('SPRING_DATA_REDIS_HOST'),
        (read.get('SPRING_RABBITMQ_PASSWORD') as Secret).reveal(),
      ]).toEqual(['UTC', 'testops-redis-master', 'rabbit-secret'])
      expect(read.get('SPRING_RABBITMQ_PASSWORD')).toBeInstanceOf(Secret)
      const log = await platform.log()
      expect(typeof (await log.newest({ maxBytes: 1000 })).text).toBe('string')
    } finally {
      await platform.close()
    }
  })

  it('nodes are known to those who may list them', async () => {
    const platform = await openKubernetes(settings, { timeoutMs, environment })
    try {
      const machines = await (await platform.service()).machines()
      expect(machines.map(({ processors }) => processors.length)).toEqual(machines.map(() => 0))
      expect(machines.length).toBeGreaterThan(0)
    } finally {
      await platform.close()
    }
  })

  it('what is not there, or was changed meanwhile, is told', async () => {
    expect(await failure(client.get({ ...deployment, name: 'nope' }))).toEqual([
      'UNAVAILABLE',
      'the cluster has no deployments `nope` in namespace `NAMESPACE`',
    ])
    expect(
      await failure(client.text({ resource: 'pods', namespace, name: 'nope', subresource: 'log' }, { maxBytes: 100 })),
    ).toEqual(['UNAVAILABLE', 'the cluster has no pods/log `nope` in namespace `NAMESPACE`'])
    expect(
      await failure(
        client.change(deployment, {
          verb: 'patch',
          kind: 'merge',
          body: { metadata: { resourceVersion: '1' }, spec: { replicas: 2 } },
        }),
      ),
    ).toEqual([
      'REFUSED',
      'deployments `testops-testops` in namespace `NAMESPACE` has changed: Operation cannot be fulfilled on ' +
        'deployments.apps "testops-testops": the object has been modified; please apply your changes to the ' +
        'latest version and try again',
    ])
    expect(
      await failure(
        client.change(deployment, { verb: 'patch', kind: 'strategic', body: { spec: { replicas: 'two' } } }),
      ),
    ).toMatchObject(['UNEXPECTED_ANSWER', expect.stringContaining('(HTTP 422)')])
    const [pod] = await pods()
    const wrong = {
      resource: 'pods',
      namespace,
      name: pod?.metadata.name ?? '',
      subresource: 'log',
      query: { container: 'nope' },
    } as const
    expect(await failure(client.text(wrong, { maxBytes: 100 }))).toMatchObject([
      'UNEXPECTED_ANSWER',
      expect.stringContaining('container nope is not valid for pod'),
    ])
  })

  it('where nothing can be run is told', async () => {
    const [pod] = await pods()
    const run = async (of: object): Promise<unknown> =>
      failure(
        execIn(client, { namespace, pod: pod?.metadata.name ?? '', container: name, ...of }, ['true'], { timeoutMs }),
      )
    expect(await run({ pod: 'nope' })).toEqual([
      'UNAVAILABLE',
      'the cluster has no pods/exec `nope` in namespace `NAMESPACE`',
    ])
    expect(await run({ container: 'nope' })).toMatchObject([
      'UNEXPECTED_ANSWER',
      expect.stringContaining('container nope is not valid for pod'),
    ])
  })

  it('a short-lived pod runs under the strictest policy, with an image that a node has, and is removed', async () => {
    const label = async (level: string | null): Promise<unknown> =>
      client.change(
        { resource: 'namespaces', namespace: null, name: namespace },
        {
          verb: 'patch',
          kind: 'merge',
          body: { metadata: { labels: { 'pod-security.kubernetes.io/enforce': level } } },
        },
      )
    await label('restricted')
    const nodes = await client.list<Node>({ resource: 'nodes', namespace: null })
    const places = nodes.flatMap(({ metadata: { name: node } }) =>
      imagesOn(node, nodes, []).map((image) => ({ node, image })),
    )
    const told: string[] = []
    const tries: string[] = []
    for (const place of places) {
      const pod = await makePod(
        client,
        namespace,
        { purpose: 'check-cpu', ...place, command: ['cat', '/proc/cpuinfo'], lifeSeconds: 120 },
        (message) => void told.push(message),
      )
      const log = { resource: 'pods', namespace, name: pod.name, subresource: 'log' } as const
      const printed = async (): Promise<string> => (
        await awaitPod(client, namespace, pod.name, 'ended', { timeoutMs: 60_000 }),
        (await client.text(log, { maxBytes: 64_000_000 })).text
      )
      const text = await printed().catch((error: unknown) => {
        if (error instanceof UnusableImage) return null
        throw error
      })
      await pod.remove()
      await expect
        .poll(
          async () =>
            (await client.list<Pod>({ resource: 'pods', namespace })).some(
              ({ metadata }) => metadata.name === pod.name,
            ),
          { timeout: 30_000 },
        )
        .toBe(false)
      tries.push(text === null ? 'has no such program' : /^processor/m.test(text) ? 'shows its processors' : text)
      if (text !== null) break
    }
    await label(null)
    expect([tries.at(-1), told]).toEqual(['shows its processors', []])
  }, 180_000)

  it('the log of a pod is followed until its container ends, and again from a time of its own', async () => {
    const nodes = await client.list<Node>({ resource: 'nodes', namespace: null })
    for (const place of nodes.flatMap(({ metadata: { name: node } }) =>
      imagesOn(node, nodes, []).map((image) => ({ node, image })),
    )) {
      const pod = await makePod(
        client,
        namespace,
        { purpose: 'check-cpu', ...place, command: ['cat', '/proc/cpuinfo'], lifeSeconds: 120 },
        () => undefined,
      )
      const isEnded = await awaitPod(client, namespace, pod.name, 'ended', { timeoutMs: 60_000 }).then(
        () => true,
        (error: unknown) => {
          if (error instanceof UnusableImage) return false
          throw error
        },
      )
      const follow = async (query: object): Promise<string[]> => {
        const lines: string[] = []
        const asked = {
          resource: 'pods',
          namespace,
          name: pod.name,
          subresource: 'log',
          query: { follow: true, timestamps: true, ...query },
        } as const
        for await (const line of client.lines(asked, { maxLength: 1000 })) lines.push(line)
        return lines
      }
      if (isEnded) {
        const all = await follow({})
        const first = timedLine(all[0] ?? '')
        expect(first?.text).toMatch(/^processor/)
        expect(all.every((line) => timedLine(line) !== null)).toBe(true)
        // a fraction of a second that is asked for is not heard
        const second = wholeSecond(first?.at ?? 0n)
        expect(await follow({ sinceTime: second })).toEqual(all)
        expect(await follow({ sinceTime: second.replace('Z', '.999999999Z') })).toEqual(all)
        expect(await follow({ sinceTime: wholeSecond((first?.at ?? 0n) + 3_600_000_000_000n) })).toEqual([])
        expect(await follow({ tailLines: 0 })).toEqual([])
        const whole: Uint8Array[] = []
        for await (const block of client.blocks(
          { resource: 'pods', namespace, name: pod.name, subresource: 'log' },
          {},
        ))
          whole.push(block)
        expect(Buffer.concat(whole).toString()).toBe(
          all.map((line) => `${line.slice(line.indexOf(' ') + 1)}\n`).join(''),
        )
      }
      await pod.remove()
      if (isEnded) return
    }
    throw new Error('no image of any node can print its processors')
  }, 180_000)

  it('a lease is made once', async () => {
    const leases = { resource: 'leases', namespace } as const
    const body = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'mine' },
      spec: { holderIdentity: 'alice' },
    }
    const made = await client.change<{ spec: object; metadata: { resourceVersion: string } }>(leases, {
      verb: 'create',
      body,
    })
    expect(made.spec).toEqual({ holderIdentity: 'alice' })
    expect(await failure(client.change(leases, { verb: 'create', body }))).toEqual([
      'REFUSED',
      'leases in namespace `NAMESPACE` has changed: leases.coordination.k8s.io "mine" already exists',
    ])
    const renewed = {
      ...body,
      metadata: { name: 'mine', resourceVersion: made.metadata.resourceVersion },
      spec: { holderIdentity: 'bob' },
    }
    await client.change({ ...leases, name: 'mine' }, { verb: 'update', body: renewed })
    expect(await failure(client.change({ ...leases, name: 'mine' }, { verb: 'update', body: renewed }))).toMatchObject([
      'REFUSED',
      expect.stringContaining('the object has been modified'),
    ])
  })

  it('an environment variable that is patched in stands first, a dry run changes nothing', async () => {
    const body = {
      spec: { template: { spec: { containers: [{ name, env: [{ name: 'VENDOR_RABBIT_DURABLE', value: 'true' }] }] } } },
    }
    const change = { verb: 'patch', kind: 'strategic', body } as const
    const patched = await client.change<Workload>({ ...deployment, query: { dryRun: 'All' } }, change)
    const namesIn = ({ spec }: Workload): string[] =>
      spec.template.spec.containers.find((it) => it.name === name)?.env?.map((it) => it.name) ?? []
    expect(namesIn(patched).slice(0, 2)).toEqual(['VENDOR_RABBIT_DURABLE', 'SPRING_DATASOURCE_URL'])
    expect(namesIn(await client.get<Workload>(deployment))[0]).toBe('SPRING_DATASOURCE_URL')
  })

  // recordings deployment-paused and env-set-by-json-patch; kubernetes.io, "Deployments", on pausing a rollout
  it('a Deployment that is paused makes no pod of what is changed, and counts none', async () => {
    const renew = async (body: object): Promise<void> =>
      void (await client.change(deployment, { verb: 'patch', kind: 'strategic', body }))
    const template = (value: string | null): object => ({
      spec: {
        containers: [
          { name, env: [value === null ? { name: 'PAUSED', $patch: 'delete' } : { name: 'PAUSED', value }] },
        ],
      },
    })
    const before = (await pods()).map(({ metadata }) => metadata.name).sort()
    await renew({ spec: { paused: true } })
    await renew({ spec: { template: template('1') } })
    await expect
      .poll(
        async () => {
          const { metadata, status } = await client.get<Workload>(deployment)
          return (
            (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) && status?.updatedReplicas === undefined
          )
        },
        { timeout: 10_000 },
      )
      .toBe(true)
    expect((await pods()).map(({ metadata }) => metadata.name).sort()).toEqual(before)
    await renew({ spec: { template: template(null), paused: null } })
    await expect
      .poll(async () => (await client.get<Workload>(deployment)).status?.updatedReplicas, { timeout: 10_000 })
      .toBe(2)
  })

  it('who asks is told what they may do', async () => {
    expect(await client.may('patch', { ...deployment, subresource: 'scale' })).toBe(true)
  })

  describe('scaled to zero', () => {
    it('its change is seen by who watches, its pods go, and it is stopped', async () => {
      const stop = new AbortController()
      const seen: (number | undefined)[] = []
      const watching = (async () => {
        for await (const { object } of client.watch<Workload>(
          { resource: 'deployments', namespace, query: { fieldSelector: `metadata.name=${name}` } },
          stop.signal,
        ))
          seen.push(object.spec.replicas)
      })()
      await expect.poll(() => seen[0], { timeout: 10_000 }).toBe(2)
      const scale = await client.change<{ spec: object }>(
        { ...deployment, subresource: 'scale' },
        { verb: 'patch', kind: 'merge', body: { spec: { replicas: 0 } } },
      )
      expect(scale.spec).toEqual({})
      await expect.poll(() => seen.at(-1), { timeout: 10_000 }).toBe(0)
      stop.abort()
      await watching
      await expect.poll(async () => (await pods()).length, { timeout: 60_000 }).toBe(0)
      const platform = await openKubernetes(settings, { timeoutMs, environment })
      try {
        expect(await (await platform.service()).status()).toEqual({
          state: 'stopped',
          detail: 'scaled to 0',
          instances: [],
        })
      } finally {
        await platform.close()
      }
    }, 90_000)
  })
}
