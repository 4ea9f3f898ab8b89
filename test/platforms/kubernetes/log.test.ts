import { describe, expect, it, onTestFinished } from 'vitest'
import type { LogPart, LogPartsOptions } from '../../../src/core/sources.ts'
import { openKubernetes } from '../../../src/platforms/kubernetes/index.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import { startCluster, told } from './cluster.ts'

const first = 'testops-testops-8c5b7486b-5dvgm'
const second = 'testops-testops-8c5b7486b-cmngq'
const container = 'testops-testops'
const at = (second: number, text = ''): { at: string; text: string } => ({
  at: `2026-11-21T02:37:${String(second).padStart(2, '0')}.668037288Z`,
  text,
})

async function newest(prepare: (world: Cluster) => void, maxBytes = 1_000_000) {
  const { cluster, server, environment } = await startCluster()
  cluster.isFrozen = true
  prepare(cluster)
  const platform = await openKubernetes(
    { context: null, namespace: null, release: null },
    { timeoutMs: 5000, environment },
  )
  onTestFinished(async () => platform.close())
  const log = await platform.log()
  return {
    target: log.target,
    read: () => log.newest({ maxBytes }),
    parts: async (options: LogPartsOptions) => log.parts(options),
    server,
  }
}

/** What a container of a pod printed, by the second. */
function printed(
  world: Cluster,
  pod: string,
  lines: Record<number, string>,
  { previous = false, of = container } = {},
): void {
  for (const [second, text] of Object.entries(lines))
    for (const line of text.split('\n')) world.print(pod, of, line, { ...at(Number(second)), previous })
}

function restarted(world: Cluster, pod: string): void {
  const [status] = world.pods.find(({ metadata }) => metadata.name === pod)?.status.containerStatuses ?? []
  if (status) status.restartCount = 1
}

describe('the log of all pods', () => {
  it('is one text in the order of time, in which records stay whole', async () => {
    const { read, target, server } = await newest((world) => {
      restarted(world, second)
      printed(world, first, {
        10: '2026-11-21 02:37:10.000 INFO one',
        20: '2026-11-21 02:37:20.000 ERROR three\njava.lang.X: no\n\tat a.b',
        40: '2026-11-21 02:37:40.000 INFO five',
      })
      printed(world, second, { 5: 'Fatal glibc error: CPU does not support x86-64-v3' }, { previous: true })
      printed(world, second, { 15: '2026-11-21T02:37:15.000Z INFO two', 20: '2026-11-21 02:37:21.000 INFO four' })
    })
    expect(target).toBe(`kubectl --context test -n testops logs deployment/testops-testops -c ${container} --tail=200`)
    expect(await read()).toEqual({
      complete: true,
      text: [
        'Fatal glibc error: CPU does not support x86-64-v3',
        '2026-11-21 02:37:10.000 INFO one',
        '2026-11-21T02:37:15.000Z INFO two',
        '2026-11-21 02:37:20.000 ERROR three',
        'java.lang.X: no',
        '\tat a.b',
        '2026-11-21 02:37:21.000 INFO four',
        '2026-11-21 02:37:40.000 INFO five',
        '',
      ].join('\n'),
    })
    const asked = server.requests.filter((it) => it.includes('/log'))
    expect(asked.map((it) => it.replace(/.*pods\//, ''))).toEqual([
      `${first}/log?container=${container}&timestamps=true&tailLines=50000`,
      `${second}/log?container=${container}&timestamps=true&tailLines=50000&previous=true`,
      `${second}/log?container=${container}&timestamps=true&tailLines=50000`,
    ])
  })

  it('is cut to the newest whole records', async () => {
    const { read } = await newest((world) => {
      printed(world, first, { 10: '2026-11-21 02:37:10.000 INFO one', 30: '2026-11-21 02:37:30.000 INFO three' })
      printed(world, second, { 20: '2026-11-21 02:37:20.000 ERROR two\nmore' })
    }, 80)
    expect(await read()).toEqual({
      complete: false,
      text: '2026-11-21 02:37:20.000 ERROR two\nmore\n2026-11-21 02:37:30.000 INFO three\n',
    })
  })

  it('is cut where each line is an object of JSON, too', async () => {
    const { read } = await newest(
      (world) =>
        printed(world, first, {
          10: '{"time":"2026-11-21T02:37:10Z","message":"one"}',
          20: '{"time":"2026-11-21T02:37:20Z","message":"two"}',
        }),
      80,
    )
    expect(await read()).toEqual({ complete: false, text: '{"time":"2026-11-21T02:37:20Z","message":"two"}\n' })
  })

  it('is that of the containers before, as long as they keep the service from starting', async () => {
    const { read } = await newest((world) => {
      for (const pod of world.pods.filter(({ metadata }) => metadata.name === first)) {
        pod.spec.initContainers = [{ name: 'db-readiness-check', image: 'postgres:15' }]
        for (const it of pod.status.containerStatuses ?? []) it.state = { waiting: { reason: 'PodInitializing' } }
      }
      printed(world, first, { 10: 'waiting for database' }, { of: 'db-readiness-check' })
    })
    expect(await read()).toEqual({ complete: true, text: 'waiting for database\n' })
  })

  it('is empty where nothing was printed, or all pods have gone', async () => {
    expect(await (await newest(() => undefined)).read()).toEqual({ complete: true, text: '' })
    expect(await (await newest((world) => world.pods.forEach((pod) => world.remove('pods', pod)))).read()).toEqual({
      complete: true,
      text: '',
    })
  })

  it('is that of the pods whose kubelets are reached, and names the others', async () => {
    const hide =
      (...names: string[]) =>
      (world: Cluster): void => {
        restarted(world, second)
        printed(world, first, { 10: '2026-11-21 02:37:10.000 INFO one' })
        printed(world, second, { 5: 'before' }, { previous: true })
        world.hooks.reached = (_, { metadata }) => !names.includes(metadata.name)
      }
    const { read } = await newest(hide(second))
    const { unread = [], ...rest } = await read()
    expect(rest).toEqual({ complete: true, text: '2026-11-21 02:37:10.000 INFO one\n' })
    const node = 'gpu-1'
    const message = expect.stringMatching(
      new RegExp(
        `^the cluster of context \`test\` reports pod \`${second}\` as Ready, but cannot get the pod's log ` +
          `from the kubelet \\(node \`${node}\`\\): .*connection refused$`,
      ),
    ) as string
    const crictl =
      `crictl logs "$(crictl ps --quiet --name ${container} --label io.kubernetes.pod.name=${second})"   # on ` +
      `${node}, as root`
    expect(
      unread.map(
        ({
          name,
          error: {
            message: said,
            suggestions: [command],
          },
        }) => ({ name, said, command }),
      ),
    ).toEqual([{ name: second, said: message, command: crictl }])
    const none = await newest(hide(first, second))
    expect(await told(none.read())).toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringContaining(`reports pod \`${first}\` as Ready`) as string,
    })
  })

  it('names the right that is missing', async () => {
    const { read } = await newest((world) => void world.forbidden.push({ resource: 'pods/log' }))
    expect(await told(read())).toEqual({
      code: 'FORBIDDEN',
      message:
        `user tester has no permission to get pods/log \`${first}\` in namespace \`testops\` of the cluster of ` +
        `context \`test\``,
      suggestions: [`kubectl --context test auth can-i get pods/${first} --subresource=log -n testops`],
    })
  })
})

