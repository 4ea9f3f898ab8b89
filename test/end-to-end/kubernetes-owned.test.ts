import { expect, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import type { RepairDocument } from '../../src/core/repair.ts'
import type { Workload } from '../kubernetes/resources.ts'
import { kubernetesPlace } from './kubernetes-place.ts'

const here = kubernetesPlace({ VENDOR_RABBIT_DURABLE: 'false' })
const namespace = 'testops'
const deployment = (): Workload => here.world.cluster.get('deployments', namespace, 'testops-testops') as Workload

/**
 * As after a migration to Argo Rollouts (its documentation, "Migrating to Rollouts"): the Deployment stands at zero,
 * and a Rollout that refers to it has the pods.
 */
function handOver(): string {
  const { cluster } = here.world
  const [pod] = cluster.pods.filter(({ metadata }) => metadata.name.startsWith('testops-testops-'))
  const owner = (
    kind: string,
    apiVersion: string,
    name: string,
  ): { kind: string; apiVersion: string; name: string; uid: string; controller: true } => ({
    kind,
    apiVersion,
    name,
    uid: name,
    controller: true,
  })
  cluster.resources.push({
    plural: 'rollouts',
    kind: 'Rollout',
    group: 'argoproj.io',
    version: 'v1alpha1',
    isNamespaced: true,
  })
  cluster.load('rollouts', {
    metadata: { name: 'testops', namespace, uid: 'testops' },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'testops-testops', scaleDown: 'onsuccess' },
    },
  })
  cluster.load('replicasets', {
    metadata: {
      name: 'testops-6c9d7b5f4',
      namespace,
      uid: 'testops-6c9d7b5f4',
      ownerReferences: [owner('Rollout', 'argoproj.io/v1alpha1', 'testops')],
    },
  })
  cluster.update('pods', pod!, ({ metadata }) => {
    const { 'pod-template-hash': _, ...labels } = metadata.labels ?? {}
    metadata.labels = { ...labels, 'rollouts-pod-template-hash': '6c9d7b5f4' }
    metadata.ownerReferences = [owner('ReplicaSet', 'apps/v1', 'testops-6c9d7b5f4')]
  })
  cluster.update('deployments', deployment(), (it) => void ((it as Workload).spec.replicas = 0))
  return pod!.metadata.name
}

test('a service whose pods an Argo Rollout owns is told as running, ' +
  'and neither stopped, set nor started beside them', async () => {
  const pod = handOver()
  const looked = await here.run('doctor', '--json', '--only', 'service/running')
  const { checks } = JSON.parse(looked.stdout) as DoctorReport
  expect(checks.find(({ id }) => id === 'service/running')).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining(
      `Rollout \`testops\` owns ${pod}, so testops-admin does not stop or start that instance`,
    ) as unknown,
  })
  const before = here.world.requests.length
  for (const words of [
    ['service', 'start'],
    ['service', 'stop'],
    ['service', 'restart'],
    ['set-env', 'TZ=Europe/Berlin'],
  ]) {
    const refused = await here.run(...words, '--confirm', 'prod', '--accept-risk', 'controller')
    expect([refused.exitCode, (refused.stdout + refused.stderr).replace(/\s+/g, ' ')]).toEqual([
      4,
      expect.stringContaining('Rollout `testops` owns 1 instance of the service'),
    ])
  }
  expect(here.world.requests.slice(before).filter((it) => it.startsWith('PATCH '))).toEqual([])
  expect([deployment().spec.replicas, here.world.isReady()]).toEqual([0, true])
}, 120_000)

/** Without an owner, as a pod that was cut off from its ReplicaSet for a look at it. */
function orphan(): string {
  const { cluster } = here.world
  const pod = cluster.pods.find(({ metadata }) => metadata.name.startsWith('testops-testops-'))!
  cluster.update('deployments', deployment(), (it) => void ((it as Workload).spec.replicas = 0))
  cluster.update('pods', pod, ({ metadata }) => void delete metadata.ownerReferences)
  return pod.metadata.name
}

test.each([
  { owner: 'Rollout `testops`', own: handOver },
  { owner: 'no controller', own: orphan },
])(
  'every repair that would stop the service refuses and changes nothing where its pods have $owner as owner',
  async ({ owner, own }) => {
    const pod = own()
    await here.world.database.query(
      "UPDATE databasechangeloglock SET locked = true, lockedby = 'gone-7d4b9-x2x2x (10.42.0.7)', lockgranted " +
        "= now() - interval '1 day' WHERE id = 1",
    )
    const before = here.world.requests.length
    for (const words of [['reset-queues'], ['unlock-changelog'], ['set-env', 'TZ=Europe/Berlin']]) {
      const { exitCode, stdout } = await here.run(
        ...words,
        '--json',
        '--confirm',
        'prod',
        '--accept-risk',
        'controller',
      )
      const { error, plan } = JSON.parse(stdout) as RepairDocument
      expect([words[0], exitCode, error?.code, error?.message]).toEqual([
        words[0],
        4,
        'REFUSED',
        expect.stringContaining(`${owner} owns 1 instance of the service (${pod})`),
      ])
      // what is refused before there is a plan is the error alone
      expect(plan).toBe(undefined)
      expect(error?.suggestions[0]).toBe(`kubectl --context test -n testops get pod ${pod} -o yaml`)
    }
    expect(here.world.requests.slice(before).filter((it) => /^(?:PATCH|PUT|DELETE) /.test(it))).toEqual([])
    const queues = (await here.world.vhost.manage('GET', `/api/queues/${here.world.vhost.vhost}`)) as {
      name: string
      durable: boolean
    }[]
    expect(queues.filter(({ durable }) => durable).map(({ name }) => name)).toEqual([])
    expect(await here.world.database.query('SELECT locked FROM databasechangeloglock WHERE id = 1')).toEqual([
      { locked: true },
    ])
  },
  180_000,
)
