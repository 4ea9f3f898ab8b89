import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { HostPort } from '../../../src/core/endpoint.ts'
import { openClient } from '../../../src/platforms/kubernetes/client.ts'
import type { KubernetesClient } from '../../../src/platforms/kubernetes/client.ts'
import { clusterNames, reachFrom } from '../../../src/platforms/kubernetes/reach.ts'
import { errorOf, failureOf } from '../../adapters/failure-of.ts'
import { closedPort, listen } from '../../adapters/peers.ts'
import { recordedCluster } from '../../kubernetes/cluster.ts'
import { kubeconfigFor } from '../../kubernetes/passing-kubeconfig.ts'
import type { Pod, Stored } from '../../kubernetes/resources.ts'
import { startApiServer } from '../../kubernetes/server.ts'
import type { ApiServer } from '../../kubernetes/server.ts'
import { forwardPorts } from '../../kubernetes/streams.ts'

let server: ApiServer
let client: KubernetesClient
/** pod:port of each connection that was forwarded */
let forwarded: string[]

beforeEach(async () => {
  server = await startApiServer(recordedCluster())
  server.cluster.settle()
  await expect.poll(isBrokerReady).toBe(true)
  client = await openClient(
    { context: null },
    { timeoutMs: 2000, environment: { KUBECONFIG: await kubeconfigFor(server.url) } },
  )
  forwarded = []
  const port = await listen((socket) => socket.pipe(socket))
  server.upgrade = (asked, request, socket, head) =>
    forwardPorts(request, socket, head, {
      connect(wanted) {
        forwarded.push(`${asked.name}:${wanted}`)
        return connect(port, '127.0.0.1')
      },
    })
})
afterEach(async () => {
  client.close()
  await server.close()
})

const isBrokerReady = (): boolean =>
  server.cluster.pods.some(
    ({ metadata, status }) =>
      metadata.name.startsWith('testops-rabbitmq') &&
      status.conditions.some(({ type, status: it }) => type === 'Ready' && it === 'True'),
  )

const resolve = async (): Promise<string[]> => []

async function reach(
  host: string,
  port: number,
  of: { resolve?: (host: string) => Promise<string[]> } = {},
): Promise<{ at: HostPort; command: string | null } | null> {
  const way = await reachFrom(client, 'testops', { host, port }, { timeoutMs: 2000, resolve, ...of })
  if (way === null) return null
  onTestFinished(way.close)
  const { command, ...at } = way.source
  return { at, command }
}

async function echoed(at: HostPort, text: string): Promise<string> {
  const socket: Socket = connect(at)
  onTestFinished(() => void socket.destroy())
  socket.write(text)
  return String(await once(socket, 'data'))
}

function podOf(service: string): Pod {
  const found = server.cluster.pods.find(({ metadata }) => metadata.name.startsWith(service))
  if (!found) throw new Error(`no pod of ${service}`)
  return found
}

function put(plural: string, name: string, of: Omit<Stored, 'metadata'>, namespace = 'testops'): void {
  server.cluster.load(plural, { metadata: { name, namespace }, ...of })
}

test.each([
  { host: 'testops-rabbitmq', command: 'service/testops-rabbitmq 15672', asked: 15672, to: 15672 },
  { host: 'testops-rabbitmq.testops', command: 'service/testops-rabbitmq 15672', asked: 15672, to: 15672 },
  {
    host: 'testops-rabbitmq.testops.svc.cluster.local.',
    command: 'service/testops-rabbitmq 5672',
    asked: 5672,
    to: 5672,
  },
  { host: 'testops-testops', command: 'service/testops-testops 8080', asked: 8080, to: 8080 },
  // a port that the service does not name may be the pod's all the same
  { host: 'testops-rabbitmq', command: 'POD 15692', asked: 15692, to: 15692 },
])('$host:$asked is forwarded to a ready pod', async ({ host, command, asked, to }) => {
  const service = host.split('.')[0]!
  const pod = podOf(service)
  const way = await reach(host, asked)
  const shown = command.replace('POD', `pod/${pod.metadata.name}`)
  expect(way?.command).toBe(
    `kubectl --context test -n testops port-forward ${shown}   # then use 127.0.0.1 instead of ${host}`,
  )
  expect(await echoed(way!.at, 'hello')).toBe('hello')
  const chosen = server.cluster.pods
    .filter(({ metadata }) => metadata.name.startsWith(service))
    .map(({ metadata }) => `${metadata.name}:${to}`)
  expect(chosen).toContain(forwarded[0])
})

