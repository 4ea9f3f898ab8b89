import { expect, onTestFinished, test } from 'vitest'
import { serviceCrashes } from '../../../src/checks/service/crashes.ts'
import { serviceReady } from '../../../src/checks/service/ready.ts'
import type { Outcome } from '../../../src/core/check.ts'
import { AdminError } from '../../../src/core/error.ts'
import { openKubernetes } from '../../../src/platforms/kubernetes/index.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import type { ContainerStatus, Pod } from '../../kubernetes/resources.ts'
import { startLimitOf } from '../../../src/platforms/kubernetes/health.ts'
import { startCluster } from './cluster.ts'

const first = 'testops-testops-8c5b7486b-5dvgm'
const second = 'testops-testops-8c5b7486b-cmngq'
const container = 'testops-testops'
const deployment = {
  name: 'prod',
  platform: 'kubernetes',
  vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
  timeZone: 'UTC',
} as const

type Change = (pod: Pod, status: ContainerStatus, cluster: Cluster) => void

/** What both checks say of the service of a cluster whose pods were changed. */
async function judged(
  change: Change,
  names: readonly string[] = [first, second],
  prepare: (cluster: Cluster) => void = () => undefined,
): Promise<{ crashes: Outcome; ready: Outcome }> {
  const { cluster, environment } = await startCluster()
  for (const pod of cluster.pods.filter(({ metadata }) => names.includes(metadata.name)))
    change(pod, pod.status.containerStatuses![0]!, cluster)
  prepare(cluster)
  const platform = await openKubernetes(
    { context: null, namespace: null, release: null },
    { timeoutMs: 5000, environment },
  )
  onTestFinished(async () => platform.close())
  const service = await platform.service()
  const logs = new AdminError('NOT_CONFIGURED', 'not asked here')
  return {
    crashes: await serviceCrashes.run({ service, logs }, deployment),
    ready: await serviceReady.run({ service }, deployment),
  }
}

const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString().replace(/\.\d+/, '')
const unready = ({ status }: Pod): void =>
  status.conditions.forEach((it) => void (it.type === 'Ready' && (it.status = 'False')))
const ended = (minutes: number, of: object = {}): object => ({
  terminated: { exitCode: 1, reason: 'Error', startedAt: ago(minutes + 1), finishedAt: ago(minutes), ...of },
})

const looping: Change = (pod, status, cluster) => {
  unready(pod)
  status.state = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container' } }
  status.lastState = ended(1, { exitCode: 127 }) as ContainerStatus['lastState']
  status.restartCount = 3
  cluster.print(pod.metadata.name, container, 'Fatal glibc error: CPU does not support x86-64-v3', { previous: true })
}

/** An outcome as text, with what changes from run to run left out. */
function said(outcome: Outcome): string[] {
  if (outcome.status !== 'problem') return [outcome.status, outcome.status === 'ok' ? outcome.detail : outcome.reason]
  const plain = (text: string): string => text.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, 'TIME')
  return [`${outcome.status} ${outcome.severity}`, ...outcome.findings.map(({ message }) => plain(message))]
}

test('a service that runs', async () => {
  const { crashes, ready } = await judged(() => undefined)
  expect([said(crashes), said(ready)]).toEqual([
    ['ok', 'the service has not crashed'],
    ['ok', '2 of 2 ready'],
  ])
})

test('pods that end again and again: the reason is in the log of the container before', async () => {
  const { crashes, ready } = await judged(looping)
  expect(said(crashes)).toEqual([
    'problem error',
    ...[first, second].map(
      (name) =>
        `${name} does not stay up (CrashLoopBackOff), it exited with 127 at TIME, restarted 3 times: its image ` +
        'needs x86-64-v3, which the processor lacks',
    ),
  ])
  expect(crashes.status === 'problem' && crashes.findings[0].evidence).toEqual([
    'kubectl --context test -n testops get pods -l app=testops-testops,version=v1 -o wide',
    `kubectl --context test -n testops logs ${first} -c ${container} --previous --tail=50`,
    'Fatal glibc error: CPU does not support x86-64-v3',
  ])
  expect(said(ready)).toEqual(['ok', '0 of 2 ready'])
})

const oomKilled = { exitCode: 137, reason: 'OOMKilled' }

