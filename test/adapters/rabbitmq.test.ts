import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openBroker } from '../../src/adapters/rabbitmq/index.ts'
import type { BrokerEndpoint } from '../../src/core/endpoint.ts'
import type { AdminError } from '../../src/core/error.ts'
import { Secret } from '../../src/core/secret.ts'
import type { BrokerSource } from '../../src/core/sources.ts'
import { freshVhost } from '../servers/index.ts'
import type { FreshVhost } from '../servers/index.ts'
import { errorOf, failureOf } from './failure-of.ts'
import { closedPort, cuttableProxy, foreignPeer, listen, silentPeer } from './peers.ts'

const timeoutMs = 5000

let vhost: FreshVhost
beforeAll(async () => {
  vhost = await freshVhost('3')
})
afterAll(async () => vhost.cleanup())

async function opened(of: Partial<BrokerEndpoint> = {}, options = { timeoutMs }): Promise<BrokerSource> {
  const { source, close } = await openBroker({ ...vhost.endpoint, ...of }, options)
  onTestFinished(close)
  return source
}

describe('signing in', () => {
  const refusal = async (of: Partial<BrokerEndpoint>): Promise<AdminError | null> =>
    errorOf(openBroker({ ...vhost.endpoint, ...of }, { timeoutMs }))
  const at = (): string => `RabbitMQ at ${vhost.endpoint.host}:${vhost.endpoint.port}`

  test.each([new Secret('wrong-password'), null])('with another password: %s', async (password) => {
    const failure = await refusal({ password })
    expect(`${failure?.code} ${failure?.message}`).toBe(
      `UNAUTHENTICATED ${at()} rejects user ${vhost.endpoint.user} or this user's password`,
    )
    expect(JSON.stringify(failure)).not.toContain('wrong-password')
  })

  test('to a vhost that is not there', async () => {
    const failure = await refusal({ vhost: 'no/such vhost' })
    expect(`${failure?.code} ${failure?.message}`).toBe(
      `FORBIDDEN ${at()} does not let user ${vhost.endpoint.user} open vhost no/such vhost. The vhost or the ` +
        'permission is missing, or a connection limit has been reached',
    )
    expect(failure?.suggestions).toEqual([
      'rabbitmqctl list_vhosts',
      "rabbitmqctl list_permissions -p 'no/such vhost'",
      "rabbitmqctl list_vhost_limits -p 'no/such vhost'",
    ])
  })

  test('to a vhost that takes no more connections', async () => {
    const full = await freshVhost('3')
    onTestFinished(async () => full.cleanup())
    await full.manage('PUT', `/api/vhost-limits/${full.vhost}/max-connections`, { value: 0 })
    const { user, password } = full.endpoint
    expect((await refusal({ vhost: full.vhost, user, password }))?.message).toMatch(
      /or a connection limit has been reached$/,
    )
  })

  test('to a vhost of others', async () => {
    const other = await freshVhost('3')
    onTestFinished(async () => other.cleanup())
    expect((await refusal({ vhost: other.vhost }))?.code).toBe('FORBIDDEN')
  })

  test('encrypted, where the port speaks plain AMQP', async () => {
    const failure = await refusal({ tls: { mode: 'require', ca: null } })
    expect(`${failure?.code} ${failure?.message}`).toBe(
      `UNEXPECTED_ANSWER ${at()}, vhost ${vhost.vhost} answered in plain text instead of TLS`,
    )
  })

  test('where the broker goes down in the middle', async () => {
    const port = await listen((socket) => {
      const broker = connect({ host: vhost.endpoint.host, port: vhost.endpoint.port })
      socket.pipe(broker)
      broker.once('data', () => {
        socket.destroy()
        broker.destroy()
      })
    })
    expect((await refusal({ host: '127.0.0.1', port }))?.code).toMatch(/^(UNREACHABLE|UNEXPECTED_ANSWER)$/)
  })

  test('to a vhost whose name needs escapes', async () => {
    const name = `${vhost.vhost}/a b%2F?ü`
    const path = encodeURIComponent(name)
    await vhost.manage('PUT', `/api/vhosts/${path}`)
    onTestFinished(async () => void (await vhost.manage('DELETE', `/api/vhosts/${path}`)))
    await vhost.manage('PUT', `/api/permissions/${path}/${vhost.endpoint.user}`, {
      configure: '.*',
      write: '.*',
      read: '.*',
    })
    await vhost.manage('PUT', `/api/queues/${path}/q`, { durable: true })
    expect(await (await opened({ vhost: name })).queues()).toMatchObject([{ name: 'q', vhost: name, durable: true }])
  })
})