test('a port of another number in the pod', async () => {
  put('services', 'web', {
    spec: { selector: { app: 'testops-testops' }, clusterIP: '10.0.0.1', ports: [{ port: 80, targetPort: 'http' }] },
  })
  await reach('web', 80)
  expect(forwarded.map((it) => it.split(':')[1])).toEqual(['8080'])
})

test('a headless service leads to its pods, and to each by name', async () => {
  put('services', 'mq', {
    spec: {
      selector: { 'app.kubernetes.io/name': 'rabbitmq', 'app.kubernetes.io/instance': 'testops' },
      clusterIP: 'None',
      ports: [{ port: 5672, targetPort: 1 }],
    },
  })
  const { name } = podOf('testops-rabbitmq').metadata
  await reach('mq', 5672)
  await reach(`${name}.mq`, 4369)
  await reach(`${name}.mq.testops.svc`, 5672)
  expect(forwarded).toEqual([`${name}:5672`, `${name}:4369`, `${name}:5672`])
  expect(await failureOf(reach('mq-9.mq.testops.svc', 5672))).toBe(
    'UNAVAILABLE pod `mq-9` of service `mq` in namespace `testops` does not exist',
  )
})

test('after the pod was replaced, a new connection goes to the new one', async () => {
  const way = await reach('testops-rabbitmq', 5672)
  await echoed(way!.at, 'a')
  const before = podOf('testops-rabbitmq').metadata
  server.cluster.remove('pods', podOf('testops-rabbitmq'))
  await expect.poll(isBrokerReady).toBe(true)
  expect(podOf('testops-rabbitmq').metadata.uid).not.toBe(before.uid)
  expect(await echoed(way!.at, 'b')).toBe('b')
  expect(forwarded.length).toBe(2)
})

describe('what is used as it is', () => {
  test.each(['db.example.org', 'a.b', 'Not_A_Name'])('%s is no name of the cluster', async (host) => {
    expect(await reach(host, 5432)).toBe(null)
    expect(forwarded).toEqual([])
  })

  test('an ExternalName', async () => {
    put('services', 'db', { spec: { type: 'ExternalName', externalName: 'db.example.org' } })
    expect(await reach('db', 5432)).toEqual({ at: { host: 'db.example.org', port: 5432 }, command: null })
  })

  test('an ExternalName of another service of the cluster', async () => {
    put('services', 'alias', {
      spec: { type: 'ExternalName', externalName: 'testops-rabbitmq.testops.svc.cluster.local' },
    })
    expect((await reach('alias', 5672))?.at.host).toBe('127.0.0.1')
  })

  test('endpoints written by hand', async () => {
    put('services', 'db', { spec: { clusterIP: '10.0.0.3', ports: [{ name: 'pg', port: 5432, targetPort: 5433 }] } })
    put('endpoints', 'db', { subsets: [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ name: 'pg', port: 5433 }] }] })
    expect(await reach('db', 5432)).toEqual({ at: { host: '192.0.2.7', port: 5433 }, command: null })
    put('endpoints', 'db', { subsets: [] })
    expect(await failureOf(reach('db', 5432))).toBe(
      'UNAVAILABLE service `db` in namespace `testops` has no ready endpoint',
    )
  })

  test('a name that leads here where it leads in the cluster, and is in reach', async () => {
    const port = await listen((socket) => socket.pipe(socket))
    put('services', 'db', { spec: { clusterIP: '127.0.0.1', selector: { app: 'testops-testops' }, ports: [{ port }] } })
    const here = async (): Promise<string[]> => ['127.0.0.1']
    expect(await reach('db', port, { resolve: here })).toBe(null)
    put('services', 'db', {
      spec: { clusterIP: '127.0.0.1', selector: { app: 'testops-testops' }, ports: [{ port: await closedPort() }] },
    })
    expect((await reach('db', await closedPort(), { resolve: here }))?.at.host).toBe('127.0.0.1')
  })

  test('never another server of that name', async () => {
    const port = await listen((socket) => socket.end('wrong'))
    put('services', 'db', { spec: { clusterIP: '10.0.0.3', selector: { app: 'testops-testops' }, ports: [{ port }] } })
    const way = await reach('db', port, { resolve: async () => ['127.0.0.1'] })
    expect(await echoed(way!.at, 'right')).toBe('right')
  })
})

