import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openBroker } from '../../src/adapters/rabbitmq/index.ts'
import { openRunStore } from '../../src/adapters/rabbitmq/run-store.ts'
import type { CtlCommand } from '../../src/adapters/rabbitmq/ctl/program.ts'
import type { BrokerSource } from '../../src/core/sources.ts'
import { freshVhost, rabbitmqctlOf, servers } from '../servers/index.ts'
import type { FreshVhost } from '../servers/index.ts'
import { errorOf, failureOf } from './failure-of.ts'
import { fullPeer, silentPeer } from './peers.ts'

let vhost: FreshVhost
/** as the broker's cluster calls itself, which differs with the way it was started */
let cluster: string
beforeAll(async () => {
  vhost = await freshVhost('3')
  cluster = ((await vhost.manage('GET', '/api/cluster-name')) as { name: string }).name
})
afterAll(async () => vhost.cleanup())

/**
 * A broker without its management API, or with one that cannot be reached, whose `rabbitmqctl` is a shell script that
 * does this.
 */
async function opened(
  script: string,
  { timeoutMs = 5000, name = 'rabbitmqctl', managementUrl = null as string | null } = {},
): Promise<BrokerSource> {
  const folder = await mkdtemp(join(tmpdir(), 'rabbitmqctl-'))
  onTestFinished(async () => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'rabbitmqctl'), `#!/bin/sh\n${script.replaceAll('CLUSTER', cluster)}\n`)
  await chmod(join(folder, 'rabbitmqctl'), 0o755)
  const environment = { PATH: `${folder}:/usr/bin:/bin` }
  const rabbitmqctl = async (): Promise<{ command: [string]; environment: { PATH: string } }> => ({
    command: [name],
    environment,
  })
  const { source, close } = await openBroker({ ...vhost.endpoint, managementUrl }, { timeoutMs, rabbitmqctl })
  onTestFinished(close)
  return source
}

/** The cluster's name comes first or last: both are asked at the same time. */
const clusterName = 'case "$*" in *cluster_status*) echo "{\\"cluster_name\\": \\"CLUSTER\\"}"; exit;; esac'

const unreachable =
  "Error: unable to perform an operation on node 'rabbit@mq'. Please see diagnostics information and suggestions below."
const refusals: { what: string; script: string; why: string; next: string }[] = [
  {
    what: 'with another Erlang cookie',
    script:
      `echo "${unreachable}" >&2; ` + 'echo "  * TCP connection succeeded but Erlang distribution failed" >&2; exit 69',
    why: "the broker rejects `rabbitmqctl`: this user's Erlang cookie does not match",
    next: 'or set `broker.rabbitmqctl: [sudo, -n, rabbitmqctl]` in the configuration',
  },
  {
    what: 'that other users may not use',
    script: 'echo; echo "Only root or rabbitmq should run rabbitmqctl"; echo; exit 1',
    why: 'this user may not use `rabbitmqctl`',
    next: 'or set `broker.rabbitmqctl: [sudo, -n, rabbitmqctl]` in the configuration',
  },
  {
    what: 'whose node does not run',
    script: `echo "${unreachable}" >&2; exit 69`,
    why: '`rabbitmqctl` cannot reach broker rabbit@mq on this machine',
    next: 'rabbitmqctl status',
  },
  {
    what: 'of another broker',
    script: 'case "$*" in *cluster_status*) echo "{\\"cluster_name\\": \\"other\\"}";; *) echo "[]";; esac',
    why: '`rabbitmqctl` manages broker other, but the broker at ADDRESS is CLUSTER',
    next: 'set `broker.rabbitmqctl` in the configuration',
  },
  {
    what: 'that says something else',
    script: `${clusterName}\necho "Listing queues ..."`,
    why: '`rabbitmqctl list_queues` printed unexpected output',
    next: 'rabbitmqctl version',
  },
  {
    what: 'that fails',
    script: `${clusterName}\necho "Error: timeout" >&2; exit 75`,
    why: '`rabbitmqctl list_queues` exited with 75: Error: timeout',
    next: 'rabbitmqctl list_queues',
  },
]
test.each(refusals)('a rabbitmqctl $what', async ({ script, why, next }) => {
  const error = await errorOf((await opened(script)).queues())
  const { host, port } = vhost.endpoint
  const start =
    `no address is known for the management API of RabbitMQ at ${host}:${port}. rabbitmqctl cannot be used ` +
    `instead: ${why}`
  expect(
    `${error?.code} ${error?.message}`.replace(new RegExp(`at \\S+ is ${cluster}$`), 'at ADDRESS is CLUSTER'),
  ).toBe(`UNAVAILABLE ${start}`)
  expect(error?.suggestions[0]).toBe('rabbitmq-plugins enable rabbitmq_management')
  expect(error?.suggestions.at(-1)).toBe(next)
})

