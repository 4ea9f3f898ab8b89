import { expect, test } from 'vitest'
import type { PlatformChanges } from '../../../src/core/sources.ts'
import { openKubernetes } from '../../../src/platforms/kubernetes/index.ts'
import { recordedCluster } from '../../kubernetes/cluster.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import type { Pod, Stored, Workload } from '../../kubernetes/resources.ts'
import { startCluster } from './cluster.ts'

const name = 'testops-testops'

async function changesIn(prepare: (world: Cluster) => void): Promise<PlatformChanges> {
  const world = recordedCluster()
  world.isFrozen = true
  prepare(world)
  const { environment } = await startCluster(world)
  const platform = await openKubernetes(
    { context: null, namespace: null, release: null },
    { timeoutMs: 5000, environment },
  )
  try {
    return await (await platform.service()).changes!()
  } finally {
    await platform.close()
  }
}

/** Messages by kind, oldest first, with their times. */
function told({ changes }: PlatformChanges): string[] {
  return changes
    .toSorted((a, b) => a.at.getTime() - b.at.getTime())
    .map(({ kind, at, message }) => `${at.toISOString()} ${kind}: ${message}`.replaceAll(`\`${name}\``, 'IT'))
}

interface Template {
  metadata: { annotations?: Record<string, string> }
  spec: { containers: Record<string, unknown>[]; [field: string]: unknown }
}

/** Adds a ReplicaSet of the service's Deployment, or of another, as a later revision. */
function revision(
  world: Cluster,
  number: number,
  at: string,
  change: (template: Template) => void = () => undefined,
  owner = name,
): Stored {
  const [deployment] = world.deployments.filter((it) => it.metadata.name === name)
  const [first] = world.list('replicasets').filter((it) => it.metadata.ownerReferences?.[0]?.name === name)
  const set = structuredClone(first!)
  set.metadata.name = `${owner}-${number}`
  set.metadata.uid = `${owner}-${number}`
  set.metadata.creationTimestamp = at
  set.metadata.annotations = { 'deployment.kubernetes.io/revision': String(number) }
  set.metadata.ownerReferences = [
    { ...set.metadata.ownerReferences![0]!, name: owner, uid: owner === name ? deployment!.metadata.uid! : owner },
  ]
  change((set as Workload)['spec'].template as unknown as Template)
  world.load('replicasets', set)
  return set
}

const env = (template: Template): { name: string; value?: string }[] =>
  template.spec.containers[0]!['env'] as { name: string; value?: string }[]

test('each difference between two revisions is told, with no value of a setting', async () => {
  const found = await changesIn((world) => {
    for (const it of world.list('replicasets')) if (!it.metadata.name.startsWith(name)) world.remove('replicasets', it)
    revision(world, 7, '2026-11-24T02:10:11Z', (template) => {
      template.spec.containers[0]!['image'] = 'testops:5.27'
      template.spec.containers[0]!['resources'] = { limits: { memory: '1Gi' } }
      template.spec['priorityClassName'] = 'low'
      template.metadata.annotations = { 'checksum/config': 'abc' }
      const settings = env(template)
      settings.find((it) => it.value !== undefined)!.value = 'Hunter2secret'
      settings.push({ name: 'NEW', value: 'Hunter2secret' })
      settings.splice(
        settings.findIndex((it) => it.name === 'SPRING_RABBITMQ_ADDRESSES'),
        1,
      )
    })
  })
  const of7 = told(found).filter((it) => it.startsWith('2026-11-24T02:10:11'))
  expect(
    of7.map((it) =>
      it
        .slice('2026-11-24T02:10:11.000Z '.length)
        .replace('Deployment IT changed ', '')
        .replace(' of container IT', ''),
    ),
  ).toMatchInlineSnapshot(`
    [
      "image: the image from \`registry.example.org/testops/testops:526u03\` to \`testops:5.27\`",
      "setting: settings: \`SPRING_DATASOURCE_URL\`, \`SPRING_RABBITMQ_ADDRESSES\` (removed), \`NEW\` (new)",
      "rollout: \`resources\`",
      "setting: its annotations \`checksum/config\`",
      "rollout: \`priorityClassName\` of its pods",
    ]
  `)
  expect(JSON.stringify(found)).not.toContain('Hunter2')
  expect(found.changes.find(({ kind }) => kind === 'image')!.proof).toContain(
    `rollout history deployment/${name} --revision=7`,
  )
  expect(found.unseen).toEqual([])
})