test.each([
  { host: 'unknown', service: 'unknown', namespace: 'testops' },
  { host: 'db.other.svc.cluster.local', service: 'db', namespace: 'other' },
])(
  "$host is a name of the cluster's that it does not have, and is looked up nowhere else",
  async ({ host, service, namespace }) => {
    const error = await errorOf(reach(host, 5432, { resolve: async () => ['127.0.0.1'] }))
    expect([error?.code, error?.message, error?.suggestions, error?.obstacle]).toEqual([
      'UNAVAILABLE',
      `the service uses ${host}:5432, a name inside the cluster. But namespace \`${namespace}\` of the cluster ` +
        `of context \`test\` has no Service \`${service}\``,
      [
        `kubectl --context test -n ${namespace} get services`,
        'in the configuration, set a server address that this machine can reach',
      ],
      { kind: 'unresolved', host, port: 5432 },
    ])
  },
)

test('an address of a pod is forwarded, another is used as it is', async () => {
  const pod = podOf('testops-rabbitmq')
  server.cluster.update('pods', pod, (it) => void ((it as Pod).status['podIP'] = '10.1.2.3'))
  expect((await reach('10.1.2.3', 6379))?.command).toBe(
    `kubectl --context test -n testops port-forward pod/${pod.metadata.name} 6379   # then use 127.0.0.1 ` +
      'instead of 10.1.2.3',
  )
  expect(await reach('10.1.2.4', 6379)).toBe(null)
})

test('a service without a ready pod', async () => {
  const pod = podOf('testops-rabbitmq')
  server.cluster.update('pods', pod, (it) => {
    const { status } = it as Pod
    status.conditions = status.conditions.map((condition) =>
      condition.type === 'Ready' ? { ...condition, status: 'False' } : condition,
    )
  })
  const error = await errorOf(reach('testops-rabbitmq', 5672))
  expect([error?.code, error?.message, error?.suggestions]).toEqual([
    'UNAVAILABLE',
    'service `testops-rabbitmq` in namespace `testops` has one pod, which is not ready',
    ['get', 'describe'].map(
      (verb) =>
        `kubectl --context test -n testops ${verb} pods -l ` +
        'app.kubernetes.io/instance=testops,app.kubernetes.io/name=rabbitmq',
    ),
  ])
})

test.each([
  {
    resource: 'services',
    verb: 'get',
    failure: /^FORBIDDEN user tester has no permission to get services `testops-rabbitmq` in namespace `testops` of /,
  },
  {
    resource: 'pods',
    verb: 'list',
    failure: /^FORBIDDEN user tester has no permission to list pods in namespace `testops` of /,
  },
  {
    resource: 'pods/portforward',
    verb: 'create',
    failure: new RegExp(
      String.raw`^FORBIDDEN user tester has no permission to create pods\/portforward ` +
        '`testops-rabbitmq-\\S+` in namespace `testops` of ',
    ),
  },
])('a missing right is named: $verb $resource', async ({ resource, verb, failure }) => {
  server.cluster.forbidden.push({ resource, verb })
  expect(await failureOf(reach('testops-rabbitmq', 5672))).toMatch(failure)
})

const node = (name: string): Stored => server.cluster.get('nodes', null, name)
const lose = (name: string): void =>
  server.cluster.update('nodes', node(name), (it) => {
    for (const condition of (it['status'] as { conditions: { type: string; status: string }[] }).conditions)
      if (condition.type === 'Ready') condition.status = 'Unknown'
  })

