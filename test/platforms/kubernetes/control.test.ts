import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ServiceStatus } from '../../../src/core/sources.ts'
import { openClient } from '../../../src/platforms/kubernetes/client.ts'
import type { KubernetesClient } from '../../../src/platforms/kubernetes/client.ts'
import { scaleDown, scaleUp, tryScale } from '../../../src/platforms/kubernetes/scale.ts'
import type { Scaled } from '../../../src/platforms/kubernetes/scale.ts'
import { patchSetting } from '../../../src/platforms/kubernetes/setting.ts'
import { errorOf, failureOf } from '../../adapters/failure-of.ts'
import { recordedCluster } from '../../kubernetes/cluster.ts'
import { kubeconfigFor } from '../../kubernetes/passing-kubeconfig.ts'
import type { Stored, Workload } from '../../kubernetes/resources.ts'
import { startApiServer } from '../../kubernetes/server.ts'
import type { ApiServer } from '../../kubernetes/server.ts'

const workload = { resource: 'deployments', namespace: 'testops', name: 'testops-testops' } as const
const timeoutMs = 3000

let server: ApiServer
let client: KubernetesClient
beforeEach(async () => {
  server = await startApiServer(recordedCluster())
  client = await openClient(
    { context: null },
    { timeoutMs: 2000, environment: { KUBECONFIG: await kubeconfigFor(server.url) } },
  )
})
afterEach(async () => {
  client.close()
  await server.close()
})

function deployment(): Workload {
  return server.cluster.get('deployments', 'testops', 'testops-testops') as Workload
}

function edit(change: (it: Workload) => void): void {
  server.cluster.update('deployments', deployment(), (it) => change(it as Workload))
}

function pods(): string[] {
  return server.cluster.pods.map(({ metadata: { name } }) => name).filter((it) => it.startsWith('testops-testops-'))
}

/** As the platform sees it, in the words of the test. */
async function status(): Promise<ServiceStatus> {
  const names = pods()
  const wanted = deployment().spec.replicas ?? 1
  return {
    state: wanted === 0 && names.length === 0 ? 'stopped' : 'running',
    detail: `${names.length} pods of ${wanted}`,
    instances: names.map((name) => ({ name, host: name, pid: null, startedAt: null })),
  }
}

const scaled = (): Scaled => ({ client, workload, status, pollMs: 10 })
const writes = (): string[] => server.requests.filter((it) => !it.startsWith('GET'))
const path = '/apis/apps/v1/namespaces/testops/deployments/testops-testops'

