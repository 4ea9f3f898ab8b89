import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { StartObstacle } from '../../../src/core/sources.ts'
import { openKubernetes } from '../../../src/platforms/kubernetes/index.ts'
import { isHeld, isRolledOut } from '../../../src/platforms/kubernetes/status.ts'
import type { Platform } from '../../../src/platforms/platform.ts'
import { rolloutRisks } from '../../../src/repairs/service-steps.ts'
import { errorOf } from '../../adapters/failure-of.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import { recordedObjects } from '../../kubernetes/recordings.ts'
import type { Pod, Workload } from '../../kubernetes/resources.ts'
import { fakeService } from '../../fakes/index.ts'
import { startCluster } from './cluster.ts'

const settings = { context: null, namespace: 'testops', release: null }
const name = 'testops-testops'
const setting = { name: 'VENDOR_RABBIT_DURABLE', from: null, to: 'true' }
const waiting = { timeoutMs: 5000 }

async function opened(
  prepare: (cluster: Cluster) => void | Promise<void> = () => undefined,
): Promise<{ cluster: Cluster; platform: Platform }> {
  const { cluster, environment } = await startCluster()
  await prepare(cluster)
  const platform = await openKubernetes(settings, { timeoutMs: 5000, environment })
  onTestFinished(async () => platform.close())
  return { cluster, platform }
}

const deployment = (cluster: Cluster): Workload => cluster.get('deployments', 'testops', name) as Workload
const podsOf = (cluster: Cluster): Pod[] => cluster.pods.filter(({ metadata }) => metadata.name.startsWith(`${name}-`))
const isReady = ({ status }: Pod): boolean =>
  status.conditions.some(({ type, status: it }) => type === 'Ready' && it === 'True')
const edit = (cluster: Cluster, change: (it: Workload) => void): void =>
  cluster.update('deployments', deployment(cluster), (it) => change(it as Workload))

/** As it was recorded, with nothing that moves. */
function recorded(of: string) {
  return (cluster: Cluster): void => {
    cluster.isFrozen = true
    cluster.load('deployments', recordedObjects(of)[0]!)
  }
}

const statefulSet = (cluster: Cluster): Workload => cluster.get('statefulsets', 'testops', name) as Workload

/** The service in a StatefulSet of one replica, in place of its Deployment. */
function asStatefulSet(cluster: Cluster): void {
  const {
    metadata: { labels },
    spec: { selector, template },
  } = deployment(cluster)
  cluster.remove('deployments', deployment(cluster))
  for (const pod of podsOf(cluster)) cluster.remove('pods', pod)
  cluster.create('statefulsets', {
    metadata: { name, namespace: 'testops', ...(labels && { labels }) },
    spec: {
      replicas: 1,
      serviceName: name,
      selector,
      template,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    },
    status: {},
  })
}

/** Pods that are there, and ready. */
async function up(cluster: Cluster): Promise<void> {
  cluster.settle()
  await expect.poll(() => deployment(cluster).status?.['updatedReplicas']).toBe(2)
  await expect.poll(() => podsOf(cluster).filter(isReady).length).toBe(2)
}

function renewed(cluster: Cluster): void {
  edit(cluster, (it) => {
    it.metadata.generation = (it.metadata.generation ?? 1) + 1
    it.spec.template.spec.containers[0]!.image = 'registry.example.org/testops/testops:nopull'
  })
}

async function obstacles(platform: Platform): Promise<readonly StartObstacle[]> {
  return (await platform.service()).startObstacles()
}

