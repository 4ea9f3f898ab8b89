import { loadAll } from 'js-yaml'
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openKubernetes } from '../../../src/platforms/kubernetes/index.ts'
import type { Platform } from '../../../src/platforms/platform.ts'
import { v3Flags } from '../../fakes/index.ts'
import { recordedCluster } from '../../kubernetes/cluster.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import { startCluster } from './cluster.ts'

interface Rule {
  resources: string[]
  verbs: string[]
}

/** `get secrets`, of both kinds of role in the template. */
async function rightsIn(template: string): Promise<Set<string>> {
  const objects = loadAll(
    await readFile(join(import.meta.dirname, '../../../templates/kubernetes', template), 'utf8'),
  ) as { rules?: Rule[] }[]
  const rules = objects.flatMap(({ rules: all = [] }) => all)
  return new Set(
    rules.flatMap(({ resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    ),
  )
}

/** A cluster in which something else watches over the service, and whose pods have trouble. */
function watched(): Cluster {
  const cluster = recordedCluster()
  for (const [plural, kind, group] of [
    ['scaledobjects', 'ScaledObject', 'keda.sh'],
    ['applications', 'Application', 'argoproj.io'],
    ['kustomizations', 'Kustomization', 'kustomize.toolkit.fluxcd.io'],
    ['helmreleases', 'HelmRelease', 'helm.toolkit.fluxcd.io'],
  ] as const) {
    cluster.resources.push({
      plural,
      kind,
      group,
      version: plural === 'helmreleases' ? 'v2' : plural === 'kustomizations' ? 'v1' : 'v1alpha1',
      isNamespaced: true,
    })
  }
  const [workload] = cluster.deployments
  workload!.metadata.annotations = {
    ...workload!.metadata.annotations,
    'argocd.argoproj.io/tracking-id': 'testops:apps/Deployment:testops/testops-testops',
  }
  workload!.metadata.labels = {
    ...workload!.metadata.labels,
    'kustomize.toolkit.fluxcd.io/name': 'testops',
    'kustomize.toolkit.fluxcd.io/namespace': 'testops',
    'helm.toolkit.fluxcd.io/name': 'testops',
    'helm.toolkit.fluxcd.io/namespace': 'testops',
  }
  return cluster
}

async function platformFor(cluster: Cluster): Promise<Platform> {
  const { environment } = await startCluster(cluster)
  const platform = await openKubernetes(
    { context: null, namespace: null, release: null },
    { timeoutMs: 5000, environment },
  )
  onTestFinished(async () => platform.close())
  return platform
}

/** All that checks ask of a platform. */
async function lookAt(platform: Platform): Promise<void> {
  const service = await platform.service()
  await service.status()
  await service.image()
  await service.machines()
  await service.health()
  await service.proxies()
  await platform.environment()
  await (await platform.log()).newest({ maxBytes: 10_000 })
}

it('the role for diagnosis is enough to look at everything, and to change nothing', async () => {
  const cluster = watched()
  cluster.granted = await rightsIn('diagnose.yaml')
  const platform = await platformFor(cluster)
  await lookAt(platform)
  cluster.create('leases', {
    metadata: { name: 'testops-admin', namespace: 'testops' },
    spec: { holderIdentity: 'anna@laptop', leaseDurationSeconds: 30, renewTime: new Date().toISOString() },
  })
  expect(await (await platform.service()).operator?.()).toMatchObject({ who: 'anna@laptop' })
  expect([...cluster.granted].filter((right) => !/^(?:get|list|create pods\/portforward)/.test(right))).toEqual([])
  await expect((await platform.control()).stop({ timeoutMs: 2000 })).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

it('the role for repairs is enough to stop, set, start and keep others out', async () => {
  const cluster = watched()
  cluster.granted = await rightsIn('repair.yaml')
  const platform = await platformFor(cluster)
  await lookAt(platform)
  const lock = await platform.lock({ who: 'somebody', what: 'a repair' })
  expect(await lock?.take()).toBe(null)
  const service = await platform.service()
  expect((await service.controllers()).every(({ paused }) => paused !== undefined)).toBe(true)
  const control = await platform.control()
  await control.stop({ timeoutMs: 10_000 })
  expect(await control.writeSetting({ name: 'VENDOR_RABBIT_DURABLE', from: null, to: 'true' })).toBe('set')
  await control.start({ timeoutMs: 10_000 })
  await lock?.release()
  const refused = [...cluster.asked].filter((it) => cluster.granted?.has(it) === false)
  expect(refused).toEqual([])
})

it('the role for what is done on request is enough to run programs in pods, and to make and remove some', async () => {
  const cluster = watched()
  cluster.granted = await rightsIn('on-request.yaml')
  cluster.hooks.exec = ({ command }) => (command[0] === 'cat' ? spawn('echo', [`flags : ${v3Flags.join(' ')}`]) : null)
  cluster.isFrozen = true
  for (const { metadata, status } of cluster.pods)
    if (!metadata.name.startsWith('testops-testops')) status.containerStatuses = []
  const platform = await platformFor(cluster)
  const service = await platform.service()
  expect(await service.resolve('jira.example.org')).toBe(null)
  for (const { status } of cluster.pods) Object.assign(status, { phase: 'Pending', containerStatuses: [] })
  const told: string[] = []
  const machines = await platform.prove!(await service.machines(), {
    mayMakePods: true,
    tell: (message) => void told.push(message),
  })
  expect([machines.map(({ processors }) => processors.length), told]).toEqual([[1, 1], []])
  expect([...cluster.asked].filter((it) => !cluster.granted?.has(it))).toEqual([])
  expect(cluster.asked).toContain('delete pods')
})
