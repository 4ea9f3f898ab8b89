import { loadAll } from 'js-yaml'
import { dirname, join } from 'node:path'
import { readFile, rm } from 'node:fs/promises'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import { recordedCluster } from '../kubernetes/cluster.ts'
import type { Cluster } from '../kubernetes/cluster.ts'
import { kubeconfigFor } from '../kubernetes/passing-kubeconfig.ts'
import type { Pod, Stored, Workload } from '../kubernetes/resources.ts'
import { startApiServer } from '../kubernetes/server.ts'
import { kubernetesWorld } from './kubernetes-world.ts'
import type { KubernetesWorld } from './kubernetes-world.ts'
import { freshPlace } from './program.ts'
import type { Ended, Place } from './program.ts'

interface Container {
  command: string[]
  args: string[]
  env: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[]
  volumeMounts: { mountPath: string; subPath?: string }[]
}

/** An object of what is rendered, as far as tests look at it. */
interface Rendered {
  kind: string
  rules?: { resources: string[]; verbs: string[] }[]
  data?: Record<string, string>
  spec?: { jobTemplate: { spec: { template: { spec: { containers: [Container] } } } } }
}

let place: Place
beforeEach(async () => {
  place = await freshPlace()
  await place.write(
    'testops-admin.yaml',
    'deployments:\n  prod:\n    platform: kubernetes\n    kubernetes: {context: test, namespace: testops}\n' +
      '    apiToken: {env: TESTOPS_TOKEN}\n',
  )
})
afterEach(async () => place.remove())

async function rendered(): Promise<Rendered[]> {
  const { stdout, exitCode } = await place.run(['init', '--template', 'cronjob', '--image', 'testops-admin:1'])
  expect(exitCode).toBe(0)
  return loadAll(stdout) as Rendered[]
}

const rightsIn = (objects: readonly Rendered[]): Set<string> =>
  new Set(
    objects
      .flatMap(({ rules = [] }) => rules)
      .flatMap(({ resources, verbs }) => resources.flatMap((it) => verbs.map((verb) => `${verb} ${it}`))),
  )

/**
 * Runs the command of the rendered pod on this machine: with its variables alone, its mounted configuration, and the
 * Secrets that the cluster has. The cluster is reached with a kubeconfig, as this machine has no service account.
 */
async function runPod(objects: readonly Rendered[], cluster: Cluster, kubeconfig: string): Promise<Ended> {
  const of = (kind: string): Rendered => objects.find((it) => it.kind === kind)!
  const [{ command, args, env, volumeMounts }] = of('CronJob').spec!.jobTemplate.spec.template.spec.containers
  const files = of('ConfigMap').data!
  const mounted = volumeMounts.filter(({ subPath }) => subPath !== undefined)
  expect(mounted.map(({ subPath }) => subPath)).toEqual(Object.keys(files))
  for (const { subPath } of mounted) await place.write(subPath!, files[subPath!]!)
  const here = (word: string): string =>
    mounted.reduce((text, { mountPath }) => text.replace(dirname(mountPath), place.directory), word)
  const variables = env.map(({ name, value, valueFrom }): [string, string] => {
    if (!valueFrom) return [name, name === 'HOME' ? join(place.directory, 'home') : value!]
    const { data } = cluster.get('secrets', 'testops', valueFrom.secretKeyRef.name) as unknown as {
      data: Record<string, string>
    }
    return [name, Buffer.from(data[valueFrom.secretKeyRef.key]!, 'base64').toString()]
  })
  expect(command[0]).toBe('testops-admin')
  return place.run([...command.slice(1), ...args.map(here), '--json'], {
    environment: { ...Object.fromEntries(variables), KUBECONFIG: kubeconfig },
  })
}

function loadSecret(cluster: Cluster, token: string): void {
  cluster.load('secrets', {
    metadata: { name: 'testops-admin-prod', namespace: 'testops' },
    data: { 'api-token': Buffer.from(token).toString('base64') },
  })
}

test('the rendered pod gets its answers with the rendered rights, and asks for no change', async () => {
  const world = await kubernetesWorld()
  onTestFinished(async () => world.close())
  await expect.poll(world.isReady, { timeout: 20_000 }).toBe(true)
  const objects = await rendered()
  world.cluster.granted = rightsIn(objects)
  loadSecret(world.cluster, 'a-token-that-the-service-refuses')
  world.cluster.asked.clear()
  const before = world.requests.length
  const { stdout, stderr } = await runPod(objects, world.cluster, world.kubeconfig)
  const { checks } = JSON.parse(stdout) as DoctorReport
  const statuses = Object.fromEntries(checks.map(({ id, status }) => [id, status]))
  expect(statuses).toMatchObject({
    'database/reachable': 'ok',
    'database/changelog-lock': 'ok',
    'broker/queues-durable': 'ok',
    'sessions/memory': 'ok',
    'service/ready': 'ok',
    'service/log-errors': 'ok',
    'api/reachable': 'ok',
    // it came from the Secret
    'api/token': 'problem',
  })
  expect(stdout + stderr).not.toContain('a-token-that-the-service-refuses')
  expect([...world.cluster.asked].filter((it) => !world.cluster.granted!.has(it))).toEqual([])
  const changing = world.requests
    .slice(before)
    .filter((it) => /^(?:POST|PUT|PATCH|DELETE) /.test(it) && !/\/portforward\b/.test(it))
  expect(changing).toEqual([])
})