describe('what keeps pods from coming back', () => {
  test('nothing, where all are ready', async () => {
    const { platform } = await opened(up)
    expect(await obstacles(platform)).toEqual([])
  })

  test.each<[recording: string, kinds: string[], message: RegExp, proof: string]>([
    [
      'deployment-paused',
      ['lasting'],
      new RegExp(
        '^the rollout of Deployment `testops-testops` in namespace `testops` is paused: ' +
          'new pods do not get the latest changes$',
      ),
      'kubectl --context test -n testops rollout resume deployment/testops-testops',
    ],
    [
      'deployment-stuck-rollout',
      ['unready'],
      new RegExp(
        '^old pods still serve users, but the new pods are not ready ' +
          String.raw`\(ProgressDeadlineExceeded: ReplicaSet "testops-testops-\w+" has timed out progressing\.\)\. ` +
          'If the service is stopped, the old pods will not come back: only new pods will start$',
      ),
      'kubectl --context test -n testops rollout undo deployment/testops-testops',
    ],
    [
      'deployment-updated-replicas-missing',
      ['lasting', 'unready'],
      new RegExp(
        String.raw`^the cluster refuses to create pods \(FailedCreate: ` +
          String.raw`pods "testops-testops-\S+" is forbidden: violates PodSecurity "restricted:latest": `,
      ),
      'kubectl --context test -n testops describe deployment/testops-testops',
    ],
  ])('%s', async (recording, kinds, message, proof) => {
    const { platform } = await opened(recorded(recording))
    const found = await obstacles(platform)
    expect(found.map(({ kind }) => kind)).toEqual(kinds)
    expect(found[0]?.message).toMatch(message)
    expect(found[0]?.proof).toContain(proof)
    expect(await (await platform.service()).status()).toMatchObject({ state: 'running', isRollingOut: true })
  })

  test.each<[what: string, forbid: boolean, kinds: string[]]>([
    ['of which events tell', false, ['lasting']],
    ['of which nothing may be seen', true, []],
  ])('a quota that refuses pods of a StatefulSet, %s', async (_, forbid, kinds) => {
    const refusal = 'exceeded quota: compute, requested: memory=2Gi, used: memory=9Gi, limited: memory=10Gi'
    const { cluster, platform } = await opened(async (it) => {
      asStatefulSet(it)
      await expect.poll(() => podsOf(it).filter(isReady).length).toBe(1)
      it.hooks.admitting = () => refusal
      it.update('statefulsets', statefulSet(it), (set) => void ((set as Workload).spec.replicas = 2))
      await expect.poll(() => it.list('events').some(({ reason }) => reason === 'FailedCreate')).toBe(true)
      if (forbid) it.forbidden.push({ resource: 'events' })
    })
    const found = await obstacles(platform)
    expect(found.map(({ kind }) => kind)).toEqual(kinds)
    const told =
      'FailedCreate: create Pod testops-testops-1 in StatefulSet testops-testops failed error: pods ' +
      `"testops-testops-1" is forbidden: ${refusal}`
    if (!forbid)
      expect([found[0]?.message, (await (await platform.service()).status()).detail]).toEqual([
        `the cluster refuses to create pods (${told})`,
        `1 of 2 replicas ready; ${told}`,
      ])
    // what was refused and is made by now is over
    delete cluster.hooks.admitting
    await expect.poll(() => podsOf(cluster).filter(isReady).length, { timeout: 5000 }).toBe(2)
    expect(await obstacles(platform)).toEqual([])
  })

  test('an image that cannot be pulled, while the pods of before serve', async () => {
    const { cluster, platform } = await opened(up)
    cluster.hooks.starting = () => ({
      waiting: 'ImagePullBackOff',
      message: 'Back-off pulling image "registry.example.org/testops/testops:nopull"',
    })
    renewed(cluster)
    cluster.settle()
    await expect
      .poll(async () => (await obstacles(platform)).map(({ kind }) => kind).sort())
      .toEqual(['image', 'unready'])
    const [image] = await obstacles(platform)
    expect(image?.message).toMatch(
      new RegExp(
        '^container testops-testops of pod `testops-testops-\\S+` cannot start ' +
          String.raw`\(ImagePullBackOff: Back-off pulling image "registry\.example\.org\/testops\/testops:nopull"\)$`,
      ),
    )
    expect(podsOf(cluster).filter(isReady)).toHaveLength(2)
  })

  test.each<[what: string, fate: 'never-ready' | { exitCode: number; reason: string; log: string }]>([
    ['wait for a lock', 'never-ready'],
    ['end again and again', { exitCode: 127, reason: 'Error', log: 'CPU does not support x86-64-v3' }],
  ])('pods that %s keep nothing from coming back, as long as none of before serves', async (_, fate) => {
    const { cluster, platform } = await opened((it) => {
      it.hooks.starting = () => fate
      for (const pod of podsOf(it)) it.remove('pods', pod)
      it.settle()
    })
    await expect.poll(() => podsOf(cluster).map(({ status }) => status.phase)).toEqual(['Running', 'Running'])
    expect(await obstacles(platform)).toEqual([])
  })

  test.each<[what: string, nodes: (cluster: Cluster, node: string) => void, message: RegExp | null]>([
    [
      'is lost',
      (cluster, node) => cluster.update('nodes', cluster.get('nodes', null, node), unready),
      /^pod `testops-testops-\S+` is on node `\S+`, which is not Ready: cannot tell whether the pod is still running$/,
    ],
    [
      'is gone',
      (cluster, node) => cluster.remove('nodes', cluster.get('nodes', null, node)),
      /is on node `\S+`, which is not Ready/,
    ],
    [
      'may not be seen',
      (cluster, node) => (
        cluster.update('nodes', cluster.get('nodes', null, node), unready),
        void cluster.forbidden.push({ resource: 'nodes' })
      ),
      null,
    ],
  ])('a node that %s', async (_, change, message) => {
    const { platform } = await opened(async (cluster) => {
      await up(cluster)
      cluster.isFrozen = true
      change(cluster, podsOf(cluster)[0]!.spec.nodeName!)
    })
    const found = await obstacles(platform)
    if (message === null) expect(found).toEqual([])
    else expect(found.map((it) => [it.kind, message.test(it.message)])).toContainEqual(['lasting', true])
  })

  test('a node that has told nothing of itself yet is not lost', async () => {
    const { platform } = await opened(async (cluster) => {
      await up(cluster)
      cluster.isFrozen = true
      for (const node of cluster.list('nodes')) cluster.update('nodes', node, (it) => void (it['status'] = {}))
    })
    expect(await obstacles(platform)).toEqual([])
  })

  test('a pod that has been going for longer than it may', async () => {
    const { platform } = await opened(async (cluster) => {
      await up(cluster)
      cluster.isFrozen = true
      cluster.update(
        'pods',
        podsOf(cluster)[0]!,
        ({ metadata }) => void (metadata.deletionTimestamp = '2026-11-21T03:00:00Z'),
      )
    })
    expect((await obstacles(platform)).map(({ message }) => message)).toEqual([
      expect.stringMatching(/^pod `testops-testops-\S+` has been Terminating since 2026-11-21 03:00:00Z$/),
    ])
  })
})

