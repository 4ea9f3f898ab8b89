import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { kubeconfigFor } from '../../kubernetes/passing-kubeconfig.ts'
import type { Stored } from '../../kubernetes/resources.ts'
import { clientFor, startCluster, told } from './cluster.ts'

const deployment = { resource: 'deployments', namespace: 'testops', name: 'testops-testops' } as const
const whole = 'kubectl --context test'

describe('the API of a cluster', () => {
  it('is read, all pages of a list', async () => {
    const { server, environment } = await startCluster()
    for (let count = 0; count < 1200; count++)
      server.cluster.load('configmaps', {
        metadata: { name: `settings-${String(count).padStart(4, '0')}`, namespace: 'testops' },
      })
    const client = await clientFor(environment)
    expect((await client.get<Stored>(deployment)).metadata.name).toBe('testops-testops')
    const all = await client.list<Stored>({ resource: 'configmaps', namespace: 'testops' })
    expect([all.length, new Set(all.map(({ metadata }) => metadata.name)).size]).toEqual([1200, 1200])
  })

  it('is changed in every way', async () => {
    const { environment } = await startCluster()
    const client = await clientFor(environment)
    const lease = { resource: 'leases', namespace: 'testops', name: 'mine' } as const
    const created = await client.change<Stored>(
      { resource: 'leases', namespace: 'testops' },
      { verb: 'create', body: { metadata: { name: 'mine' }, spec: { holderIdentity: 'a' } } },
    )
    await client.change(lease, { verb: 'patch', kind: 'merge', body: { spec: { holderIdentity: 'b' } } })
    expect(await told(client.change(lease, { verb: 'update', body: created }))).toEqual({
      code: 'REFUSED',
      message:
        'leases `mine` in namespace `testops` of the cluster of context `test` has changed: Operation cannot ' +
        'be fulfilled on leases.coordination.k8s.io "mine": the object has been modified; please apply your ' +
        'changes to the latest version and try again',
      suggestions: [`${whole} get leases.coordination.k8s.io mine -n testops -o yaml`],
    })
    expect((await client.get<Stored>(lease))['spec']).toEqual({ holderIdentity: 'b' })
    await client.change(lease, { verb: 'delete' })
    expect(await told(client.get(lease))).toEqual({
      code: 'UNAVAILABLE',
      message: 'the cluster of context `test` has no leases `mine` in namespace `testops`',
      suggestions: [`${whole} get leases.coordination.k8s.io -n testops`],
    })
  })

  it('is watched until the signal ends it', async () => {
    const { cluster, environment } = await startCluster()
    const client = await clientFor(environment)
    const stop = new AbortController()
    const seen: string[] = []
    const done = (async () => {
      for await (const { type, object } of client.watch<Stored>(
        { resource: 'leases', namespace: 'testops' },
        stop.signal,
      )) {
        seen.push(`${type} ${object.metadata.name}`)
        if (type === 'DELETED') stop.abort()
      }
    })().catch(() => 'ended')
    await expect.poll(() => cluster.changes.listenerCount('change')).toBe(1)
    cluster.create('leases', { metadata: { name: 'mine', namespace: 'testops' } })
    cluster.delete('leases', 'testops', 'mine')
    await done
    expect(seen).toEqual(['ADDED mine', 'DELETED mine'])
    await expect.poll(() => cluster.changes.listenerCount('change')).toBe(0)
  })

  it('gives the newest of a text, whole lines', async () => {
    const { cluster, environment } = await startCluster()
    const client = await clientFor(environment)
    const [pod] = cluster.pods
    const name = pod?.metadata.name ?? ''
    for (let line = 0; line < 50_000; line++) cluster.print(name, 'testops-testops', `line ${line}`)
    const log = { resource: 'pods', namespace: 'testops', name, subresource: 'log' } as const
    expect(await client.text(log, { maxBytes: 30 })).toEqual({ complete: false, text: 'line 49998\nline 49999\n' })
    const all = await client.text(log, { maxBytes: 10_000_000 })
    expect([all.complete, all.text.split('\n').length]).toEqual([true, 50_001])
  })

  it('says what this user may do', async () => {
    const { cluster, environment } = await startCluster()
    cluster.forbidden.push({ verb: 'patch', resource: 'deployments/scale' })
    const client = await clientFor(environment)
    expect([
      await client.may('patch', { ...deployment, subresource: 'scale' }),
      await client.may('get', deployment),
    ]).toEqual([false, true])
  })
})

