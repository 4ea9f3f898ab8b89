import { describe, expect, it, onTestFinished } from 'vitest'
import { openKubernetes } from '../../../src/platforms/kubernetes/index.ts'
import type { Platform } from '../../../src/platforms/platform.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import type { ContainerStatus, Pod } from '../../kubernetes/resources.ts'
import { startCluster, told } from './cluster.ts'

const anything = { context: null, namespace: null, release: null }
const first = 'testops-testops-8c5b7486b-5dvgm'
const second = 'testops-testops-8c5b7486b-cmngq'
const since = new Date('2026-11-21T02:35:46Z')

async function platformOf(prepare: (world: Cluster) => void = () => undefined, settings = anything): Promise<Platform> {
  const { cluster, environment } = await startCluster()
  prepare(cluster)
  const platform = await openKubernetes(settings, { timeoutMs: 5000, environment })
  onTestFinished(async () => platform.close())
  return platform
}

/** Changes pods of the service in place. */
function pods(change: (pod: Pod, status: ContainerStatus) => void, ...names: string[]) {
  return (world: Cluster): void => {
    for (const pod of world.pods) {
      const [status] = pod.status.containerStatuses ?? []
      if (status && names.includes(pod.metadata.name)) change(pod, status)
    }
  }
}

const unready = ({ status }: Pod): void =>
  status.conditions.forEach((it) => void (it.type === 'Ready' && (it.status = 'False')))
const crash = (pod: Pod, status: ContainerStatus): void => {
  status.state = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container' } }
  status.lastState = { terminated: { exitCode: 127, reason: 'Error', finishedAt: '2026-11-21T02:36:29Z' } }
  status.restartCount = 3
}
const scale =
  (replicas: number, keep: string[] = []) =>
  (world: Cluster): void => {
    for (const it of world.deployments) it.spec.replicas = replicas
    for (const pod of world.pods) if (!keep.includes(pod.metadata.name)) world.remove('pods', pod)
  }
const both =
  (...steps: ((world: Cluster) => void)[]) =>
  (world: Cluster): void =>
    steps.forEach((step) => step(world))
const instance = (name: string, startedAt: Date | null = since): unknown => ({ name, host: name, pid: null, startedAt })