test('a rabbitmqctl that is not there, or takes too long', async () => {
  expect(await failureOf((await opened('', { name: 'no-such-rabbitmqctl' })).queues())).toMatch(
    new RegExp(
      String.raw`^UNAVAILABLE no address is known for .*\. rabbitmqctl cannot be used instead: ` +
        'no-such-rabbitmqctl is not installed on this machine$',
    ),
  )
  expect(await failureOf((await opened('exec sleep 30', { timeoutMs: 3000 })).queues())).toMatch(
    /^UNAVAILABLE .*: `rabbitmqctl -q .*` did not finish within 3 s$/,
  )
})

test.each([
  ['is not let through to', fullPeer, 'did not accept a connection in time'],
  ['accepts and never answers', silentPeer, 'accepted the connection but did not answer within 3 s'],
])('is asked where the management API %s, which is not waited for again', async (_, peer, why) => {
  const managementUrl = `http://127.0.0.1:${await peer()}`
  const source = await opened(`${clusterName}\necho '[]'`, { timeoutMs: 3000, managementUrl })
  expect(await source.queues()).toEqual([])
  const again = performance.now()
  expect(await source.exchanges()).toEqual([])
  expect(performance.now() - again).toBeLessThan(1100)
  expect(await failureOf((await opened('exit 1', { timeoutMs: 3000, managementUrl })).queues())).toMatch(
    new RegExp(
      `^UNAVAILABLE RabbitMQ's management API at ${managementUrl} ${why}. rabbitmqctl cannot be used instead: `,
    ),
  )
})

test('a list in an argument is not told whole', async () => {
  const queue = '{"name": "q", "arguments": [["x", "array", {"byte": 1, "longstr": "two"}]], "durable": true}'
  const source = await opened(`${clusterName}\necho '[${queue}]'`)
  expect(await failureOf(source.queues())).toMatch(
    /: rabbitmqctl cannot show all arguments of queue q: one argument is a list$/,
  )
})

test('the journals in the deployment are found by it', async () => {
  const rabbitmqctl = async (): Promise<CtlCommand> => rabbitmqctlOf(servers().rabbitmq3)
  const { source, close } = await openRunStore(
    { ...vhost.endpoint, managementUrl: null },
    { timeoutMs: 20_000, rabbitmqctl },
  )
  onTestFinished(close)
  expect(await source.list()).toEqual([])
  const run = '20261121T021244Z-unlock-changelog-0001'
  await vhost.manage('PUT', `/api/queues/${vhost.vhost}/testops-admin.run.${run}`, { durable: true })
  await vhost.manage('PUT', `/api/queues/${vhost.vhost}/${encodeURIComponent('testops-admin.run.../../$(id)')}`, {
    durable: true,
  })
  expect(await source.list()).toEqual([
    {
      run: '../../$(id)',
      unreadable: expect.stringMatching(/^this queue at .* is not named after a run$/) as string,
    },
    {
      run,
      unreadable: expect.stringMatching(
        /^queue testops-admin\.run\.2026.* at .* is empty, because the run `2026.*` stopped before it changed any/,
      ) as string,
      isEmpty: true,
    },
  ])
  for (const asking of [source.read('../../$(id)'), source.remove('../../$(id)'), source.reopen('../../$(id)')])
    expect(await failureOf(asking)).toMatch(/^USAGE `..\/..\/\$\(id\)` is not the name of a run/)
})