describe('the management API', () => {
  test('lists more queues than one page holds', async () => {
    const many = await freshVhost('3')
    onTestFinished(async () => many.cleanup())
    const queues = Array.from({ length: 1203 }, (_, index) => ({
      name: `q${index}`,
      durable: index % 2 === 0,
      auto_delete: false,
      arguments: {},
    }))
    await many.manage('POST', `/api/definitions/${many.vhost}`, { queues, exchanges: [], bindings: [] })
    const found = await (await opened(many.endpoint)).queues()
    expect(found.length).toBe(1203)
    expect(new Set(found.map(({ name }) => name)).size).toBe(1203)
    expect(found.filter(({ durable }) => durable).length).toBe(602)
  })

  test('is asked once by several at the same time', async () => {
    const proxy = await recordingProxy(vhost.endpoint.managementUrl ?? '')
    const source = await opened({ managementUrl: `${proxy.url}/behind/a/prefix/` })
    await Promise.all([source.queues(), source.queues(), source.exchanges()])
    expect(proxy.paths.sort()).toEqual([
      expect.stringContaining(`/behind/a/prefix/api/exchanges/${vhost.vhost}?`),
      expect.stringContaining(`/behind/a/prefix/api/queues/${vhost.vhost}?`),
    ])
    await source.queues()
    expect(proxy.paths.length).toBe(3)
  })

  const tags = [
    { tags: '', nodes: 'FORBIDDEN', queues: 'FORBIDDEN' },
    { tags: 'management', nodes: 'FORBIDDEN', queues: null },
    { tags: 'monitoring', nodes: null, queues: null },
  ]
  test.each(tags)('for a user with the tags "$tags"', async ({ tags: marked, nodes, queues }) => {
    const own = await freshVhost('4.3')
    onTestFinished(async () => own.cleanup())
    await own.manage('PUT', `/api/users/${own.vhost}`, { password: own.endpoint.password?.reveal(), tags: marked })
    const source = await opened(own.endpoint)
    const failures = {
      nodes: await errorOf(source.nodes()),
      queues: await errorOf(source.queues()),
      consumers: await errorOf(source.consumers()),
    }
    expect(failures.nodes?.code ?? null).toBe(nodes)
    expect(failures.queues?.code ?? null).toBe(queues)
    expect(failures.consumers?.code ?? null).toBe(queues)
    if (failures.nodes) {
      expect(failures.nodes.message).toMatch(
        new RegExp(
          String.raw`^RabbitMQ's management API at \S+ does not accept user \S+: ` +
            String.raw`the user lacks the tag 'monitoring' \(HTTP 40[13]\)$`,
        ),
      )
      expect(failures.nodes.suggestions).toContain(`rabbitmqctl set_user_tags ${own.endpoint.user} monitoring`)
    }
  })

  const addresses: { what: string; url: () => Promise<string | null>; error: RegExp }[] = [
    {
      what: 'is not configured',
      url: async () => null,
      error: /^UNAVAILABLE no address is known for the management API of RabbitMQ at \S+$/,
    },
    {
      what: 'is not enabled',
      url: async () => `http://127.0.0.1:${await closedPort()}`,
      error: /^UNAVAILABLE RabbitMQ's management API at http:\/\/127\.0\.0\.1:\d+ is not reachable$/,
    },
    {
      what: 'has another address',
      url: async () => `${vhost.endpoint.managementUrl}/elsewhere`,
      error: new RegExp(
        String.raw`^UNEXPECTED_ANSWER RabbitMQ's management API at \S+\/elsewhere answers HTTP 40\d.*: ` +
          'check `broker\\.managementUrl`$',
      ),
    },
    {
      what: 'collects no metrics',
      url: async () => page(400, '{"error":"bad_request","reason":"Stats in management UI are disabled on this node"}'),
      error: new RegExp(
        String.raw`^UNAVAILABLE RabbitMQ's management API at \S+ lists nothing: ` +
          String.raw`the broker's metrics collector is off \(management_agent\.disable_metrics_collector\)$`,
      ),
    },
    {
      what: 'is behind a proxy that asks for a login of its own',
      url: async () =>
        page(401, '<html><head><title>401 Authorization Required</title></head><body>nginx</body></html>'),
      error: new RegExp(
        String.raw`^FORBIDDEN a proxy in front of RabbitMQ's management API at \S+ rejects the request: ` +
          String.raw`HTTP 401, '401 Authorization Required'\. RabbitMQ itself accepts user \S+$`,
      ),
    },
    {
      what: 'is behind a gateway that refuses in JSON',
      url: async () => page(403, '{"error":"access_denied","message":"no route"}'),
      error: /^FORBIDDEN a proxy in front of RabbitMQ's management API at \S+ rejects the request: HTTP 403, /,
    },
    {
      what: 'takes this user from its own host alone',
      url: async () => page(401, '{"error":"not_authorised","reason":"User can only log in via localhost"}'),
      error:
        /^FORBIDDEN RabbitMQ's management API at \S+ accepts user \S+ only from the broker's own host \(HTTP 401\)$/,
    },
    {
      what: 'is a web page',
      url: async () => page(200, '<html><head><title>Welcome to nginx!</title></head><body>x</body></html>'),
      error: /^UNEXPECTED_ANSWER .* answers HTTP 200, 'Welcome to nginx!': check `broker\.managementUrl`$/,
    },
    {
      what: 'is the address of a service of Spring',
      url: async () =>
        page(
          404,
          JSON.stringify(
            { timestamp: new Date(), status: 404, error: 'Not Found', trace: 'at x', path: '/api' },
            null,
            2,
          ),
        ),
      error: /^UNEXPECTED_ANSWER .* answers HTTP 404, 'Not Found \/api': check `broker\.managementUrl`$/,
    },
    {
      what: 'fails, in the words of RabbitMQ',
      url: async () => page(500, '{"error":"Internal Server Error","reason":"{error,function_clause}"}'),
      error: /^UNEXPECTED_ANSWER RabbitMQ's management API at \S+ failed \(HTTP 500, 'Internal Server Error.*'\)$/,
    },
    {
      what: 'has a certificate that nobody vouches for',
      url: async () => tlsPage(),
      error: /^UNREACHABLE the certificate of RabbitMQ's management API at https:\/\/localhost:\d+ is not trusted: /,
    },
    {
      what: 'is another API',
      url: async () => page(200, '{"name": "something"}'),
      error: /^UNEXPECTED_ANSWER \S+\/api\/queues\/\S+ returned an unexpected answer[.] Maybe it is not RabbitMQ/,
    },
    {
      what: 'never answers',
      url: async () => `http://127.0.0.1:${await silentPeer()}`,
      error: /^TIMED_OUT RabbitMQ's management API at \S+ accepted the connection but did not answer within 1 s$/,
    },
    {
      what: 'does not speak HTTP',
      url: async () => `http://127.0.0.1:${await foreignPeer('AMQP\u0000\u0000\u0009\u0001')}`,
      error: /^UNEXPECTED_ANSWER the server at 127\.0\.0\.1:\d+ does not speak HTTP$/,
    },
    {
      what: 'is no address',
      url: async () => 'mq.example.org:15672',
      error: /^CONFIGURATION the address of RabbitMQ's management API is not an http or https address/,
    },
  ]
  test.each(addresses)('$what', async ({ url, error }) => {
    const source = await opened({ managementUrl: await url() }, { timeoutMs: 1000 })
    expect(await source.identity()).toMatchObject({ product: 'RabbitMQ' })
    expect(await failureOf(source.queues())).toMatch(error)
  })

  test('fails once, as a busy node may', async () => {
    let asked = 0
    const answer = JSON.stringify({ items: [{ name: 'q', durable: true }], page_count: 1 })
    const managementUrl = await listening((response) => {
      asked += 1
      response.writeHead(asked === 1 ? 500 : 200).end(asked === 1 ? '' : answer)
    })
    expect(await (await opened({ managementUrl })).queues()).toMatchObject([{ name: 'q' }])
    expect(asked).toBe(2)
  })

  const features = [
    { what: 'of 4.3', item: { state: 'denied', deprecation_phase: 'denied_by_default' }, state: 'denied' },
    { what: 'of 4.2', item: { state: 'permitted', deprecation_phase: 'permitted_by_default' }, state: 'permitted' },
    { what: 'of 4.0, without a state', item: { deprecation_phase: 'permitted_by_default' }, state: 'unknown' },
    { what: 'once it has been removed', item: { deprecation_phase: 'removed' }, state: 'denied' },
  ]
  test.each(features)('a deprecated feature $what', async ({ item, state }) => {
    const managementUrl = await page(
      200,
      JSON.stringify([{ name: 'other' }, { name: 'transient_nonexcl_queues', ...item }]),
    )
    expect(await (await opened({ managementUrl })).deprecatedFeature('transient_nonexcl_queues')).toEqual({
      state,
      used: true,
    })
  })

  test('has not counted yet, as in the first seconds after a start', async () => {
    const node = { name: 'rabbit@mq', running: true }
    const alarms = { status: 'failed', alarms: [{ node: 'rabbit@mq', resource: 'memory' }] }
    const managementUrl = await pages({
      '/api/nodes': [200, [node, { name: 'rabbit@gone', running: false }]],
      '/api/health/checks/alarms': [503, alarms],
      [`/api/queues/${vhost.vhost}`]: [200, { items: [{ name: 'q', durable: true }], page_count: 1 }],
    })
    const source = await opened({ managementUrl })
    expect(await source.nodes()).toEqual([
      { name: 'rabbit@mq', running: true, memoryAlarm: true, diskAlarm: false, figures: null },
      { name: 'rabbit@gone', running: false, memoryAlarm: false, diskAlarm: false, figures: null },
    ])
    expect(await source.queues()).toMatchObject([{ name: 'q', messages: null, consumers: null }])
  })

  test('of a broker without an alarm that has not counted yet, and of one that cannot tell', async () => {
    const nodes: [number, unknown] = [200, [{ name: 'rabbit@mq', running: true }]]
    const calm = await pages({ '/api/nodes': nodes, '/api/health/checks/alarms': [200, { status: 'ok' }] })
    expect(await (await opened({ managementUrl: calm })).nodes()).toMatchObject([
      { memoryAlarm: false, diskAlarm: false },
    ])
    const mute = await pages({ '/api/nodes': nodes })
    expect(await failureOf((await opened({ managementUrl: mute })).nodes())).toMatch(
      /^UNEXPECTED_ANSWER .* answers HTTP 404/,
    )
    const other = await pages({})
    expect(await failureOf((await opened({ managementUrl: other })).nodes())).toMatch(
      /HTTP 404.*: check `broker\.managementUrl`$/,
    )
  })

  const lists = [
    {
      what: 'that lists others',
      listed: [{ name: '10.0.0.2:1 -> 10.0.0.1:5672', user_provided_name: 'testops-admin' }],
      isListed: false,
    },
    { what: 'that lists nobody, not even us', listed: [], isListed: true },
  ]
  test.each(lists)('of a broker $what: whether one that is not listed may be none', async ({ listed, isListed }) => {
    const { user, vhost: name } = vhost.endpoint
    const managementUrl = await pages({
      [`/api/connections/username/${user}`]: [200, [{ name: '10.0.0.5:41000 -> 10.0.0.1:5672', vhost: name, user }]],
      [`/api/vhosts/${name}/connections`]: [200, { items: listed, page_count: 1 }],
    })
    expect(await (await opened({ managementUrl })).connectionsOf(user)).toEqual([
      { name: '10.0.0.5:41000 -> 10.0.0.1:5672', user, clientName: null, isListed },
    ])
  })

  test('breaks in the middle', async () => {
    const { hostname, port } = new URL(vhost.endpoint.managementUrl ?? '')
    const proxy = await cuttableProxy(() => connect({ host: hostname, port: Number(port) }))
    const source = await opened({ managementUrl: `http://127.0.0.1:${proxy.port}` })
    await source.queues()
    proxy.cut()
    expect(await failureOf(source.queues())).toMatch(/^UNAVAILABLE .* is not reachable$/)
  })
})

/** A server with one answer for everything. */
async function page(status: number, body: string): Promise<string> {
  return listening((response) => response.writeHead(status).end(body))
}

async function listening(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_request, response) => answer(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server under TLS whose certificate is for localhost. */
async function tlsPage(): Promise<string> {
  const pem = (name: string): string => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8')
  const server = createTlsServer({ key: pem('localhost-key.pem'), cert: pem('localhost.pem') }, (_request, response) =>
    response.end(),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `https://localhost:${(server.address() as AddressInfo).port}`
}

/** A server with an answer for each path, and 404 for all else. */
async function pages(answers: Readonly<Record<string, [status: number, body: unknown]>>): Promise<string> {
  const server = createServer((request, response) => {
    const [status, body] = answers[request.url?.split('?')[0] ?? ''] ?? [404, {}]
    response.writeHead(status).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Passes requests on without the first part of their path, and remembers them. */
async function recordingProxy(target: string): Promise<{ url: string; paths: string[] }> {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    void fetch(`${target}${request.url?.replace('/behind/a/prefix', '')}`, {
      headers: { authorization: request.headers.authorization ?? '' },
    }).then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths }
}