describe('a refusal', () => {
  it.each([
    [
      'of an object',
      'user tester has no permission to get secrets `testops-testops` in namespace `testops` of the cluster of ' +
        'context `test`',
      `${whole} auth can-i get secrets/testops-testops -n testops`,
      { resource: 'secrets', namespace: 'testops', name: 'testops-testops' } as const,
    ],
    [
      'of a part of one',
      'user tester has no permission to get pods/log `one` in namespace `testops` of the cluster of context `test`',
      `${whole} auth can-i get pods/one --subresource=log -n testops`,
      { resource: 'pods', namespace: 'testops', name: 'one', subresource: 'log' } as const,
    ],
  ])('%s names verb, resource and namespace', async (_, message, command, asked) => {
    const { cluster, environment } = await startCluster()
    cluster.forbidden.push({ resource: 'secrets' }, { resource: 'pods/log' })
    const client = await clientFor(environment)
    expect(await told(client.get(asked))).toEqual({ code: 'FORBIDDEN', message, suggestions: [command] })
  })

  it('of all namespaces', async () => {
    const { cluster, environment } = await startCluster()
    cluster.forbidden.push({ verb: 'list', resource: 'deployments', namespace: null })
    const client = await clientFor(environment)
    expect(await told(client.list({ resource: 'deployments', namespace: null }))).toEqual({
      code: 'FORBIDDEN',
      message: 'user tester has no permission to list deployments in all namespaces of the cluster of context `test`',
      suggestions: [`${whole} auth can-i list deployments.apps --all-namespaces`],
    })
  })

  it('of credentials that have expired', async () => {
    const { cluster, environment } = await startCluster()
    cluster.users.clear()
    const client = await clientFor(environment)
    expect(await told(client.get(deployment))).toEqual({
      code: 'UNAUTHENTICATED',
      message: 'the cluster of context `test` rejects the credentials of user `test-user`: they are wrong or expired',
      suggestions: [`${whole} auth whoami`],
    })
  })

  it('of a patch that makes no object', async () => {
    const { environment } = await startCluster()
    const client = await clientFor(environment)
    expect(
      await told(client.change(deployment, { verb: 'patch', kind: 'strategic', body: { spec: { replicas: 'two' } } })),
    ).toEqual({
      code: 'UNEXPECTED_ANSWER',
      message:
        'the cluster of context `test` refuses to patch deployments `testops-testops` in namespace `testops` ' +
        '(HTTP 422): "" is invalid: patch: Invalid value: "map[spec:map[replicas:two]]": unrecognized type: ' +
        'int32',
      suggestions: [`${whole} get deployments.apps testops-testops -n testops -o yaml`],
    })
  })
})

describe('something else in its place', () => {
  const proxy = 'env | cut -d= -f1 | grep -i proxy   # lists the variables that set a proxy'

  it.each([
    ['a page of a proxy', 403, 'text/html', '<html><body>Blocked</body></html>', 'with a web page (HTTP 403)'],
    ['a page that says all is well', 200, 'text/html', '<!doctype html>\n<p>Sign in</p>', 'with a web page (HTTP 200)'],
    ['JSON of something else', 200, 'application/json', '[]', 'with `[]` (HTTP 200)'],
    ['nothing', 502, 'text/plain', '', 'with nothing (HTTP 502)'],
  ])('is told: %s', async (_, status, type, body, how) => {
    const { server, environment } = await startCluster()
    server.instead = (_request, response) => {
      response.writeHead(status, { 'content-type': type }).end(body)
      return true
    }
    const client = await clientFor(environment)
    expect(await told(client.get(deployment))).toEqual({
      code: 'UNEXPECTED_ANSWER',
      message: `http://SERVER answers ${how}: it is not a Kubernetes API server, or a proxy answers in its place`,
      suggestions: [`${whole} version`, proxy],
    })
  })

  it('hangs, before its answer and within it', async () => {
    const { server, environment } = await startCluster()
    const client = await clientFor(environment, { timeoutMs: 300 })
    server.instead = () => true
    const late = {
      code: 'TIMED_OUT',
      message: 'Kubernetes at http://SERVER accepted the connection but did not answer within 0.3 s',
      suggestions: [`${whole} version`],
    }
    expect(await told(client.get(deployment))).toEqual(late)
    server.instead = (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"kind":')
    expect(await told(client.get(deployment))).toEqual(late)
  })

  it('ends in the middle of an answer', async () => {
    const { server, environment } = await startCluster()
    server.instead = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"kind":')
      setTimeout(() => response.destroy(), 20)
      return true
    }
    const client = await clientFor(environment)
    expect(await told(client.get(deployment))).toEqual({
      code: 'UNREACHABLE',
      message: 'Kubernetes at http://SERVER closed the connection',
      suggestions: [`${whole} version`],
    })
  })

  it('listens no more', async () => {
    const free = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => free.once('listening', resolve))
    const { port } = free.address() as AddressInfo
    await new Promise((resolve) => free.close(resolve))
    const client = await clientFor({ KUBECONFIG: await kubeconfigFor(`http://127.0.0.1:${port}`) })
    expect(await told(client.get(deployment))).toEqual({
      code: 'UNREACHABLE',
      message: 'Kubernetes at http://SERVER refused the connection: nothing listens on SERVER',
      suggestions: [`${whole} version`],
    })
  })
})

it('ends a question that is interrupted', async () => {
  const { server, environment } = await startCluster()
  server.instead = () => true
  const stop = new AbortController()
  const { openClient } = await import('../../../src/platforms/kubernetes/client.ts')
  const client = await openClient({ context: null }, { timeoutMs: 5000, environment, signal: stop.signal })
  onTestFinished(() => client.close())
  const asked = told(client.get(deployment))
  setTimeout(() => stop.abort(), 50)
  expect(await asked).toEqual({ code: 'INTERRUPTED', message: 'interrupted', suggestions: [] })
})
