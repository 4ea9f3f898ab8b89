import { expect, it, onTestFinished } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import { openKubernetes } from '../../../src/platforms/kubernetes/index.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import type { Pod } from '../../kubernetes/resources.ts'
import { followed } from '../followed.ts'
import { startCluster } from './cluster.ts'

const first = 'testops-testops-8c5b7486b-5dvgm'
const second = 'testops-testops-8c5b7486b-cmngq'
const container = 'testops-testops'
const timeout = 20_000

async function world() {
  const { cluster, server, environment } = await startCluster()
  cluster.isFrozen = true
  for (const pod of cluster.pods)
    for (const it of pod.status.containerStatuses ?? []) it.state = { running: { startedAt: '2026-11-21T02:37:00Z' } }
  const platform = await openKubernetes(
    { context: null, namespace: null, release: null },
    { timeoutMs: 5000, environment },
  )
  onTestFinished(async () => platform.close())
  const asked = (): string[] =>
    server.requests.filter((it) => it.includes('follow=true')).map((it) => it.replace(/.*pods\//, ''))
  return {
    cluster,
    server,
    asked,
    log: await platform.log(),
    open: async (count: number) => expect.poll(() => asked().length, { timeout }).toBeGreaterThanOrEqual(count),
  }
}

function restart(cluster: Cluster, name: string): void {
  cluster.update('pods', podNamed(cluster, name), (it) => {
    for (const status of (it as Pod).status.containerStatuses ?? []) status.restartCount += 1
  })
}

const podNamed = (cluster: Cluster, name: string): Pod => cluster.pods.find(({ metadata }) => metadata.name === name)!

it('all pods are followed from now on, and nothing is left open at the end', async () => {
  const { cluster, log, asked, open } = await world()
  cluster.print(first, container, 'old')
  const { lines, stop, ended } = followed(log, { named: true })
  await open(2)
  expect(asked().sort()).toEqual(
    [first, second].map((pod) => `${pod}/log?container=${container}&timestamps=true&tailLines=0&follow=true`),
  )
  await expect.poll(() => cluster.changes.listenerCount('log'), { timeout }).toBe(2)
  cluster.print(first, container, 'one')
  await expect.poll(() => lines, { timeout }).toEqual([`${first}: one`])
  cluster.print(second, container, '')
  cluster.print(second, container, '  two')
  await expect.poll(() => lines, { timeout }).toEqual([`${first}: one`, `${second}: `, `${second}:   two`])
  stop.abort()
  expect(await ended).toBe(null)
  await expect.poll(() => cluster.changes.listenerCount('log'), { timeout }).toBe(0)
})

it('a stream that breaks is gone on with where it was: no line twice, none lost', async () => {
  const { cluster, server, log, asked } = await world()
  const at = (fraction: string): { at: string } => ({ at: `2026-11-21T02:37:05.${fraction.padEnd(9, '0')}Z` })
  cluster.print(first, container, 'older', { at: '2026-11-21T02:37:04.999999999Z' })
  cluster.print(first, container, 'same second, but older', at('1'))
  cluster.print(first, container, 'one', at('5'))
  cluster.print(first, container, 'two', at('600000001'))
  cluster.print(first, container, 'three', at('600000001'))
  const { lines } = followed(log, { since: new Date('2026-11-21T02:37:05.200Z') })
  await expect.poll(() => lines, { timeout }).toEqual(['one', 'two', 'three'])
  // all sockets break while lines are printed, of which one bears the time of the last that was seen
  let refused = 0
  server.instead = ({ socket }) => {
    refused += 1
    socket.destroy()
    return true
  }
  server.breakOff()
  await expect.poll(() => refused, { timeout }).toBeGreaterThan(1)
  cluster.print(first, container, 'four', at('600000001'))
  cluster.print(first, container, 'five', at('600000002'))
  server.instead = null
  await expect.poll(() => lines, { timeout }).toEqual(['one', 'two', 'three', 'four', 'five'])
  cluster.print(first, container, 'six', at('7'))
  await expect.poll(() => lines, { timeout }).toEqual(['one', 'two', 'three', 'four', 'five', 'six'])
  expect(
    asked()
      .filter((it) => it.startsWith(first))
      .at(-1),
  ).toContain('sinceTime=2026-11-21T02%3A37%3A05Z')
}, 60_000)

it('new pods are taken in from their first line, and a restart is followed with what went before it', async () => {
  const { cluster, log, open } = await world()
  const { lines } = followed(log)
  await open(2)
  await expect.poll(() => cluster.changes.listenerCount('log'), { timeout }).toBe(2)
  const pod = podNamed(cluster, first)
  cluster.remove('pods', pod)
  const next = structuredClone(pod)
  Object.assign(next.metadata, { name: 'testops-testops-8c5b7486b-fresh', uid: 'fresh' })
  for (const status of next.status.containerStatuses ?? []) status.restartCount = 1
  cluster.print(next.metadata.name, container, 'ended', { at: '2026-11-21T02:38:00.000000000Z', previous: true })
  cluster.print(next.metadata.name, container, 'begun', { at: '2026-11-21T02:38:10.000000000Z' })
  cluster.load('pods', next)
  await expect.poll(() => lines, { timeout }).toEqual(['ended', 'begun'])
  restart(cluster, next.metadata.name)
  cluster.print(next.metadata.name, container, 'again', { at: '2026-11-21T02:38:20.000000000Z' })
  await expect.poll(() => lines, { timeout }).toEqual(['ended', 'begun', 'again'])
}, 60_000)

it('a right that is missing is named, and an API server that does not answer is told of', async () => {
  const { cluster, server, log } = await world()
  const gone = followed(log)
  await expect.poll(() => cluster.changes.listenerCount('log'), { timeout }).toBe(2)
  server.instead = (_, response) =>
    void response.writeHead(500, { 'content-type': 'text/plain' }).end('etcd is not there') === undefined
  await expect.poll(() => gone.told.join(), { timeout }).toContain('etcd is not there')
  gone.stop.abort()
  expect(await gone.ended).toBe(null)
  server.instead = null
  cluster.forbidden.push({ resource: 'pods/log' })
  const error = await followed(log).ended
  expect(error).toBeInstanceOf(AdminError)
  expect(error).toMatchObject({
    code: 'FORBIDDEN',
    message: expect.stringMatching(
      new RegExp(
        String.raw`^user tester has no permission to get pods\/log ` +
          '`testops-testops-\\S+` in namespace `testops` of the cluster of context `test`$',
      ),
    ) as string,
  })
}, 60_000)
