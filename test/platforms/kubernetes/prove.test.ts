import { spawn } from 'node:child_process'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import type { Machine } from '../../../src/core/sources.ts'
import { openKubernetes } from '../../../src/platforms/kubernetes/index.ts'
import { v3Flags } from '../../fakes/index.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import type { ExecCall } from '../../kubernetes/exec.ts'
import type { ApiServer } from '../../kubernetes/server.ts'
import { startCluster } from './cluster.ts'

const cpuinfo = `processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: ${v3Flags.join(' ')} hypervisor\n\nQEMU\n`
const has = { architecture: 'x86_64', processors: [[...v3Flags, 'hypervisor']], hypervisor: 'QEMU' }

interface World {
  cluster: Cluster
  server: ApiServer
  told: string[]
  prove: (of?: { mayMakePods?: boolean; signal?: AbortSignal }) => Promise<readonly Machine[]>
}

/** A cluster of two nodes, on which `cat` prints a cpuinfo file, wherever it is there. */
async function world(
  prepare: (cluster: Cluster) => void = () => undefined,
  hasCat: (call: ExecCall) => boolean = () => true,
): Promise<World> {
  const { cluster, server, environment } = await startCluster()
  cluster.isFrozen = true
  cluster.hooks.exec = (call) => (call.command[0] === 'cat' && hasCat(call) ? spawn('printf', ['%s', cpuinfo]) : null)
  prepare(cluster)
  const platform = await openKubernetes(
    { context: null, namespace: null, release: null },
    { timeoutMs: 10_000, environment },
  )
  onTestFinished(async () => platform.close())
  const told: string[] = []
  return {
    cluster,
    server,
    told,
    async prove({ mayMakePods = true, signal } = {}) {
      const machines = await (await platform.service()).machines()
      return platform.prove!(machines, {
        mayMakePods,
        tell: (message) => void told.push(message),
        ...(signal && { signal }),
      })
    },
  }
}

const ourPods = (cluster: Cluster): string[] =>
  cluster.pods.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('testops-admin-'))
const posted = ({ server: { requests } }: World): string[] =>
  requests.filter((it) => it.startsWith('POST ') && it.includes('/pods'))

/** Nothing runs on the nodes but what is made there. */
function deserted(cluster: Cluster): void {
  for (const { status } of cluster.pods) Object.assign(status, { phase: 'Pending', containerStatuses: [] })
}

function withImages(cluster: Cluster, ...images: { names: string[]; sizeBytes?: number }[]): void {
  for (const node of cluster.list('nodes'))
    cluster.update('nodes', node, (it) => void Object.assign(it['status'] as object, { images }))
}