function unready(node: { [key: string]: unknown }): void {
  for (const condition of (node['status'] as { conditions: { type: string; status: string }[] }).conditions)
    if (condition.type === 'Ready') condition.status = 'Unknown'
}

describe('the risk', () => {
  const unreadyOne: StartObstacle = { kind: 'unready', message: 'old pods serve', proof: ['look'] }
  const lasting: StartObstacle = { kind: 'lasting', message: 'it is paused', proof: ['look', 'resume it'] }
  test.each([
    { found: [], mends: [], risks: [] },
    { found: [unreadyOne], mends: ['unready'] as const, risks: [] },
    {
      found: [unreadyOne],
      mends: [],
      risks: [
        {
          name: 'stuck-rollout',
          message: 'the service may not start again after a stop: old pods serve',
          proof: ['look'],
        },
      ],
    },
    {
      found: [lasting, unreadyOne],
      mends: ['unready'] as const,
      risks: [
        {
          name: 'stuck-rollout',
          message: 'the service may not start again after a stop: it is paused',
          proof: ['look', 'resume it'],
        },
      ],
    },
    {
      found: [lasting, unreadyOne],
      mends: [],
      risks: [
        {
          name: 'stuck-rollout',
          message: 'the service may not start again after a stop: it is paused; old pods serve',
          proof: ['look', 'resume it'],
        },
      ],
    },
  ])('of $found.length obstacles, of which it mends $mends', async ({ found, mends, risks }) => {
    expect(await rolloutRisks(fakeService({ startObstacles: found }), { mends })).toEqual(risks)
  })
})

/** As a controller that does not look any more: what is declared changes nothing, and is not on record as seen. */
async function unattended(cluster: Cluster): Promise<void> {
  cluster.isFrozen = true
  // what it was about to do
  await sleep(50)
  edit(cluster, ({ metadata }) => void (metadata.generation = (metadata.generation ?? 1) + 1))
}

describe('a Deployment at which its controller has not looked yet', () => {
  test('is not stopped, though it has no pod: one may come of what was declared before', async () => {
    const { cluster, platform } = await opened(async (it) => {
      it.hooks.admitting = () => 'exceeded quota'
      for (const pod of podsOf(it)) it.remove('pods', pod)
      it.settle()
      await expect.poll(() => deployment(it).status?.['observedGeneration']).toBe(deployment(it).metadata.generation)
      it.isFrozen = true
    })
    const control = await platform.control()
    const error = await errorOf(control.stop({ timeoutMs: 300 }))
    expect([error?.code, error?.message]).toEqual([
      'TIMED_OUT',
      'Deployment `testops-testops` in namespace `testops` is scaled to 0 and has no pods left. But after ' +
        "0.3 s the cluster's controller still has not seen the new number of replicas, so it may start another pod",
    ])
    cluster.isFrozen = false
    cluster.settle()
    expect((await control.stop(waiting)).state).toBe('stopped')
  })

  test('is not started, though its pods are ready', async () => {
    const { cluster, platform } = await opened(async (it) => {
      await up(it)
      await unattended(it)
    })
    expect(await (await platform.service()).status()).toMatchObject({ state: 'running', isRollingOut: true })
    const control = await platform.control()
    expect((await errorOf(control.start({ timeoutMs: 300 })))?.code).toBe('TIMED_OUT')
    cluster.isFrozen = false
    cluster.settle()
    expect((await control.start(waiting)).state).toBe('running')
  })
})