describe('stopping and starting', () => {
  test(
    'the replicas of before are on the workload and on record before it is scaled to zero, ' + 'and come back',
    async () => {
      server.cluster.settle()
      const before = deployment().spec.replicas
      const notes: string[] = []
      const stopped = await scaleDown(scaled(), {
        timeoutMs,
        note: async (text) => {
          expect(deployment().spec.replicas).toBe(before)
          notes.push(text)
        },
      })
      expect([stopped.state, pods()]).toEqual(['stopped', []])
      expect(notes).toEqual([`replicas deployments/testops/testops-testops ${before}`])
      expect(deployment().metadata.annotations?.['testops-admin/replicas']).toBe(String(before))
      // after a conflict with the controller's status, a write is tried again
      expect([...new Set(writes())]).toEqual([`PATCH ${path}`, `PATCH ${path}/scale`])
      const started = await scaleUp(scaled(), { timeoutMs })
      expect([started.state, deployment().spec.replicas, deployment().status?.['readyReplicas']]).toEqual([
        'running',
        before,
        before,
      ])
      expect(deployment().metadata.annotations?.['testops-admin/replicas']).toBe(undefined)
    },
  )

  test('what is stopped, or runs, is left as it is', async () => {
    server.cluster.settle()
    await scaleDown(scaled(), { timeoutMs })
    const kept = deployment().metadata.annotations?.['testops-admin/replicas']
    await scaleDown(scaled(), { timeoutMs, note: async () => expect.unreachable() })
    expect(deployment().metadata.annotations?.['testops-admin/replicas']).toBe(kept)
    await scaleUp(scaled(), { timeoutMs })
    await scaleUp(scaled(), { timeoutMs })
    expect(writes().filter((it) => it.endsWith('/scale')).length).toBe(2)
  })

  test.each([
    { what: 'the annotation', annotation: '3', notes: ['replicas deployments/testops/testops-testops 2'], replicas: 3 },
    {
      what: 'the last note of this workload',
      annotation: null,
      notes: [
        'of something else',
        'replicas deployments/testops/testops-testops 4',
        'replicas deployments/testops/testops-testops 2',
        'replicas deployments/other/testops-testops 5',
      ],
      replicas: 2,
    },
    { what: 'nobody, since the annotation is no number', annotation: '-1', notes: [], replicas: 1 },
    { what: 'nobody', annotation: null, notes: [], replicas: 1 },
  ])('replicas are remembered by $what', async ({ annotation, notes, replicas }) => {
    await scaleDown(scaled(), { timeoutMs })
    edit(({ metadata }) => {
      delete metadata.annotations?.['testops-admin/replicas']
      if (annotation !== null) metadata.annotations = { ...metadata.annotations, 'testops-admin/replicas': annotation }
    })
    await scaleUp(scaled(), { timeoutMs, notes })
    expect(deployment().spec.replicas).toBe(replicas)
  })

  test('nothing is scaled where another controller owns pods of the service', async () => {
    const owned = async (): Promise<ServiceStatus> => ({
      ...(await status()),
      ownedByOthers: [{ name: 'Rollout `testops`', instances: ['a', 'b'], proof: ['look'] }],
    })
    const refused = { ...scaled(), status: owned }
    for (const work of [
      async () => scaleDown(refused, { timeoutMs }),
      async () => tryScale(refused),
      async () => scaleUp(refused, { timeoutMs }),
    ]) {
      expect(await errorOf(work())).toMatchObject({
        code: 'REFUSED',
        message:
          'Rollout `testops` owns 2 instances of the service (a, b). testops-admin cannot stop these ' +
          'instances, and starts no others while they run',
      })
    }
    expect(writes()).toEqual([])
  })

  test('pods of another controller that appear while the service is being stopped end the wait for it', async () => {
    let asked = 0
    const owned = async (): Promise<ServiceStatus> => ({
      ...(await status()),
      state: 'running',
      ...(asked++ > 0 && { ownedByOthers: [{ name: 'Rollout `testops`', instances: ['a'], proof: [] }] }),
    })
    expect(await errorOf(scaleDown({ ...scaled(), status: owned }, { timeoutMs }))).toMatchObject({
      code: 'INTERRUPTED',
    })
  })

  test('a conflict with who else writes the workload is no failure', async () => {
    let left = 2
    server.instead = (request) => {
      if (request.method === 'PATCH' && left-- > 0)
        edit(({ metadata }) => void (metadata.labels = { ...metadata.labels, touched: String(left) }))
      return false
    }
    await scaleDown(scaled(), { timeoutMs })
    expect([left < 0, pods()]).toEqual([true, []])
  })

  test('a pod on a node that is not ready is not gone', async () => {
    server.cluster.settle()
    await expect.poll(pods).not.toEqual([])
    const pod = server.cluster.pods.find(({ metadata }) => metadata.name.startsWith('testops-testops-'))!
    const node = pod.spec.nodeName!
    server.cluster.deadNodes.add(node)
    server.cluster.update('nodes', server.cluster.get('nodes', null, node), (it: Stored) => {
      const { conditions } = it['status'] as { conditions: { type: string; status: string }[] }
      for (const condition of conditions) if (condition.type === 'Ready') condition.status = 'Unknown'
    })
    const error = await errorOf(scaleDown(scaled(), { timeoutMs: 400 }))
    expect(`${error?.code} ${error?.message}`).toMatch(
      new RegExp(
        `^TIMED_OUT the service did not stop within 0\\.4 s: \\d pods of 0; .*pod \`testops-testops-\\S+\` is ` +
          `Terminating on node \`${node}\`, which is not Ready: the pod may still be running there`,
      ),
    )
    expect(error?.suggestions).toEqual([
      `kubectl --context test describe node ${node}`,
      'make sure that the machine behind the node is switched off, then delete these pods with `--force`',
    ])
  })

  test('pods that never become ready are told of at the deadline', async () => {
    await scaleDown(scaled(), { timeoutMs })
    server.cluster.hooks.starting = () => 'never-ready'
    const error = await errorOf(scaleUp(scaled(), { timeoutMs: 300 }))
    expect([`${error?.code} ${error?.message}`, error?.suggestions]).toEqual([
      expect.stringMatching(/^TIMED_OUT the service did not become ready within 0\.3 s: \d pods of \d$/),
      [
        'kubectl --context test -n testops describe deployment/testops-testops',
        'kubectl --context test -n testops logs deployment/testops-testops --all-containers --tail=100',
      ],
    ])
    // what was remembered is there still
    expect(deployment().metadata.annotations?.['testops-admin/replicas']).toMatch(/^\d$/)
  })

  test('a question that fails meanwhile is asked again until the deadline', async () => {
    server.cluster.settle()
    let failures = 0
    server.instead = (request, response) => {
      if (request.method !== 'GET' || writes().length < 2 || failures === 4) return false
      failures += 1
      if (failures % 2 === 0) request.socket.destroy()
      else response.writeHead(503, { 'content-type': 'text/plain' }).end('no leader')
      return true
    }
    const asking = async (): Promise<ServiceStatus> => {
      await client.get(workload)
      return status()
    }
    expect((await scaleDown({ ...scaled(), status: asking }, { timeoutMs: 20_000 })).state).toBe('stopped')
    expect(failures).toBe(4)
    server.instead = (request) => {
      if (request.method === 'GET' && writes().some((it) => it.endsWith('/scale'))) request.socket.destroy()
      return request.socket.destroyed
    }
    expect(await failureOf(scaleDown({ ...scaled(), status: asking }, { timeoutMs: 300 }))).toMatch(/^UNREACHABLE /)
  })

  test('a right that is taken away meanwhile is told at once', async () => {
    const asking = async (): Promise<ServiceStatus> => {
      server.cluster.forbidden.push({ resource: 'deployments', verb: 'get' })
      await client.get(workload)
      return status()
    }
    expect(await failureOf(scaleDown({ ...scaled(), status: asking }, { timeoutMs: 600_000 }))).toMatch(
      /^FORBIDDEN user tester has no permission to get deployments/,
    )
  })

  test('waiting is given up', async () => {
    const over = new AbortController()
    server.cluster.hooks.stopping = () => new Promise(() => over.abort())
    expect(await failureOf(scaleDown(scaled(), { timeoutMs, signal: over.signal }))).toBe(
      'INTERRUPTED interrupted while waiting for the pods of the service',
    )
  })

  const scaledByOthers = (from: (replicas: number) => boolean, to: number): void => {
    server.cluster.hooks.scaled = (_, replicas) => void (from(replicas) && edit((it) => void (it.spec.replicas = to)))
  }

  test('who is scaled up by somebody else on the way down is not waited for', async () => {
    server.cluster.settle()
    scaledByOthers((replicas) => replicas === 0, 1)
    expect(await failureOf(scaleDown(scaled(), { timeoutMs: 600_000 }))).toMatch(
      /^INTERRUPTED something else started the service while testops-admin was keeping it stopped: \d pods of 1$/,
    )
    expect(deployment().spec.replicas).toBe(1)
  })

  test('who is scaled to zero by somebody else on the way up is not waited for', async () => {
    server.cluster.settle()
    await scaleDown(scaled(), { timeoutMs })
    scaledByOthers((replicas) => replicas > 0, 0)
    expect(await failureOf(scaleUp(scaled(), { timeoutMs: 600_000 }))).toMatch(
      /^INTERRUPTED something else stopped the service while testops-admin was starting it: \d pods of 0$/,
    )
    // a later start has to know how many there were
    expect(deployment().metadata.annotations?.['testops-admin/replicas']).toMatch(/^\d$/)
  })

  test.each([
    {
      resource: 'deployments',
      failure:
        /^FORBIDDEN user tester has no permission to patch deployments `testops-testops` in namespace `testops` of /,
    },
    {
      resource: 'deployments/scale',
      failure: new RegExp(
        String.raw`^FORBIDDEN user tester has no permission to patch deployments\/scale ` +
          '`testops-testops` in namespace `testops` of ',
      ),
    },
  ])('without the right to patch $resource nothing is stopped', async ({ resource, failure }) => {
    server.cluster.forbidden.push({ resource, verb: 'patch' })
    expect(await failureOf(tryScale(scaled()))).toMatch(failure)
    expect(await failureOf(scaleDown(scaled(), { timeoutMs }))).toMatch(failure)
    expect(deployment().spec.replicas).toBeGreaterThan(0)
  })
})