describe('the status', () => {
  it.each<[string, (world: Cluster) => void, object]>([
    [
      'runs',
      () => undefined,
      { state: 'running', detail: '2 of 2 replicas ready', instances: [instance(first), instance(second)] },
    ],
    ['is at zero', scale(0), { state: 'stopped', detail: 'scaled to 0', instances: [] }],
    [
      'is ending',
      both(
        scale(0, [first]),
        pods(({ metadata }) => void (metadata.deletionTimestamp = '2026-11-21T03:00:00Z'), first),
      ),
      { state: 'running', detail: 'scaled to 0; 1 Terminating', instances: [instance(first)] },
    ],
    [
      'is ending on a node of which nothing is heard',
      both(
        scale(0, [first]),
        pods((pod, status) => {
          pod.metadata.deletionTimestamp = '2026-11-21T03:00:00Z'
          status.state = {}
        }, first),
      ),
      { state: 'running', detail: 'scaled to 0; 1 Terminating', instances: [instance(first, null)] },
    ],
    [
      'has ended, while its pod is still there',
      both(
        scale(0, [first]),
        pods((pod, status) => {
          pod.metadata.deletionTimestamp = '2026-11-21T03:00:00Z'
          status.state = { terminated: { exitCode: 0, reason: 'Completed' } }
        }, first),
      ),
      { state: 'stopped', detail: 'scaled to 0; 1 Terminating', instances: [] },
    ],
    [
      'is at zero, while a pod between two attempts has not been told to end',
      both(scale(0, [first]), pods(crash, first)),
      {
        state: 'running',
        detail:
          `scaled to 0; ${first}: CrashLoopBackOff, restarted 3 times, last exited with 127 at ` +
          '2026-11-21 02:36:29Z',
        instances: [],
      },
    ],
    [
      'was about to be started when it was told to end',
      both(
        scale(0, [first]),
        pods((pod, status) => {
          pod.metadata.deletionTimestamp = '2026-11-21T03:00:00Z'
          status.state = { waiting: { reason: 'ContainerCreating' } }
        }, first),
      ),
      { state: 'running', detail: 'scaled to 0; 1 Terminating', instances: [instance(first, null)] },
    ],
    [
      'is starting',
      pods(
        (pod, status) => {
          unready(pod)
          status.state = { waiting: { reason: 'ContainerCreating' } }
        },
        first,
        second,
      ),
      { state: 'running', detail: '0 of 2 replicas ready', instances: [] },
    ],
    [
      'crashes in every pod',
      pods(crash, first, second),
      {
        state: 'failed',
        detail:
          `0 of 2 replicas ready; ${first}: CrashLoopBackOff, restarted 3 times, last exited with 127 at ` +
          `2026-11-21 02:36:29Z; ${second}: CrashLoopBackOff, restarted 3 times, last exited with 127 at ` +
          '2026-11-21 02:36:29Z',
        instances: [],
        startsAgain: true,
      },
    ],
    [
      'crashes in one pod',
      pods(crash, first),
      {
        state: 'running',
        detail:
          `1 of 2 replicas ready; ${first}: CrashLoopBackOff, restarted 3 times, last exited with 127 at ` +
          '2026-11-21 02:36:29Z',
        instances: [instance(second)],
      },
    ],
    [
      'crashes, and happens to run at this instant',
      pods(
        (pod, status) => {
          crash(pod, status)
          unready(pod)
          status.state = { running: { startedAt: '2026-11-21T02:37:00Z' } }
        },
        first,
        second,
      ),
      {
        state: 'failed',
        detail:
          `0 of 2 replicas ready; ${first}: restarted 3 times, last exited with 127 at 2026-11-21 02:36:29Z; ` +
          `${second}: restarted 3 times, last exited with 127 at 2026-11-21 02:36:29Z`,
        instances: [
          instance(first, new Date('2026-11-21T02:37:00Z')),
          instance(second, new Date('2026-11-21T02:37:00Z')),
        ],
        startsAgain: true,
      },
    ],
    [
      'was restarted in place, for want of memory',
      pods((_, status) => {
        status.state = { running: { startedAt: '2026-11-21T04:00:00Z' } }
        status.lastState = { terminated: { exitCode: 137, reason: 'OOMKilled', finishedAt: '2026-11-21T03:59:58Z' } }
        status.restartCount = 1
      }, first),
      {
        state: 'running',
        detail:
          `2 of 2 replicas ready; ${first}: restarted 1 time, last exited with 137 (OOMKilled) at ` +
          '2026-11-21 03:59:58Z',
        instances: [instance(first, new Date('2026-11-21T04:00:00Z')), instance(second)],
      },
    ],
    [
      'has no image',
      pods(
        (pod, status) => {
          unready(pod)
          status.state = { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "testops:527"' } }
        },
        first,
        second,
      ),
      {
        state: 'failed',
        detail:
          `0 of 2 replicas ready; ${first}: ImagePullBackOff: Back-off pulling image "testops:527"; ${second}: ` +
          'ImagePullBackOff: Back-off pulling image "testops:527"',
        instances: [],
      },
    ],
    [
      'has no place',
      pods(
        (pod) => {
          pod.status = {
            phase: 'Pending',
            conditions: [
              { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/2 nodes are available' },
            ],
          }
        },
        first,
        second,
      ),
      {
        state: 'failed',
        detail:
          `0 of 2 replicas ready; ${first}: Unschedulable: 0/2 nodes are available; ${second}: Unschedulable: ` +
          '0/2 nodes are available',
        instances: [],
      },
    ],
    [
      'has no pods, by a quota',
      both(scale(2), (world) =>
        world.deployments.forEach(
          (it) =>
            void (it.status = {
              conditions: [
                { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota: memory' },
              ],
            }),
        ),
      ),
      { state: 'failed', detail: '0 of 2 replicas ready; FailedCreate: exceeded quota: memory', instances: [] },
    ],
    [
      'waits for what runs before it',
      pods(
        (pod, status) => {
          unready(pod)
          status.state = { waiting: { reason: 'PodInitializing' } }
          pod.status['initContainerStatuses'] = [
            { name: 'db-readiness-check', state: { waiting: { reason: 'CrashLoopBackOff' } } },
          ]
        },
        first,
        second,
      ),
      {
        state: 'failed',
        detail:
          `0 of 2 replicas ready; ${first}: init container db-readiness-check: CrashLoopBackOff; ${second}: init ` +
          'container db-readiness-check: CrashLoopBackOff',
        instances: [],
      },
    ],
  ])('of a service that %s', async (_, prepare, expected) => {
    const platform = await platformOf((world) => {
      world.isFrozen = true
      prepare(world)
    })
    expect(await (await platform.service()).status()).toEqual(expected)
  })

  it('counts pods of older replica sets, and those of others that run the service with the same labels', async () => {
    const platform = await platformOf((world) => {
      const [pod] = world.pods.filter(({ metadata }) => metadata.name === first)
      if (!pod) return
      world.load('pods', {
        ...pod,
        metadata: {
          ...pod.metadata,
          name: 'old',
          labels: { ...pod.metadata.labels, 'pod-template-hash': '1' },
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'testops-testops-1', uid: 'u' }],
        },
      })
      world.load('pods', {
        ...pod,
        metadata: {
          ...pod.metadata,
          name: 'other',
          ownerReferences: [
            { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'other-8c5b7486b', uid: 'v', controller: true },
          ],
        },
      })
      world.load('pods', {
        ...pod,
        metadata: { ...pod.metadata, name: 'proxy' },
        spec: { ...pod.spec, containers: [{ name: 'proxy', image: 'proxy:1' }] },
      })
    })
    const { instances, ownedByOthers } = await (await platform.service()).status()
    expect(instances.map(({ name }) => name)).toEqual(['old', 'other', first, second])
    expect(ownedByOthers?.map(({ name, instances: its }) => [name, its])).toEqual([
      ['ReplicaSet `other-8c5b7486b`', ['other']],
    ])
  })

  describe('of a Deployment at zero whose pods another controller keeps', () => {
    const pod = 'testops-6c9d7b5f4-x2k4p'
    const owned =
      (
        owner: { kind: string; name: string; apiVersion: string } | null,
        change: (pod: Pod, status: ContainerStatus) => void = () => undefined,
      ) =>
      (world: Cluster): void => {
        const [own] = world.pods.filter(({ metadata }) => metadata.name === first)
        const { 'pod-template-hash': _, ...labels } = own!.metadata.labels!
        const set = owner && {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'testops-6c9d7b5f4',
          uid: 's',
          controller: true,
        }
        const copy = structuredClone({
          ...own!,
          metadata: {
            ...own!.metadata,
            name: pod,
            labels: { ...labels, 'rollouts-pod-template-hash': '6c9d7b5f4' },
            ownerReferences: set ? [set] : [],
          },
        })
        change(copy, copy.status.containerStatuses![0]!)
        world.isFrozen = true
        scale(0)(world)
        world.load('pods', copy)
        if (owner)
          world.load('replicasets', {
            metadata: {
              name: 'testops-6c9d7b5f4',
              namespace: 'testops',
              uid: 's',
              ownerReferences: [{ ...owner, uid: 'r', controller: true }],
            },
          })
      }
    // Argo Rollouts, "Migrating to Rollouts": a Deployment is scaled down to zero and referenced by `workloadRef`
    const rollout = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', name: 'testops' }
    const list = 'kubectl --context test -n testops get pod testops-6c9d7b5f4-x2k4p -o yaml'

    it.each<[string, (world: Cluster) => void, object]>([
      [
        'it runs',
        owned(rollout),
        {
          state: 'running',
          detail: `scaled to 0; 1 of 1 pods of Rollout \`testops\` ready`,
          instances: [instance(pod)],
          ownedByOthers: [
            {
              name: 'Rollout `testops`',
              instances: [pod],
              proof: [list, 'kubectl --context test -n testops get Rollout.v1alpha1.argoproj.io testops -o yaml'],
            },
          ],
        },
      ],
      [
        'its owner may not be seen',
        both(owned(rollout), (world) => void world.forbidden.push({ resource: 'replicasets' })),
        {
          state: 'running',
          detail: `scaled to 0; 1 of 1 pods of ReplicaSet \`testops-6c9d7b5f4\` ready`,
          instances: [instance(pod)],
          ownedByOthers: [
            {
              name: 'ReplicaSet `testops-6c9d7b5f4`',
              instances: [pod],
              proof: [list, 'kubectl --context test -n testops get ReplicaSet.v1.apps testops-6c9d7b5f4 -o yaml'],
            },
          ],
        },
      ],
      [
        'they crash',
        owned(rollout, (it, status) => {
          unready(it)
          crash(it, status)
        }),
        {
          state: 'failed',
          startsAgain: true,
          detail: expect.stringContaining(
            'scaled to 0; 0 of 1 pods of Rollout `testops` ready; testops-6c9d7b5f4-x2k4p: CrashLoopBackOff',
          ) as unknown,
          instances: [],
          ownedByOthers: [{ name: 'Rollout `testops`' }],
        },
      ],
      [
        'no controller has it',
        owned(null),
        {
          state: 'running',
          detail: 'scaled to 0; 1 of 1 pods of no controller ready',
          ownedByOthers: [{ name: 'no controller', instances: [pod], proof: [list] }],
        },
      ],
      [
        'they have ended',
        owned(rollout, (it) => void Object.assign(it.status, { phase: 'Succeeded' })),
        { state: 'stopped', detail: 'scaled to 0', instances: [] },
      ],
    ])('%s', async (_, prepare, expected) => {
      const service = await (await platformOf(prepare)).service()
      expect(await service.status()).toMatchObject(expected)
    })

    it('is asked for its health, and how many of them are to be ready', async () => {
      const { wanted, instances } = await (await (await platformOf(owned(rollout))).service()).health()
      expect([wanted, instances.map(({ name }) => name)]).toEqual([1, [pod]])
    })
  })

  it('has the warnings about failing pods as evidence, and the right that is missing for them', async () => {
    const warnings = (world: Cluster): void => {
      pods(crash, first)(world)
      for (const [name, type, reason, message, count] of [
        ['a', 'Normal', 'Pulled', 'Container image already present', 4],
        ['b', 'Warning', 'BackOff', 'Back-off restarting failed container', 5],
        ['c', 'Warning', 'Unhealthy', 'Startup probe failed', 1],
      ] as const) {
        world.load('events', {
          metadata: { name, namespace: 'testops' },
          involvedObject: { kind: 'Pod', name: first },
          type,
          reason,
          message,
          count,
          lastTimestamp: `2026-11-21T02:36:4${count}Z`,
        })
      }
    }
    const seen = await (await platformOf(warnings)).service()
    expect((await seen.status()).evidence).toEqual([
      `kubectl --context test -n testops describe pod ${first}`,
      '2026-11-21 02:36:45Z BackOff (5 times): Back-off restarting failed container',
      '2026-11-21 02:36:41Z Unhealthy: Startup probe failed',
    ])
    const unseen = await (
      await platformOf(both(warnings, (world) => void world.forbidden.push({ resource: 'events' })))
    ).service()
    expect((await unseen.status()).evidence).toEqual([
      'user tester has no permission to list events in namespace `testops` of the cluster of context `test`',
      'kubectl --context test auth can-i list events -n testops',
    ])
  })
})

describe('what is declared', () => {
  it('image, build and where', async () => {
    const source = await (await platformOf()).service()
    expect(await source.image()).toEqual({
      name: 'testops',
      tag: '526u03',
      build: '526u03',
      declaredIn: 'Deployment `testops-testops` in namespace `testops` (the cluster of context `test`)',
    })
  })

  it.each([
    ['testops-legacy@sha256:1234', { name: 'testops-legacy', tag: null, build: null }],
    ['localhost:5000/testops:26.2.1', { name: 'testops', tag: '26.2.1', build: null }],
    ['testops:latest', { name: 'testops', tag: 'latest', build: null }],
  ])('as %s', async (image, expected) => {
    const platform = await platformOf((world) =>
      world.deployments.forEach(({ spec }) => spec.template.spec.containers.forEach((it) => void (it.image = image))),
    )
    expect(await (await platform.service()).image()).toMatchObject(expected)
  })

  it('and the commands for it', async () => {
    const platform = await platformOf()
    expect(platform.commands).toBe(null)
    await platform.service()
    const kubectl = 'kubectl --context test -n testops'
    expect(platform.commands).toEqual({
      start: `${kubectl} scale deployment/testops-testops --replicas=2`,
      stop: `${kubectl} scale deployment/testops-testops --replicas=0`,
      restart: `${kubectl} rollout restart deployment/testops-testops`,
      status: `${kubectl} get pods -l app=testops-testops,version=v1 -o wide`,
      logs: `${kubectl} logs deployment/testops-testops -c testops-testops --tail=200`,
      processes: `${kubectl} exec deployment/testops-testops -c testops-testops -- ps -ef`,
      edit: `${kubectl} edit deployment/testops-testops`,
      settings:
        `the environment of deployment testops-testops (${kubectl} edit deployment/testops-testops), and the ` +
        'values of its release (helm get values testops -n testops --kube-context test)',
      values: 'helm get values testops -n testops --kube-context test',
    })
  })
})

describe('a platform that cannot be asked', () => {
  it('is asked once for those who ask at the same time', async () => {
    const { server, environment } = await startCluster()
    server.instead = () => true
    const platform = await openKubernetes(anything, { timeoutMs: 200, environment })
    onTestFinished(async () => platform.close())
    const late = 'Kubernetes at http://SERVER accepted the connection but did not answer within 0.2 s'
    expect([
      (await told(platform.environment())).message,
      (await told(platform.service())).message,
      (await told(platform.log())).message,
    ]).toEqual([late, late, late])
    expect(server.requests).toEqual([
      'GET /apis/apps/v1/namespaces/testops/deployments?limit=500',
      'GET /apis/apps/v1/namespaces/testops/statefulsets?limit=500',
    ])
  })

  it('names the right that is missing for pods', async () => {
    const platform = await platformOf((world) => void world.forbidden.push({ resource: 'pods' }))
    expect(await told(platform.service())).toEqual({
      code: 'FORBIDDEN',
      message: 'user tester has no permission to list pods in namespace `testops` of the cluster of context `test`',
      suggestions: ['kubectl --context test auth can-i list pods -n testops'],
    })
  })
})

describe('whether a pod of its own has ended', () => {
  const hasEnded = async (host: string, prepare?: (world: Cluster) => void): Promise<boolean> =>
    (await (await platformOf(prepare)).service()).hasEnded(host)

  it.each<[string, string, (world: Cluster) => void, boolean]>([
    ['one that runs', first, () => undefined, false],
    ['one that crashes, and waits for its next start', first, pods(crash, first), true],
    [
      'one that ends',
      first,
      pods(({ metadata }) => void (metadata.deletionTimestamp = '2026-11-21T03:00:00Z'), first),
      false,
    ],
    ['one that was deleted', first, scale(0), true],
    ...(['initContainerStatuses', 'ephemeralContainerStatuses', 'containerStatuses'] as const).map(
      (where): [string, string, (world: Cluster) => void, boolean] => [
        `one that crashes while something else runs in it (${where})`,
        first,
        pods((pod, status) => {
          crash(pod, status)
          Object.assign(pod.status, {
            [where]: [
              ...(where === 'containerStatuses' ? (pod.status.containerStatuses ?? []) : []),
              { name: 'liquibase', state: { running: { startedAt: '2026-11-21T02:00:00Z' } } },
            ],
          })
        }, first),
        false,
      ],
    ),
    ['one that was given up', first, pods((pod) => void Object.assign(pod.status, { phase: 'Failed' }), first), true],
    [
      'one of which nothing is told yet',
      first,
      pods(
        (pod) => void Object.assign(pod.status, { phase: 'Pending', containerStatuses: [], initContainerStatuses: [] }),
        first,
      ),
      false,
    ],
    ['one of an earlier version', 'testops-testops-7d9f8c5b6-q8zkn', () => undefined, true],
    ['one of another workload', 'testops-other-7d9f8c5b6-q8zkn', () => undefined, false],
    ['a name that no Deployment gives', 'testops-testops-migration', () => undefined, false],
    ['a machine', 'node-1', () => undefined, false],
    [
      'one that was taken out of the workload by its labels, and runs on',
      first,
      (world) => {
        for (const pod of world.pods) if (pod.metadata.name === first) pod.metadata.labels = { debug: 'yes' }
      },
      false,
    ],
  ])('%s', async (_, host, prepare, expected) => {
    expect(await hasEnded(host, prepare)).toBe(expected)
  })
})
