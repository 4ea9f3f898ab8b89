import { readFile, writeFile } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import type { Cluster } from '../kubernetes/cluster.ts'
import { fillCluster, most, watchMemory } from '../kubernetes/large.ts'
import type { Workload } from '../kubernetes/resources.ts'
import { kubernetesWorld } from './kubernetes-world.ts'
import type { KubernetesWorld } from './kubernetes-world.ts'
import { freshPlace } from './program.ts'
import type { Ended, Place } from './program.ts'

const namespace = 'testops'
const page = 500

/** Runs the program, which has to stay small and to read pages. */
async function smallOn(
  { world, place }: { world: KubernetesWorld; place: Place },
  most: { megabytes: number; requests: number },
  ...words: string[]
): Promise<Ended> {
  const before = world.requests.length
  let megabytes = (): number => 0
  // on a busy machine the cluster in this process answers late
  const ended = await place.run([...words, '--timeout', '60'], {
    environment: { KUBECONFIG: world.kubeconfig },
    meanwhile: (child) => (megabytes = watchMemory(child)),
  })
  expect([megabytes() > 20, megabytes() < most.megabytes], `${words.join(' ')}: ${megabytes()} MB`).toEqual([
    true,
    true,
  ])
  const asked = world.requests.slice(before)
  const lists = asked.filter(
    (it) => it.includes('?') && !/\/(log|portforward|exec)\?/.test(it) && it.startsWith('GET '),
  )
  expect(lists.filter((it) => !new RegExp(`[?&]limit=(?:[1-9]|[1-9]\\d|[1-4]\\d\\d|${page})(?:&|$)`).test(it))).toEqual(
    [],
  )
  expect(asked.filter((it) => /\/secrets\?/.test(it))).toEqual([])
  expect(asked.length, asked.join('\n')).toBeLessThan(most.requests)
  return ended
}

test('doctor on a large namespace of a large cluster reads pages, few of them, and stays small', async () => {
  const place = await freshPlace({ isApart: true })
  onTestFinished(async () => place.remove())
  await place.write('testops-admin.yaml', 'deployments:\n  prod: {platform: kubernetes}\n')
  const world = await kubernetesWorld()
  onTestFinished(async () => world.close())
  await expect.poll(world.isReady, { timeout: 20_000 }).toBe(true)
  const own = world.cluster.pods.find(({ metadata }) => metadata.name.startsWith('testops-testops-'))!
  world.cluster.isFrozen = true
  own.status.conditions = own.status.conditions.map((it) => (it.type === 'Ready' ? { ...it, status: 'False' } : it))
  for (const it of own.status.containerStatuses ?? [])
    Object.assign(it, {
      restartCount: 5,
      lastState: { terminated: { exitCode: 3, reason: 'Error', finishedAt: new Date().toISOString() } },
    })
  fillCluster(world.cluster, own.metadata.name)

  const ended = await smallOn({ world, place }, { megabytes: most, requests: 60 }, 'doctor', '--json')
  const { checks } = JSON.parse(ended.stdout) as DoctorReport
  const status = (id: string): string | undefined => checks.find((it) => it.id === id)?.status
  expect(
    ['database/reachable', 'broker/reachable', 'sessions/reachable', 'service/cpu-level'].map(status),
    ended.stdout,
  ).toEqual(['ok', 'ok', 'ok', 'unknown'])
  expect(ended.stdout).toContain('Back-off restarting failed container')
}, 120_000)

/** Each as large as a Deployment of a chart is; what else a cluster has. */
function crowd(cluster: Cluster, count: number): void {
  const own = cluster.get('deployments', namespace, 'testops-testops') as Workload
  const [first] = own.spec.template.spec.containers
  const env = Array.from({ length: 60 }, (_, at) => ({ name: `SETTING_${at}`, value: 'x'.repeat(100) }))
  const containers = [{ ...first!, name: 'other', image: 'registry.example.org/other:1', env }]
  const spec = {
    ...own.spec,
    replicas: 0,
    template: { ...own.spec.template, spec: { ...own.spec.template.spec, containers } },
  }
  for (let at = 0; at < count; at += 1)
    cluster.load('deployments', {
      ...own,
      metadata: { name: `other-${at}`, namespace: `team-${at % 200}`, uid: `other-${at}` },
      spec,
    })
}

test('repairs, and what finds the service without a configuration, on the same stay as small', async () => {
  const place = await freshPlace({ isApart: true })
  onTestFinished(async () => place.remove())
  const world = await kubernetesWorld()
  onTestFinished(async () => world.close())
  await expect.poll(world.isReady, { timeout: 20_000 }).toBe(true)
  fillCluster(
    world.cluster,
    world.cluster.pods.find(({ metadata }) => metadata.name.startsWith('testops-testops-'))!.metadata.name,
  )
  const at = { world, place }
  const replicas = (): unknown =>
    (world.cluster.get('deployments', namespace, 'testops-testops') as Workload).spec.replicas

  const near = await smallOn(at, { megabytes: most, requests: 20 }, 'service', 'status')
  expect(near.exitCode, near.stdout + near.stderr).toBe(0)
  crowd(world.cluster, 4000)
  const text = await readFile(world.kubeconfig, 'utf8')
  await writeFile(world.kubeconfig, text.replace('namespace: testops', 'namespace: default'))
  const far = await smallOn(at, { megabytes: most, requests: 30 }, 'service', 'status')
  expect(far.exitCode, far.stdout + far.stderr).toBe(0)
  await writeFile(world.kubeconfig, text)
  for (const it of world.cluster.list('deployments'))
    if (it.metadata.name.startsWith('other-')) world.cluster.remove('deployments', it)

  await place.write('testops-admin.yaml', 'deployments:\n  prod: {platform: kubernetes}\n')
  await world.database.query(
    "UPDATE databasechangeloglock SET locked = true, lockedby = 'gone-7d4b9-x2x2x (10.42.0.7)', lockgranted = " +
      "now() - interval '1 day' WHERE id = 1",
  )
  for (const words of [['unlock-changelog'], ['set-env', 'TZ=Europe/Berlin'], ['service', 'stop']]) {
    const ended = await smallOn(at, { megabytes: most, requests: 600 }, ...words, '--confirm', 'prod')
    expect([words, ended.exitCode], ended.stdout + ended.stderr).toEqual([words, 0])
  }
  expect([replicas(), await world.database.query('SELECT locked FROM databasechangeloglock WHERE id = 1')]).toEqual([
    0,
    [{ locked: false }],
  ])
}, 480_000)