test('a repair does not start in the rendered pod, and would lack every right', async () => {
  const world = await kubernetesWorld()
  onTestFinished(async () => world.close())
  await expect.poll(world.isReady, { timeout: 20_000 }).toBe(true)
  const objects = await rendered()
  world.cluster.granted = rightsIn(objects)
  const environment = { KUBECONFIG: world.kubeconfig, TESTOPS_TOKEN: 'a' }
  const words = ['service', 'stop', '--confirm', 'prod']
  const readOnly = await place.run(words, { environment: { ...environment, TESTOPS_ADMIN_READ_ONLY: '1' } })
  expect([readOnly.exitCode, readOnly.stderr]).toEqual([4, expect.stringContaining('READ_ONLY') as string])
  const forbidden = await place.run(words, { environment })
  expect(forbidden.exitCode).not.toBe(0)
  expect(world.isReady()).toBe(true)
})

const service = 'testops-testops'
const deployed = (cluster: Cluster): Workload => cluster.get('deployments', 'testops', service) as Workload

/** Clusters in which a diagnosis needs one right or another. */
const worlds: Readonly<Record<string, (cluster: Cluster) => void>> = {
  'as recorded': () => undefined,
  'settings in a ConfigMap': (cluster) => {
    cluster.load('configmaps', {
      metadata: { name: 'zone', namespace: 'testops' },
      data: { SPRING_DATASOURCE_URL: 'jdbc:postgresql://from-a-map:5432/testops' },
    })
    cluster.update('deployments', deployed(cluster), (it) => {
      const [container] = (it as Workload).spec.template.spec.containers
      container!.env = (container!.env ?? []).filter(({ name }) => name !== 'SPRING_DATASOURCE_URL')
      Object.assign(container!, { envFrom: [{ configMapRef: { name: 'zone' } }] })
    })
  },
  'a server behind endpoints written by hand': (cluster) => {
    const metadata = { name: 'testops-postgresql', namespace: 'testops' }
    cluster.load('services', { metadata, spec: { clusterIP: '10.96.0.77', ports: [{ port: 5432 }] } })
    cluster.load('endpoints', { metadata, subsets: [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ port: 1 }] }] })
  },
  'a StatefulSet': (cluster) => {
    const { spec, metadata } = structuredClone(deployed(cluster))
    for (const { metadata: its } of cluster.pods)
      if (its.name.startsWith(`${service}-`))
        its.ownerReferences = [
          { apiVersion: 'apps/v1', kind: 'StatefulSet', name: service, uid: 's', controller: true },
        ]
    cluster.remove('deployments', deployed(cluster))
    cluster.load('statefulsets', {
      metadata: { ...metadata, uid: 's' },
      spec,
      status: { replicas: 2, readyReplicas: 1 },
    })
    fails(cluster)
  },
  'pods that fail': (cluster) => fails(cluster),
  'pods of a Rollout': (cluster) => {
    const pod = cluster.pods.find(({ metadata }) => metadata.name.startsWith(`${service}-`))!
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rolled', uid: 'r', controller: true }
    cluster.load('pods', { ...pod, metadata: { ...pod.metadata, name: 'rolled-1', ownerReferences: [owner] } })
    const rollout = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', name: 'rolls', uid: 'o', controller: true }
    cluster.load('replicasets', {
      metadata: { name: 'rolled', namespace: 'testops', uid: 'r', ownerReferences: [rollout] },
    })
    fails(cluster)
  },
}

/** The same, where servers answer: what tells of a repair is in the broker. */
const livingWorlds: Readonly<Record<string, (world: KubernetesWorld) => Promise<void>>> = {
  'servers that are reached by port-forwards': async () => undefined,
  'streams are authorized as GET': async ({ cluster }) => void (cluster.streamVerb = 'get'),
  'the record of a repair': async (world) => recordRun(world),
  'a repair that is under way': async (world) => {
    await recordRun(world)
    world.cluster.load('leases', {
      metadata: { name: 'testops-admin', namespace: 'testops' },
      spec: { holderIdentity: 'anna@laptop', leaseDurationSeconds: 3600, renewTime: new Date().toISOString() },
    })
  },
}

