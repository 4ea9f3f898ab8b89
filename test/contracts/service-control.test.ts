import { describe, expect } from 'vitest'
import { openKubernetes } from '../../src/platforms/kubernetes/index.ts'
import { openHost } from '../../src/platforms/host/index.ts'
import { fakeDeployment } from '../fakes/index.ts'
import { recordedCluster } from '../kubernetes/cluster.ts'
import { kubeconfigFor } from '../kubernetes/passing-kubeconfig.ts'
import type { Workload } from '../kubernetes/resources.ts'
import { startApiServer } from '../kubernetes/server.ts'
import { nothing } from '../platforms/host/nothing.ts'
import { standIn } from '../repairs/support/stand-in.ts'
import { serviceControlContract } from './service-control.ts'

describe('in memory', () => {
  serviceControlContract(async ({ running, settings }) => {
    const deployment = fakeDeployment({ service: running ? 'running' : 'stopped' })
    for (const [name, value] of Object.entries(settings)) deployment.settings.set(name, value)
    return {
      control: await deployment.control.service(),
      source: deployment.sources.service,
      close: async () => undefined,
    }
  })
})

describe('on the platform host', () => {
  serviceControlContract(async ({ running, settings }) => {
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
    const service = await standIn({ running, settings: lines.join('') })
    const { commands, environmentFile } = service.host
    const { start, stop, status } = commands as Record<'start' | 'stop' | 'status', readonly [string, ...string[]]>
    const host = openHost(
      { ...nothing, commands: { start, stop, status }, environmentFile: { path: environmentFile, at: 'a test' } },
      { timeoutMs: 10_000 },
    )
    return { control: await host.control(), source: await host.service(), close: async () => service.end() }
  })
})

describe('on the platform kubernetes', () => {
  serviceControlContract(async ({ running, settings }) => {
    const cluster = recordedCluster()
    cluster.update('deployments', cluster.get('deployments', 'testops', 'testops-testops'), (it) => {
      const { spec } = it as Workload
      spec.replicas = running ? 1 : 0
      for (const container of spec.template.spec.containers)
        container.env = Object.entries(settings).map(([name, value]) => ({ name, value }))
    })
    for (const pod of cluster.pods) if (pod.metadata.name.startsWith('testops-testops-')) cluster.remove('pods', pod)
    const server = await startApiServer(cluster)
    cluster.settle()
    const alive = (): boolean =>
      cluster.pods.some(
        ({ metadata, status }) =>
          metadata.name.startsWith('testops-testops-') &&
          status.conditions.some(({ type, status: it }) => type === 'Ready' && it === 'True'),
      )
    await expect.poll(alive, { timeout: 5000 }).toBe(running)
    const platform = await openKubernetes(
      { context: null, namespace: null, release: null },
      { timeoutMs: 10_000, environment: { KUBECONFIG: await kubeconfigFor(server.url) } },
    )
    return {
      control: await platform.control(),
      source: await platform.service(),
      async close() {
        await platform.close()
        await server.close()
      },
    }
  })
})