describe.each([
  { what: 'Recreate', strategy: { type: 'Recreate' } },
  {
    what: 'maxUnavailable 100 %',
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: '100%' } },
  },
])('with strategy $what', ({ strategy }) => {
  const prepared = async (it: Cluster): Promise<void> => {
    edit(it, ({ spec }) => void (spec['strategy'] = strategy))
    await up(it)
  }

  test('a stop, a setting and a start end with pods that have it', async () => {
    const { cluster, platform } = await opened(prepared)
    const control = await platform.control()
    expect((await control.stop(waiting)).state).toBe('stopped')
    expect(await control.writeSetting(setting)).toBe('set')
    expect(await (await platform.service()).status()).toMatchObject({ state: 'stopped', formerReplicas: 2 })
    expect((await control.start(waiting)).state).toBe('running')
    expect(
      podsOf(cluster).map(
        ({ spec }) => spec.containers[0]?.env?.findLast(({ name: it }) => it === setting.name)?.value,
      ),
    ).toEqual(['true', 'true'])
  })

  test('a rollout in which no pod serves is over only once all are new', async () => {
    const { cluster, platform } = await opened(prepared)
    const service = await platform.service()
    renewed(cluster)
    const seen: { isOver: boolean; isNew: boolean; serving: number }[] = []
    await expect
      .poll(
        async () => {
          const { state, isRollingOut } = await service.status()
          const pods = podsOf(cluster).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
          seen.push({
            isOver: state === 'running' && isRollingOut !== true,
            isNew: pods.length === 2 && pods.every(({ spec }) => spec.containers[0]!.image.endsWith(':nopull')),
            serving: pods.filter(isReady).length,
          })
          return seen.at(-1)!.isOver
        },
        { interval: 5, timeout: 5000 },
      )
      .toBe(true)
    expect(seen.filter(({ isOver, isNew }) => isOver && !isNew)).toEqual([])
    expect(Math.min(...seen.map(({ serving }) => serving))).toBe(0)
  })

  test('one whose new pods cannot start is a risk', async () => {
    const { cluster, platform } = await opened(async (it) => {
      await prepared(it)
      it.hooks.starting = () => ({ waiting: 'ImagePullBackOff', message: 'Back-off pulling image' })
      renewed(it)
    })
    await expect
      .poll(
        () =>
          podsOf(cluster).filter(({ status }) =>
            status.containerStatuses?.some(({ state }) => state['waiting']?.['reason'] === 'ImagePullBackOff'),
          ).length,
      )
      .toBe(2)
    expect((await obstacles(platform)).map(({ kind }) => kind)).toEqual(['image', 'image'])
  })
})