/** A queue that names a run, whose record is in the cluster. */
async function recordRun({ cluster, vhost }: KubernetesWorld): Promise<void> {
  const run = '20261124T172806Z-reset-queues-cb77'
  const record = await readFile(join(import.meta.dirname, '../fixtures/journals/reset-queues', run, 'run.json'), 'utf8')
  await vhost.manage('PUT', `/api/queues/${encodeURIComponent(vhost.vhost)}/testops-admin.run.${run}`, {
    durable: true,
  })
  cluster.load('configmaps', {
    metadata: {
      name: `testops-admin.run.${run.toLowerCase()}`,
      namespace: 'testops',
      labels: { 'app.kubernetes.io/managed-by': 'testops-admin', 'testops-admin/purpose': 'run' },
      annotations: { 'testops-admin/run': run },
    },
    data: { record: record.trim() },
  })
}

/** The service's pods are not ready, and an event says why. */
function fails(cluster: Cluster): void {
  for (const pod of cluster.pods.filter(({ metadata }) => metadata.name.startsWith(`${service}-`))) {
    for (const it of pod.status.conditions) if (it.type === 'Ready') it.status = 'False'
    for (const it of pod.status.containerStatuses ?? []) it.ready = false
    cluster.load('events', warning(pod))
  }
}

function warning({ metadata: { name } }: Pod): Stored {
  return {
    metadata: { name: `${name}.1`, namespace: 'testops' },
    type: 'Warning',
    reason: 'Unhealthy',
    message: 'Readiness probe failed',
    involvedObject: { kind: 'Pod', name, namespace: 'testops' },
    lastTimestamp: new Date().toISOString(),
    count: 3,
  }
}

/** What a diagnosis says, without what is another each time: of living servers, also what it says of a healthy one. */
function said(stdout: string, isLiving: boolean): string {
  const { checks = [], events, rootCauses } = JSON.parse(stdout) as Partial<DoctorReport>
  // an error is all that it says
  if (checks.length === 0) return stdout
  const stable = checks.map(({ durationMs: _, detail, ...it }) =>
    it.status === 'ok' && isLiving ? it : { ...it, detail },
  )
  const varying = /\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\b\d+(?:\.\d+)? m?s\b|127\.0\.0\.1:\d+/g
  return JSON.stringify({ checks: stable, unseen: events?.unseen, rootCauses }, (_, value: unknown) =>
    typeof value === 'string' ? value.replace(varying, '') : value,
  )
}

interface Lookable {
  cluster: Cluster
  kubeconfig: string
  close: () => Promise<void>
  /** True if servers answer there */
  isLiving: boolean
}

async function recordedWorld(change: (cluster: Cluster) => void): Promise<Lookable> {
  const cluster = recordedCluster()
  cluster.isFrozen = true
  change(cluster)
  const server = await startApiServer(cluster)
  const kubeconfig = await kubeconfigFor(server.url)
  const close = async (): Promise<void> => {
    await server.close()
    await rm(dirname(kubeconfig), { recursive: true })
  }
  return { cluster, kubeconfig, close, isLiving: false }
}

async function livingWorld(change: (world: KubernetesWorld) => Promise<void>): Promise<Lookable> {
  const world = await kubernetesWorld()
  await expect.poll(world.isReady, { timeout: 20_000 }).toBe(true)
  await change(world)
  return { ...world, isLiving: true }
}

test('each right is needed for what a diagnosis says of one cluster or another', async () => {
  const objects = await rendered()
  const all = rightsIn(objects)
  const needless = new Set(all)
  const refused = new Set<string>()
  const starts = [
    ...Object.values(worlds).map((change) => async () => recordedWorld(change)),
    ...Object.values(livingWorlds).map((change) => async () => livingWorld(change)),
  ]
  for (const start of starts) {
    const { cluster, kubeconfig, close, isLiving } = await start()
    try {
      loadSecret(cluster, 'a')
      const look = async (granted: ReadonlySet<string>): Promise<string> => {
        cluster.granted = granted
        return said((await runPod(objects, cluster, kubeconfig)).stdout, isLiving)
      }
      cluster.asked.clear()
      const whole = await look(all)
      for (const right of cluster.asked) if (!all.has(right)) refused.add(right)
      expect(await look(all)).toBe(whole)
      for (const right of [...needless].filter((it) => cluster.asked.has(it)))
        if ((await look(new Set([...all].filter((it) => it !== right)))) !== whole) needless.delete(right)
    } finally {
      await close()
    }
  }
  expect([...needless]).toEqual([])
  expect([...refused]).toEqual([])
}, 240_000)