test.each([
  [
    'the kubelet is not reached',
    () => void server.cluster.hiddenNodes.add(nodeOf()),
    'error dialing backend: dial tcp 10.99.0.1:10251: connect: connection refused',
  ],
  [
    'a proxy lets no stream through',
    () => answerStreams(502, '<html>Bad Gateway</html>', 'text/html'),
    'with a web page (HTTP 502)',
  ],
  [
    'a proxy takes the upgrade away',
    () =>
      answerStreams(
        400,
        JSON.stringify({
          kind: 'Status',
          status: 'Failure',
          message: 'Upgrade request required',
          reason: 'BadRequest',
          code: 400,
        }),
      ),
    'Upgrade request required',
  ],
  [
    'the kubelet has no such address',
    () =>
      answerStreams(
        404,
        JSON.stringify({ kind: 'Status', status: 'Failure', message: '404 page not found', code: 404 }),
      ),
    'has no pods/portforward',
  ],
])('where %s, a pod that is called Ready was not looked at', async (_, hide, why) => {
  hide()
  const error = await errorOf(reach('testops-rabbitmq', 5672))
  expect([error?.code, error?.obstacle, error?.suggestions[0]]).toEqual([
    'UNREACHABLE',
    { kind: 'beyond' },
    'testops-admin doctor -d {deployment} --relay   # connects through the cluster. Repairs, resume and undo ' +
      'also accept --relay',
  ])
  expect(error?.message).toMatch(
    new RegExp(
      '^the cluster of context `test` reports pod ' +
        '`testops-rabbitmq-\\S+` as Ready, but this machine cannot connect to the pod \\(node `\\S+`\\): ',
    ),
  )
  expect(error?.message).toContain(why)
  // who may see nodes sees that this one is lost
  lose(nodeOf())
  const lost = await errorOf(reach('testops-rabbitmq', 5672))
  expect([lost?.code, lost?.obstacle, lost?.suggestions]).toEqual([
    'UNAVAILABLE',
    { kind: 'instances' },
    [`kubectl --context test describe node ${nodeOf()}`],
  ])
  server.cluster.forbidden.push({ resource: 'nodes' })
  expect((await errorOf(reach('testops-rabbitmq', 5672)))?.obstacle).toEqual({ kind: 'beyond' })
})

const nodeOf = (): string => podOf('testops-rabbitmq').spec.nodeName!
const answerStreams = (status: number, body: string, type = 'application/json'): void => {
  server.upgrade = (_asked, _request, socket) =>
    socket.end(
      `HTTP/1.1 ${status} No\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\nconnection: ` +
        `close\r\n\r\n${body}`,
    )
}

test.each([401, 429, 500, 503])(
  'an API server that answers with %i says nothing of what is behind it',
  async (status) => {
    server.instead = (_, response) =>
      void response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ kind: 'Status', status: 'Failure', message: 'no', code: status })) === undefined
    expect((await errorOf(reach('testops-rabbitmq', 5672)))?.obstacle).toEqual({ kind: 'beyond' })
  },
)

test('other namespaces that may not be looked at hide no name outside the cluster', async () => {
  server.cluster.forbidden.push({ resource: 'services', namespace: 'internal' })
  expect(await reach('db.internal', 5432)).toBe(null)
})

test('an API server that has gone', async () => {
  await server.close()
  expect(await failureOf(reach('testops-rabbitmq', 5672))).toMatch(
    /^UNREACHABLE Kubernetes at http:\/\/127\.0\.0\.1:\d+ refused the connection/,
  )
  expect((await errorOf(reach('testops-rabbitmq', 5672)))?.obstacle).toEqual({ kind: 'beyond' })
})

test.each([
  { host: 'db', names: ['db testops - sure'] },
  { host: 'DB.other', names: ['db other - maybe', 'other testops db maybe'] },
  { host: 'db.other.svc', names: ['db other - sure'] },
  { host: 'db-0.db.other.svc.cluster.local', names: ['db other db-0 sure'] },
  { host: 'svc', names: ['svc testops - sure'] },
  { host: 'db.example.org', names: [] },
  { host: '', names: [] },
  { host: 'localhost', names: [] },
  { host: '/var/run/postgresql', names: [] },
])('what $host may mean', ({ host, names }) => {
  expect(
    clusterNames(host, 'testops').map(
      (it) => `${it.service} ${it.namespace} ${it.pod ?? '-'} ${it.isCertain ? 'sure' : 'maybe'}`,
    ),
  ).toEqual(names)
})
