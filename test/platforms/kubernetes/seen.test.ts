import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { findReleases } from '../../../src/platforms/kubernetes/finder.ts'
import { openKubernetes } from '../../../src/platforms/kubernetes/index.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import { startCluster } from './cluster.ts'

const lists = [
  'GET /apis/apps/v1/namespaces/testops/deployments?limit=500',
  'GET /apis/apps/v1/namespaces/testops/statefulsets?limit=500',
]

interface Opened {
  /** what was asked, in the order in which that came */
  requests: readonly string[]
  connections: number
  build: string | null
}

/** Finds the deployment, and opens what was found so much later. */
async function foundAndOpened({
  isKept,
  laterMs = 0,
  change = () => undefined,
}: {
  isKept: boolean
  laterMs?: number
  change?: (world: Cluster) => void
}): Promise<Opened> {
  const { server, cluster, environment } = await startCluster()
  const connections = new Set<unknown>()
  server.instead = ({ socket }) => {
    connections.add(socket)
    return false
  }
  const { found } = await findReleases({ timeoutMs: 3000, environment, folder: '/', isKept })
  const now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now + laterMs)
  onTestFinished(() => clock.mockRestore())
  change(cluster)
  const platform = await openKubernetes(
    { context: 'test', namespace: 'testops', release: 'testops' },
    { timeoutMs: 5000, environment, seen: found[0]?.seen },
  )
  try {
    const { build } = await (await platform.service()).image()
    return { requests: server.requests.filter((it) => lists.includes(it)), connections: connections.size, build }
  } finally {
    await platform.close()
  }
}

const renewed = (world: Cluster): void => {
  const deployment = world.get('deployments', 'testops', 'testops-testops')
  world.update('deployments', deployment, (it) => {
    const { containers } = (
      it as unknown as { spec: { template: { spec: { containers: { name: string; image: string }[] } } } }
    ).spec.template.spec
    for (const container of containers)
      if (container.name === 'testops-testops') container.image = 'registry.example.org/testops/testops:527u01'
  })
}

describe('what was opened to find a deployment', () => {
  it('serves who opens it next: nothing is asked twice, and on the same connections', async () => {
    const { requests, connections } = await foundAndOpened({ isKept: true })
    expect(requests.toSorted()).toEqual(lists)
    expect(connections).toBe(2)
  })

  it('without the wish to keep it, is closed and looked for again', async () => {
    expect((await foundAndOpened({ isKept: false })).requests).toHaveLength(4)
  })

  it('is looked at again where that was a while ago', async () => {
    const { requests, build, connections } = await foundAndOpened({ isKept: true, laterMs: 600, change: renewed })
    expect({ requests: requests.length, build, connections }).toEqual({ requests: 4, build: '527u01', connections: 2 })
  })
})