test.each<[string, Change, readonly string[], string[]]>([
  [
    'one of two',
    looping,
    [first],
    [
      'problem warning',
      `${first} does not stay up (CrashLoopBackOff), it exited with 127 at TIME, restarted 3 times: its image ` +
        'needs x86-64-v3, which the processor lacks',
    ],
  ],
  [
    'one that was killed for its memory and is up again',
    (_, status) => Object.assign(status, { lastState: ended(5, oomKilled), restartCount: 1 }),
    [first],
    [
      'problem warning',
      `${first} is up again, it exited with 137 (OOMKilled) at TIME, restarted once: it used more memory than allowed`,
    ],
  ],
  [
    'one whose restart is long ago',
    (_, status) => Object.assign(status, { lastState: ended(600, oomKilled), restartCount: 1 }),
    [first],
    ['ok', '1 restart, none in the last 1 h'],
  ],
  [
    'images that cannot be pulled',
    (pod, status) => {
      unready(pod)
      status.state = { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image' } }
    },
    [first, second],
    [
      'problem error',
      ...[first, second].map((name) => `${name} cannot start (ImagePullBackOff: Back-off pulling image)`),
    ],
  ],
  [
    'a pod that was evicted a moment ago',
    (pod) => {
      unready(pod)
      Object.assign(pod.status, {
        phase: 'Failed',
        reason: 'Evicted',
        message: 'The node was low on resource: memory.',
        containerStatuses: [],
      })
      pod.status.conditions.forEach((it) => Object.assign(it, { lastTransitionTime: ago(3) }))
    },
    [first],
    ['problem warning', `${first} has failed, it ended (Evicted: The node was low on resource: memory.) at TIME`],
  ],
])('%s', async (_, change, names, expected) => {
  expect(said((await judged(change, names)).crashes)).toEqual(expected)
})

test('pods that run and are not ready, in the words of their probe', async () => {
  const warn = (cluster: Cluster): void =>
    cluster.load('events', {
      metadata: { name: 'probe', namespace: 'testops' },
      involvedObject: { kind: 'Pod', name: first },
      type: 'Warning',
      reason: 'Unhealthy',
      message: 'Readiness probe failed: HTTP probe failed with statuscode: 503',
      count: 12,
      lastTimestamp: '2026-11-21T03:00:00Z',
    })
  const { crashes, ready } = await judged(unready, [first], warn)
  expect(said(crashes)).toEqual(['ok', 'the service has not crashed'])
  expect(said(ready)[0]).toBe('problem warning')
  expect(said(ready)[1]).toMatch(
    new RegExp(`^1 instance of the service is not ready: ${first} \\(started \\S+ .*ago\\)`),
  )
  expect(ready.status === 'problem' && ready.findings[0].evidence.slice(-2)).toEqual([
    `kubectl --context test -n testops describe pod ${first}`,
    '2026-11-21 03:00:00Z Unhealthy (12 times): Readiness probe failed: HTTP probe failed with statuscode: 503',
  ])
  expect(said((await judged(unready)).ready)[0]).toBe('problem error')
})

test('without the right to read logs that is said, and the rest is judged', async () => {
  const { crashes } = await judged(
    looping,
    [first, second],
    (cluster) => void cluster.forbidden.push({ resource: 'pods/log' }),
  )
  expect(said(crashes)[1]).toMatch(/restarted 3 times$/)
  expect(crashes.status === 'problem' && crashes.findings[0].evidence[1]).toBe(
    `user tester has no permission to get pods/log \`${first}\` in namespace \`testops\` of the cluster of ` +
      `context \`test\``,
  )
})

test.each([
  ['none', {}, null],
  [
    'the chart’s startup probe',
    { startupProbe: { initialDelaySeconds: 10, periodSeconds: 10, failureThreshold: 30 }, livenessProbe: {} },
    { by: 'startup probe', afterMs: 310_000 },
  ],
  ['a liveness probe alone, as Kubernetes fills it', { livenessProbe: {} }, { by: 'liveness probe', afterMs: 30_000 }],
])('a start that takes long is ended by %s', (_, probes, limit) => {
  expect(startLimitOf({ name: container, ...probes })).toEqual(limit)
})

test('what ends a start is read from the workload, with the command that shows it', async () => {
  const { cluster, environment } = await startCluster()
  for (const it of cluster.deployments)
    Object.assign(it.spec.template.spec.containers[0]!, { startupProbe: { periodSeconds: 5, failureThreshold: 12 } })
  const platform = await openKubernetes(
    { context: null, namespace: null, release: null },
    { timeoutMs: 5000, environment },
  )
  onTestFinished(async () => platform.close())
  expect(await (await platform.service()).startLimit?.()).toEqual({
    by: 'startup probe',
    afterMs: 60_000,
    proof: expect.stringMatching(/^kubectl .*get deployments \S+ -o yaml$/) as string,
  })
})
