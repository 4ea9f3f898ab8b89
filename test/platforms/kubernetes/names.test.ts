import { spawn } from 'node:child_process'
import { expect, it, onTestFinished } from 'vitest'
import { openKubernetes } from '../../../src/platforms/kubernetes/index.ts'
import type { ServiceSource } from '../../../src/core/sources.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import { localPrograms } from '../../kubernetes/exec.ts'
import { startCluster, told } from './cluster.ts'

async function service(prepare: (cluster: Cluster) => void): Promise<{ source: ServiceSource; asked: () => string[] }> {
  const { cluster, server, environment } = await startCluster()
  cluster.isFrozen = true
  prepare(cluster)
  const platform = await openKubernetes(
    { context: null, namespace: null, release: null },
    { timeoutMs: 10_000, environment },
  )
  onTestFinished(async () => platform.close())
  return { source: await platform.service(), asked: () => server.requests.filter((it) => it.includes('/exec')) }
}

/** An image in which a program ends so. */
const ending = (program: string, code: number) => (cluster: Cluster) =>
  void (cluster.hooks.exec = ({ command }) => (command[0] === program ? spawn('sh', ['-c', `exit ${code}`]) : null))

it('a name is asked of the resolver of a pod', async () => {
  const { source } = await service((cluster) => void (cluster.hooks.exec = localPrograms('getent')))
  expect(await source.resolve('localhost')).toBe(true)
})

it.each<[string, (cluster: Cluster) => void, boolean | null]>([
  ['getent finds none', ending('getent', 2), false],
  ['getent cannot tell', ending('getent', 1), null],
  ['there is only nslookup, which finds it', ending('nslookup', 0), true],
  ['there is only nslookup, which does not see all names', ending('nslookup', 1), null],
  ['there is neither', () => undefined, null],
])('%s', async (_, prepare, expected) => {
  const { source } = await service(prepare)
  expect(await source.resolve('jira.example.org')).toBe(expected)
})

it('no pod runs: nothing can be asked', async () => {
  const { source, asked } = await service((cluster) =>
    cluster.pods.forEach(({ status }) => (status.containerStatuses = [])),
  )
  expect([await source.resolve('jira.example.org'), asked()]).toEqual([null, []])
})

it('what is no name of a host is no word of a command', async () => {
  const { source, asked } = await service(() => undefined)
  for (const name of ['--help', '-s', '$(id)', 'a b', 'a;b', '', 'x'.repeat(300)])
    expect(await source.resolve(name)).toBe(null)
  expect(asked()).toEqual([])
})

it('a right that is missing is named', async () => {
  const { source } = await service((cluster) => void cluster.forbidden.push({ resource: 'pods/exec' }))
  expect(await told(source.resolve('jira.example.org'))).toMatchObject({
    code: 'FORBIDDEN',
    message: expect.stringMatching(
      /^user tester has no permission to create pods\/exec `testops-testops-[^`]*` in namespace `testops`/,
    ) as string,
  })
})