describe('the processors of nodes', () => {
  it('are read in the pods that run there, and nothing is made', async () => {
    const it = await world()
    expect(await it.prove({ mayMakePods: false })).toEqual([
      { name: 'cpu-1', ...has },
      { name: 'gpu-1', ...has },
    ])
    expect([posted(it), it.told]).toEqual([[], []])
  })

  it('are read in another pod, where the image of the first has no such program', async () => {
    const it = await world(undefined, ({ pod }) => pod.metadata.name === 'testops-testops-8c5b7486b-cmngq')
    it.cluster.pods.forEach(({ spec }) => void (spec.nodeName = 'cpu-1'))
    expect((await it.prove({ mayMakePods: false }))[0]).toEqual({ name: 'cpu-1', ...has })
  })

  it('are read in a pod of our own elsewhere, which is as restricted as can be, and removed', async () => {
    const it = await world(deserted)
    it.cluster.load('namespaces', {
      metadata: { name: 'testops', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    })
    const made: unknown[] = []
    it.cluster.changes.on(
      'change',
      ({ type, object }) => void (type === 'ADDED' && made.push((object as { spec: unknown }).spec)),
    )
    expect(await it.prove()).toEqual([
      { name: 'cpu-1', ...has },
      { name: 'gpu-1', ...has },
    ])
    expect([ourPods(it.cluster), posted(it).length, it.told]).toEqual([[], 2, []])
    expect(made[0]).toMatchObject({
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
      tolerations: [{ operator: 'Exists' }],
      containers: [{ imagePullPolicy: 'Never', resources: { limits: { memory: '64Mi' } } }],
    })
  })

  it('are not read where nothing may be made', async () => {
    const it = await world(deserted)
    expect(await it.prove({ mayMakePods: false })).toMatchObject([
      {
        name: 'cpu-1',
        processors: [],
        unproven:
          'to read /proc/cpuinfo of the node, this check would have to create a pod there, but the check must not ' +
          'change anything',
      },
      { name: 'gpu-1' },
    ])
    expect(posted(it)).toEqual([])
  })

  it('are tried with the likeliest images first, and no more than a few', async () => {
    const tried: string[] = []
    const it = await world(
      (cluster) => {
        deserted(cluster)
        withImages(
          cluster,
          { names: ['registry.k8s.io/pause:3.10'], sizeBytes: 1 },
          { names: ['example.org/own@sha256:1234', 'example.org/own:1'], sizeBytes: 2 },
          { names: ['<none>@<none>', '<none>:<none>'], sizeBytes: 3 },
          { names: ['docker.io/library/postgres:15'], sizeBytes: 400 },
          { names: ['docker.io/library/alpine:3'], sizeBytes: 70 },
          { names: ['docker.io/library/busybox:1'], sizeBytes: 40 },
          ...['a', 'b', 'c'].map((name) => ({ names: [`example.org/${name}:1`], sizeBytes: 500 })),
        )
      },
      ({ pod }) => {
        tried.push(pod.spec.containers[0]!.image)
        return false
      },
    )
    const [first] = await it.prove()
    expect(tried.slice(0, 2).concat(tried.slice(-2))).toEqual([
      ...Array<string>(2).fill('docker.io/library/busybox:1'),
      ...Array<string>(2).fill('example.org/own:1'),
    ])
    expect([tried.length, ourPods(it.cluster), first?.processors]).toEqual([8, [], []])
    expect(first?.unproven).toMatch(
      /cannot start a pod with image `docker\.io\/library\/busybox:1`: StartError: .*executable file not found/,
    )
  })

  it('are not asked of other architectures', async () => {
    const it = await world((cluster) => {
      deserted(cluster)
      for (const node of cluster.list('nodes'))
        cluster.update(
          'nodes',
          node,
          (one) => void ((one['status'] as { nodeInfo: { architecture: string } }).nodeInfo.architecture = 'arm64'),
        )
    })
    expect([(await it.prove()).map(({ architecture }) => architecture), posted(it)]).toEqual([
      ['aarch64', 'aarch64'],
      [],
    ])
  })
})

describe('what is in the way', () => {
  it.each<[string, (cluster: Cluster) => void, RegExp]>([
    [
      'no right to run programs, and none to make pods',
      (cluster) => void cluster.forbidden.push({ resource: 'pods/exec' }, { resource: 'pods', verb: 'create' }),
      new RegExp(
        '^user tester has no permission to create pods\\/exec `testops-[^`]*` in namespace `testops` [^;\\n]*\\n' +
          'user tester has no permission to create pods in namespace `testops` of the cluster',
      ),
    ],
    [
      'a node without any image',
      (cluster) => (deserted(cluster), withImages(cluster)),
      /^no pod of this namespace runs on this node, and the node has no usable image for a new pod$/,
    ],
  ])('%s', async (_, prepare, reason) => {
    const [first] = await (await world(prepare)).prove()
    expect(first?.unproven).toMatch(reason)
  })

  it('a policy says so in its own words', async () => {
    const it = await world(deserted)
    it.server.instead = (request, response) => {
      if (request.method !== 'POST') return false
      response.writeHead(403, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          kind: 'Status',
          code: 403,
          reason: 'Forbidden',
          message: 'pods "x" is forbidden: exceeded quota: small, requested: pods=1',
        }),
      )
      return true
    }
    expect((await it.prove())[0]?.unproven).toBe(
      'the cluster of context `test` refuses to create pods in namespace `testops`: pods "x" is forbidden: ' +
        'exceeded quota: small, requested: pods=1',
    )
  })

  it('a pod that cannot be removed is named with the command that does', async () => {
    const it = await world((cluster) => {
      deserted(cluster)
      cluster.forbidden.push({ resource: 'pods', verb: 'delete' })
    })
    expect((await it.prove())[0]).toEqual({ name: 'cpu-1', ...has })
    const [name] = ourPods(it.cluster).filter((one) => it.told[0]?.includes(one))
    expect(it.told[0]).toBe(
      `pod ${name} in namespace testops could not be removed: user tester has no permission to delete pods ` +
        `\`${name}\` in namespace \`testops\` of the cluster of context \`test\`\n  kubectl --context test -n ` +
        `testops delete pod ${name}`,
    )
    // what has just ended may be another operator's, who is about to read it; a later run that may removes it
    it.cluster.forbidden.length = 0
    await it.prove()
    expect(ourPods(it.cluster)).toHaveLength(2)
    for (const pod of it.cluster.pods) pod.metadata.creationTimestamp = '2026-01-01T00:00:00Z'
    await it.prove()
    expect(ourPods(it.cluster)).toEqual([])
  })

  it('a lost answer to its making leaves no pod', async () => {
    const it = await world(deserted)
    it.server.instead = (request, response) => {
      if (request.method !== 'POST') return false
      request.on('data', (bytes: Buffer) => {
        const body = JSON.parse(bytes.toString()) as { metadata: { name: string }; spec: object }
        it.cluster.create('pods', {
          ...body,
          metadata: { ...body.metadata, namespace: 'testops' },
          status: { phase: 'Pending', conditions: [] },
        })
        response.destroy()
      })
      return true
    }
    expect((await it.prove())[0]?.unproven).toContain('closed the connection')
    expect(ourPods(it.cluster)).toEqual([])
  })

  it('an interruption removes what is there', async () => {
    const stop = new AbortController()
    const it = await world((cluster) => {
      deserted(cluster)
      cluster.hooks.exec = () => spawn('sleep', ['600'])
    })
    const proving = it.prove({ signal: stop.signal })
    proving.catch(() => undefined)
    await expect.poll(() => it.cluster.programs.size, { timeout: 10_000 }).toBe(2)
    stop.abort(new AdminError('INTERRUPTED', 'interrupted by SIGINT'))
    await expect(proving).rejects.toMatchObject({ code: 'INTERRUPTED' })
    await expect.poll(() => ourPods(it.cluster), { timeout: 10_000 }).toEqual([])
    expect(it.told).toEqual([])
  })
})