describe('a setting', () => {
  const of = (): Parameters<typeof patchSetting>[0] => ({ client, workload, container: 'testops-testops' })
  const container = (): Workload['spec']['template']['spec']['containers'][number] =>
    deployment().spec.template.spec.containers.find(({ name }) => name === 'testops-testops')!
  const env = (entries: readonly object[]): void =>
    edit(
      ({ spec }) =>
        void (spec.template.spec.containers.find(({ name }) => name === 'testops-testops')!.env = entries as never),
    )
  const name = 'VENDOR_RABBIT_DURABLE'
  const other = { name: 'OTHER', value: 'kept', extra: { of: 'unknown kind' } }

  test.each([
    { what: 'is added at the end', before: [other], from: null, to: 'true', after: [other, { name, value: 'true' }] },
    {
      what: 'is changed',
      before: [{ name, value: 'false' }, other],
      from: 'false',
      to: 'true',
      after: [{ name, value: 'true' }, other],
    },
    { what: 'is taken away', before: [other, { name, value: 'true' }], from: 'true', to: null, after: [other] },
    {
      what: 'that is empty is changed',
      before: [{ name }, other],
      from: '',
      to: 'true',
      after: [{ name, value: 'true' }, other],
    },
    {
      what: 'that stands there twice is changed where it counts',
      before: [
        { name, value: 'x' },
        { name, value: 'false' },
      ],
      from: 'false',
      to: 'true',
      after: [
        { name, value: 'x' },
        { name, value: 'true' },
      ],
    },
    { what: 'of digits stays text', before: [other], from: null, to: '3600', after: [other, { name, value: '3600' }] },
  ])('that $what', async ({ before, from, to, after }) => {
    env(before)
    // a new status would be a conflict, which is tried again
    server.cluster.isFrozen = true
    expect(await patchSetting(of(), { name, from, to }, { dryRun: true })).toBe('set')
    expect(container().env).toEqual(before)
    expect(await patchSetting(of(), { name, from, to })).toBe('set')
    expect(container().env).toEqual(after)
    expect(await patchSetting(of(), { name, from, to })).toBe('set')
    expect(writes()).toEqual([`PATCH ${path}?dryRun=All`, `PATCH ${path}`])
  })

  test('of a container without any', async () => {
    edit(({ spec }) => spec.template.spec.containers.forEach((it) => void delete it.env))
    expect(await patchSetting(of(), { name, from: null, to: 'true' })).toBe('set')
    expect(container().env).toEqual([{ name, value: 'true' }])
  })

  test.each([
    { before: [{ name, value: 'other' }], from: 'false', to: 'true' },
    { before: [{ name, value: 'other' }], from: null, to: 'true' },
    { before: [other], from: 'false', to: 'true' },
  ])('that is no longer as it was seen is left alone', async ({ before, from, to }) => {
    env(before)
    expect(await patchSetting(of(), { name, from, to })).toBe('changed')
    expect([container().env, writes()]).toEqual([before, []])
  })

  test('that somebody else sets meanwhile is compared again', async () => {
    env([{ name, value: 'false' }])
    server.instead = (request) => {
      if (request.method === 'PATCH') env([{ name, value: 'theirs' }])
      return false
    }
    expect(await patchSetting(of(), { name, from: 'false', to: 'true' })).toBe('changed')
    expect(container().env).toEqual([{ name, value: 'theirs' }])
  })

  test.each([
    {
      env: [{ name, valueFrom: { configMapKeyRef: { name: 'settings', key: 'durable' } } }],
      failure:
        `REFUSED \`${name}\` comes from ConfigMap \`settings\` in namespace \`testops\`, so it cannot be changed ` +
        `in Deployment \`testops-testops\` in namespace \`testops\``,
      next: 'kubectl --context test -n testops edit configmap settings',
    },
    {
      env: [{ name, valueFrom: { secretKeyRef: { name: 'testops-testops', key: 'durable' } } }],
      failure:
        `REFUSED \`${name}\` comes from Secret \`testops-testops\` in namespace \`testops\`, so it cannot be ` +
        `changed in Deployment \`testops-testops\` in namespace \`testops\``,
      next: 'kubectl --context test -n testops edit secret testops-testops',
    },
    {
      env: [{ name, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
      failure:
        `REFUSED Deployment \`testops-testops\` in namespace \`testops\` takes the value of \`${name}\` from ` +
        'a field of the pod, so this setting cannot be changed',
      next: 'kubectl --context test -n testops get deployment/testops-testops -o yaml',
    },
  ])('that stands elsewhere: $failure', async ({ env: before, failure, next }) => {
    env(before)
    const error = await errorOf(patchSetting(of(), { name, from: 'false', to: 'true' }))
    expect([`${error?.code} ${error?.message}`, error?.suggestions, writes()]).toEqual([failure, [next], []])
  })

  test('that comes with all others of a ConfigMap, by its prefix', async () => {
    env([])
    edit(({ spec }) =>
      spec.template.spec.containers.forEach(
        (it) =>
          void (it['envFrom'] = [
            { secretRef: { name: 'none', optional: true } },
            { prefix: 'VENDOR_', configMapRef: { name: 'settings' } },
          ]),
      ),
    )
    server.cluster.load('configmaps', {
      metadata: { name: 'settings', namespace: 'testops' },
      data: { RABBIT_DURABLE: 'false' },
    })
    expect(await failureOf(patchSetting(of(), { name, from: 'false', to: 'true' }))).toMatch(
      /^REFUSED `VENDOR_RABBIT_DURABLE` comes from ConfigMap `settings`/,
    )
    expect(await patchSetting(of(), { name: 'VENDOR_OTHER', from: null, to: 'x' })).toBe('set')
    server.cluster.forbidden.push({ resource: 'configmaps' })
    expect(await failureOf(patchSetting(of(), { name, from: null, to: 'true' }))).toMatch(
      /^FORBIDDEN user tester has no permission to get configmaps `settings`/,
    )
  })

  test('that stands there twice is not taken away', async () => {
    env([
      { name, value: 'x' },
      { name, value: 'true' },
    ])
    expect(await failureOf(patchSetting(of(), { name, from: 'true', to: null }))).toBe(
      `REFUSED \`${name}\` is set 2 times in Deployment \`testops-testops\` in namespace \`testops\`: if the ` +
        'last value were removed, an earlier one would take effect',
    )
  })

  test('of a container that is gone', async () => {
    expect(await failureOf(patchSetting({ ...of(), container: 'other' }, { name, from: null, to: 'x' }))).toBe(
      'REFUSED Deployment `testops-testops` in namespace `testops` no longer has container `other`',
    )
  })
})