test('a restart, a first revision, and one whose predecessor is no longer kept', async () => {
  const found = await changesIn((world) => {
    revision(world, 9, '2026-11-24T03:00:00Z', ({ metadata }) => {
      metadata.annotations = { 'kubectl.kubernetes.io/restartedAt': '2026-11-24T03:00:00Z' }
    })
    const other = revision(world, 4, '2026-11-24T04:00:00Z', undefined, 'broker')
    other.metadata.labels = { ...other.metadata.labels, app: name }
    world.load('replicasets', other)
  })
  expect(told(found).filter((it) => it.startsWith('2026-11-24T0'))).toEqual([
    `2026-11-24T03:00:00.000Z restart: Deployment IT was restarted by \`kubectl rollout restart\``,
    '2026-11-24T04:00:00.000Z rollout: Deployment `broker` rolled out revision 4',
  ])
  expect(told(found).some((it) => it.endsWith(`rollout: Deployment IT was created`))).toBe(true)
})

test('a revision that came back is dated by the rollout that brought it, else not at all', async () => {
  const back = (message: string, reason = 'NewReplicaSetAvailable') =>
    changesIn((world) => {
      revision(world, 8, '2026-11-24T02:00:00Z')
      revision(world, 9, '2026-11-20T02:00:00Z', (template) => {
        template.spec.containers[0]!['image'] = 'testops:5.20'
      })
      for (const { metadata } of world.pods) {
        metadata.creationTimestamp = new Date().toISOString()
        for (const owner of metadata.ownerReferences ?? []) owner.name = `${name}-9`
      }
      for (const it of world.deployments)
        (it.status as { conditions: object[] }).conditions = [
          { type: 'Progressing', status: 'True', reason, message, lastUpdateTime: '2026-11-24T05:00:00Z' },
        ]
    })
  const known = await back(`ReplicaSet "${name}-9" has successfully progressed.`)
  expect(told(known).some((it) => it.startsWith('2026-11-24T05:00:00.000Z rollout: Deployment IT has gone back'))).toBe(
    true,
  )
  expect(known.unseen).toEqual([])
  for (const unknown of [
    await back(`ReplicaSet "${name}-8" has successfully progressed.`),
    await back(`ReplicaSet "${name}-9" is progressing.`, 'ReplicaSetUpdated'),
  ]) {
    expect(told(unknown).some((it) => it.includes('5.20'))).toBe(false)
    expect(unknown.unseen).toEqual([
      `Deployment \`${name}\` may have gone back to an earlier revision: the cluster does not keep when`,
    ])
  }
})

test('the revisions of a StatefulSet of the same Helm release', async () => {
  const template = (image: string): object => ({
    spec: { template: { spec: { containers: [{ name: 'broker', image }] } } },
  })
  const found = await changesIn((world) => {
    for (const it of world.deployments) it.metadata.annotations = { 'meta.helm.sh/release-name': 'prod' }
    for (const [number, image] of [
      [1, 'rabbitmq:4.2'],
      [2, 'rabbitmq:4.3'],
    ] as const)
      world.load('controllerrevisions', {
        metadata: {
          name: `broker-${number}`,
          namespace: 'testops',
          uid: `b${number}`,
          creationTimestamp: `2026-11-24T0${number}:00:00Z`,
          labels: { 'app.kubernetes.io/instance': 'prod' },
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'broker', uid: 's', controller: true }],
        },
        revision: number,
        data: template(image),
      })
  })
  expect(told(found).filter((it) => it.includes('broker'))).toEqual([
    '2026-11-24T01:00:00.000Z rollout: StatefulSet `broker` was created',
    '2026-11-24T02:00:00.000Z image: StatefulSet `broker` changed the image of container `broker` from ' +
      '`rabbitmq:4.2` to `rabbitmq:4.3`',
  ])
})