describe('a start is over', () => {
  test('once all pods have what is declared', async () => {
    const { cluster, platform } = await opened(up)
    const control = await platform.control()
    await control.stop(waiting)
    expect(await control.writeSetting(setting)).toBe('set')
    await control.start(waiting)
    expect(
      podsOf(cluster).map(({ spec }) =>
        spec.containers[0]?.env?.some(({ name: it, value }) => it === setting.name && value === 'true'),
      ),
    ).toEqual([true, true])
  })

  test('never for a Deployment that is paused, whose pods do not have the setting: that is told at once', async () => {
    const { cluster, platform } = await opened(async (it) => {
      await up(it)
      edit(it, ({ spec }) => void (spec['paused'] = true))
    })
    const control = await platform.control()
    await control.stop(waiting)
    expect(await control.writeSetting(setting)).toBe('set')
    const error = await errorOf(control.start({ timeoutMs: 600_000 }))
    expect([error?.code, error?.message, error?.suggestions]).toEqual([
      'FAILED',
      'the running pods lack the latest changes, because the rollout of Deployment `testops-testops` in ' +
        'namespace `testops` is paused',
      ['kubectl --context test -n testops rollout resume deployment/testops-testops'],
    ])
    expect(await (await platform.service()).status()).toMatchObject({
      isRollingOut: true,
      detail: '2 of 2 replicas ready; the rollout is paused',
    })
    // what was changed is taken back, and it runs as before
    await control.stop(waiting)
    expect(await control.writeSetting({ name: setting.name, from: 'true', to: null })).toBe('set')
    expect((await control.start(waiting)).state).toBe('running')
    // nobody holds it any more
    expect(await control.writeSetting(setting)).toBe('set')
    edit(cluster, ({ spec }) => void delete spec['paused'])
    expect((await control.start(waiting)).state).toBe('running')
  })

  test('what pods that serve lack is told, whatever is counted', async () => {
    const { cluster, platform } = await opened(async (it) => {
      edit(
        it,
        ({ spec }) =>
          void spec.template.spec.containers[0]!.env?.push(
            { name: 'JAVA_TOOL_OPTIONS', value: '-Xmx2g' },
            { name: 'TZ', value: 'UTC' },
          ),
      )
      for (const pod of podsOf(it)) it.remove('pods', pod)
      await up(it)
      it.isFrozen = true
    })
    const service = await platform.service()
    const changed = ['SPRING_DATA_REDIS_HOST', 'JAVA_TOOL_OPTIONS', 'VENDOR_RABBIT_DURABLE']
    const lacks = async (): Promise<string[]> => ((await service.lacks?.(changed)) ?? []).map(({ message }) => message)
    const change = (pod: Pod, how: (container: Pod['spec']['containers'][number]) => void): void =>
      cluster.update('pods', pod, (it) => how((it as Pod).spec.containers[0]!))
    const [first] = podsOf(cluster)
    const withValue =
      (name: string, to: (value: string) => string) =>
      (it: Pod['spec']['containers'][number]): void =>
        void (it.env = (it.env ?? []).map((entry) =>
          entry.name === name ? { ...entry, value: to(entry.value ?? '') } : entry,
        ))
    expect(await lacks()).toEqual([])
    // put before and behind it on the way into the pod, or in place of its tag
    const { image } = first!.spec.containers[0]!
    const digest = `@sha256:${'0'.repeat(64)}`
    change(first!, (it) => void (it.image = `mirror.example.org/${image}${digest}`))
    change(
      first!,
      withValue('JAVA_TOOL_OPTIONS', (value) => `${value} -javaagent:other.jar`),
    )
    expect(await lacks()).toEqual([])
    change(first!, (it) => void (it.image = `${image.replace(/:[^:/]*$/, '')}${digest}`))
    change(
      first!,
      withValue('TZ', () => 'of others, and none that was changed'),
    )
    expect(await lacks()).toEqual([])
    change(
      first!,
      withValue('SPRING_DATA_REDIS_HOST', () => 'other'),
    )
    change(first!, (it) => void (it.image = `${image}u99`))
    expect(await lacks()).toEqual([
      `pod \`${first!.metadata.name}\` does not run with the image or the value of \`SPRING_DATA_REDIS_HOST\` ` +
        `that Deployment \`testops-testops\` in namespace \`testops\` declares`,
    ])
  })

  test.each(['deployment-stuck-rollout', 'deployment-updated-replicas-missing'])(
    'never as of %s',
    async (recording) => {
      const { platform } = await opened(recorded(recording))
      const error = await errorOf((await platform.control()).start({ timeoutMs: 300 }))
      expect([error?.code, error?.message]).toEqual([
        'TIMED_OUT',
        expect.stringMatching(/^the service did not become ready within 0\.3 s: /),
      ])
    },
  )
})

test.each([
  { what: 'nothing', spec: {}, held: false },
  { what: 'a pause', spec: { paused: true }, held: true },
  {
    what: 'a partition',
    spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } },
    held: true,
  },
  {
    what: 'a partition of none',
    spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } },
    held: false,
  },
])('an update is held by $what: $held', ({ spec, held }) => {
  const template = { spec: { containers: [] } }
  expect(isHeld({ metadata: { name }, spec: { selector: {}, template, ...spec } })).toBe(held)
  // a number that is missing is none
  const status = { observedGeneration: 2, replicas: 2, readyReplicas: 2 }
  const workload = { metadata: { name, generation: 2 }, spec: { replicas: 2, selector: {}, template } }
  expect([
    isRolledOut({ ...workload, status }),
    isRolledOut({ ...workload, status: { ...status, updatedReplicas: 2 } }),
    isRolledOut({ ...workload, status: { ...status, updatedReplicas: 2, observedGeneration: 1 } }),
  ]).toEqual([false, true, false])
})