describe('all of the log', () => {
  const readAll = async (part: LogPart): Promise<string> => {
    const all: Uint8Array[] = []
    for await (const block of part.blocks()) all.push(block)
    return Buffer.concat(all).toString()
  }

  it('is a stream for each container and for the run before it, as it was printed, and when', async () => {
    const { parts, server } = await newest((world) => {
      restarted(world, second)
      printed(world, first, { 10: 'one\n  two' })
      printed(world, second, { 5: 'Fatal glibc error: CPU does not support x86-64-v3' }, { previous: true })
      printed(world, second, { 15: 'three' })
    })
    const all = await parts({ since: new Date('2026-11-21T02:37:00.900Z') })
    expect(all.map(({ name }) => name)).toEqual([first, `${second} (previous run)`, second])
    expect(await Promise.all(all.map(readAll))).toEqual([
      `${at(10).at} one\n${at(10).at}   two\n`,
      `${at(5).at} Fatal glibc error: CPU does not support x86-64-v3\n`,
      `${at(15).at} three\n`,
    ])
    expect(
      server.requests
        .filter((it) => it.includes(`${second}/log`))
        .map((it) => it.replace(/.*pods\//, ''))
        .sort(),
    ).toEqual([
      `${second}/log?container=${container}&timestamps=true&sinceTime=2026-11-21T02%3A37%3A00Z`,
      `${second}/log?container=${container}&timestamps=true&sinceTime=2026-11-21T02%3A37%3A00Z&previous=true`,
    ])
  })

  it('is that of the containers before it, too, and nothing where a pod has gone meanwhile', async () => {
    const clusters: Cluster[] = []
    const { parts } = await newest((world) => {
      clusters.push(world)
      for (const pod of world.pods.filter(({ metadata }) => metadata.name === first)) {
        pod.spec.initContainers = [{ name: 'db-readiness-check', image: 'postgres:15' }]
        for (const it of pod.status.containerStatuses ?? []) it.state = { waiting: { reason: 'PodInitializing' } }
      }
      printed(world, first, { 10: 'waiting for database' }, { of: 'db-readiness-check' })
      printed(world, second, { 10: 'one' })
    })
    const all = await parts({})
    expect(all.map(({ name }) => name)).toEqual([`${first}/db-readiness-check`, first, second])
    for (const world of clusters) world.remove('pods', world.pods.find(({ metadata }) => metadata.name === second)!)
    expect(await Promise.all(all.map(readAll))).toEqual([`${at(10).at} waiting for database\n`, '', ''])
  })

  it('a right that is missing is named by the part it is missing for', async () => {
    const { parts } = await newest((world) => void world.forbidden.push({ resource: 'pods/log' }))
    const [part] = await parts({})
    expect(await told(readAll(part!))).toMatchObject({
      code: 'FORBIDDEN',
      message:
        `user tester has no permission to get pods/log \`${first}\` in namespace \`testops\` of the cluster of ` +
        `context \`test\``,
    })
  })
})