test('pods that no rollout made, the ends of containers, settings objects and nodes', async () => {
  let node = ''
  const found = await changesIn((world) => {
    const [pod] = world.pods.filter(({ metadata }) => metadata.name.startsWith(name)) as [Pod]
    node = pod.spec.nodeName!
    pod.metadata.creationTimestamp = '2026-11-24T06:00:00Z'
    const [status] = pod.status.containerStatuses!
    status!.restartCount = 1
    status!.lastState = { terminated: { exitCode: 137, reason: 'OOMKilled', finishedAt: '2026-11-24T07:00:00Z' } }
    for (const it of world.list('secrets'))
      it.metadata.managedFields = [
        { manager: 'helm', operation: 'Update', apiVersion: 'v1', time: '2026-11-24T01:00:00Z' },
        { manager: 'kubectl-edit', operation: 'Update', apiVersion: 'v1', time: '2026-11-24T08:00:00Z' },
      ] as unknown as NonNullable<Stored['metadata']['managedFields']>
    for (const it of world.list('nodes'))
      (it['status'] as { conditions: object[] }).conditions = [
        { type: 'DiskPressure', status: 'True', lastTransitionTime: '2099-11-24T09:00:00Z' },
        { type: 'MemoryPressure', status: 'False', lastTransitionTime: '2099-11-24T10:00:00Z' },
        { type: 'PIDPressure', status: 'Unknown', lastTransitionTime: '2099-11-24T11:00:00Z' },
        { type: 'Ready', status: 'Unknown', lastTransitionTime: '2099-11-24T12:00:00Z' },
        { type: 'Other', status: 'True', lastTransitionTime: '2099-11-24T12:00:00Z' },
      ]
  })
  const lines = told(found)
  expect(
    lines
      .filter((it) => /^2026-11-24T0[678]|^2099/.test(it))
      .map((it) =>
        it
          .replaceAll(node, 'NODE')
          .replaceAll(/pod `[^`]+`/g, 'POD')
          .slice(11),
      ),
  ).toMatchInlineSnapshot(`
    [
      "06:00:00.000Z restart: POD was created",
      "07:00:00.000Z restart: container IT of POD exited with 137 (OOMKilled) and was restarted",
      "08:00:00.000Z setting: Secret IT was changed by \`kubectl-edit\`",
      "09:00:00.000Z disk: node \`NODE\` has run low on disk space (DiskPressure)",
      "09:00:00.000Z disk: node \`gpu-1\` has run low on disk space (DiskPressure)",
      "12:00:00.000Z node: node \`NODE\` became NotReady",
      "12:00:00.000Z node: node \`gpu-1\` became NotReady",
    ]
  `)
  // those that a rollout made are no news
  expect(lines.filter((it) => /pod `[^`]+` was created/.test(it))).toHaveLength(1)
})

test.each([
  ['replicasets', 'list'],
  ['controllerrevisions', 'list'],
  ['secrets', 'get'],
  ['nodes', 'list'],
])('without the right to %s, the rest is told, and what is missing', async (resource, verb) => {
  const found = await changesIn((world) => {
    world.forbidden.push({ resource, verb })
    revision(world, 7, '2026-11-24T02:10:11Z')
  })
  expect(found.unseen).toHaveLength(1)
  expect(found.unseen[0]).toContain(resource)
  expect(told(found).some((it) => it.includes('revision 7'))).toBe(resource !== 'replicasets')
})
