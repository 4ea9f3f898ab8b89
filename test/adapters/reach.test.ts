import { createServer as createSecureServer } from 'node:https'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openApi, tokenKeeper } from '../../src/adapters/api/index.ts'
import { openDatabase, openDatabaseControls, openDatabaseLock } from '../../src/adapters/postgres/index.ts'
import { openBrokerControl } from '../../src/adapters/rabbitmq/control/index.ts'
import { openBroker } from '../../src/adapters/rabbitmq/index.ts'
import { openRunStore } from '../../src/adapters/rabbitmq/run-store.ts'
import type { HostPort, Reach } from '../../src/core/endpoint.ts'
import { AdminError } from '../../src/core/error.ts'
import { freshDatabase, freshRedisDatabase, freshVhost } from '../servers/index.ts'
import type { FreshDatabase, FreshRedisDatabase, FreshVhost } from '../servers/index.ts'
import { apiAt, brokerAt, databaseAt, sessionsAt } from './endpoints.ts'
import { failureOf } from './failure-of.ts'
import { addSession, opened, placeOf, timeoutMs } from './own-redis.ts'
import { closedPort, foreignPeer, listen, silentPeer } from './peers.ts'
import { interceptingRedis, resp } from './resp.ts'
import { service } from './service.ts'

const pem = (name: string): string => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8')

/**
 * Ways to names that resolve nowhere, by way of relays of this machine; `asked` is each address that a way was asked
 * to.
 */
function relayed(places: Readonly<Record<string, HostPort>>): { reach: Reach; asked: string[] } {
  const ports = new Map<string, Promise<number>>()
  const asked: string[] = []
  return {
    asked,
    async reach({ host, port }) {
      const address = `${host}:${port}`
      asked.push(address)
      const place = places[address]
      if (!place) throw new AdminError('UNAVAILABLE', `no way to ${address}`)
      const opening =
        ports.get(address) ??
        listen((client) => {
          const server = connect(place)
          server.on('error', () => client.destroy())
          client.on('close', () => server.destroy())
          server.on('close', () => client.destroy())
          client.pipe(server).pipe(client)
        })
      ports.set(address, opening)
      return { host: '127.0.0.1', port: await opening, command: null }
    },
  }
}

describe('PostgreSQL', () => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase()
  })
  afterAll(async () => database.cleanup())

  test('is reached where its name resolves nowhere, and keeps that name', async () => {
    const { reach, asked } = relayed({ 'db.invalid:5432': database.endpoint.hosts[0]! })
    const endpoint = { ...database.endpoint, hosts: [{ host: 'db.invalid', port: 5432 }], reach }
    const { source, close } = await openDatabase(endpoint, { timeoutMs })
    onTestFinished(close)
    const controls = await openDatabaseControls([endpoint], { timeoutMs })
    onTestFinished(controls.close)
    const lock = await openDatabaseLock(endpoint, { who: 'me', what: 'test' }, { timeoutMs })
    onTestFinished(lock.close)
    expect(await lock.source.take()).toBe(null)
    const target = `db.invalid:5432/${database.endpoint.database}`
    expect([source.target, controls.source[0]!.target, lock.source.where]).toEqual([target, target, target])
    expect(asked).toEqual(['db.invalid:5432', 'db.invalid:5432', 'db.invalid:5432'])
  })

  test('a host without a way keeps nobody from another', async () => {
    const { reach } = relayed({ 'second.invalid:5432': database.endpoint.hosts[0]! })
    const hosts = ['first.invalid', 'second.invalid'].map((host) => ({ host, port: 5432 }))
    const { source, close } = await openDatabase({ ...database.endpoint, hosts, reach }, { timeoutMs })
    onTestFinished(close)
    expect(source.target).toBe(`second.invalid:5432/${database.endpoint.database}`)
  })

  test.each([
    { what: 'there is no way', place: null, failure: 'UNAVAILABLE no way to db.invalid:5432' },
    {
      what: 'the way leads to a silent server',
      place: silentPeer,
      failure: 'TIMED_OUT PostgreSQL at db.invalid:5432/testops accepted the connection but did not answer within 1 s',
    },
    {
      what: 'the way leads nowhere',
      place: closedPort,
      failure: 'UNREACHABLE PostgreSQL at db.invalid:5432/testops closed the connection',
    },
    {
      what: 'the way leads elsewhere',
      place: async () => foreignPeer('220 mail ready\r\n'),
      failure: "UNEXPECTED_ANSWER the server at db.invalid:5432 is not PostgreSQL: it answered '220 mail ready'",
    },
  ])('$what', async ({ place, failure }) => {
    const { reach } = relayed(place === null ? {} : { 'db.invalid:5432': { host: '127.0.0.1', port: await place() } })
    const endpoint = databaseAt(1, { hosts: [{ host: 'db.invalid', port: 5432 }], reach })
    expect(await failureOf(openDatabase(endpoint, { timeoutMs: 1000 }))).toBe(failure)
  })
})

describe('RabbitMQ', () => {
  let vhost: FreshVhost
  beforeAll(async () => {
    vhost = await freshVhost('3')
  })
  afterAll(async () => vhost.cleanup())

  test('is reached by AMQP and by its management API, whatever proxy the environment names', async () => {
    vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${await closedPort()}`)
    onTestFinished(() => void vi.unstubAllEnvs())
    const management = new URL(vhost.endpoint.managementUrl!)
    const { reach, asked } = relayed({
      'mq.invalid:5672': { host: vhost.endpoint.host, port: vhost.endpoint.port },
      'mq.invalid:15672': { host: management.hostname, port: Number(management.port) },
    })
    const endpoint = {
      ...vhost.endpoint,
      host: 'mq.invalid',
      port: 5672,
      managementUrl: 'http://mq.invalid:15672',
      reach,
    }
    const control = openBrokerControl(endpoint, { timeoutMs })
    onTestFinished(control.close)
    const q = { name: 'q', durable: true, autoDelete: false, arguments: {} }
    await control.source.declareQueues([q])
    const { source, close } = await openBroker(endpoint, { timeoutMs })
    onTestFinished(close)
    expect(source.target).toBe(`mq.invalid:5672, vhost ${vhost.vhost}`)
    expect([...(await source.counts(['q']))]).toEqual([['q', { ready: 0, consumers: 0 }]])
    expect((await source.queues()).map(({ name }) => name)).toEqual(['q'])
    const store = await openRunStore(endpoint, { timeoutMs, rabbitmqctl: async () => null })
    onTestFinished(store.close)
    expect(await store.source.list()).toEqual([])
    expect(await (await control.source.mover()).aside({ from: 'q', to: 'aside' })).toMatchObject({ moved: 0 })
    expect(new Set(asked)).toEqual(new Set(['mq.invalid:5672', 'mq.invalid:15672']))
  })

  test.each([
    { what: 'there is no way', place: null, failure: 'UNAVAILABLE no way to mq.invalid:5672' },
    {
      what: 'the way leads elsewhere',
      place: async () => foreignPeer('220 mail ready\r\n'),
      failure: "UNEXPECTED_ANSWER the server at mq.invalid:5672 is not RabbitMQ: it answered '220 mail ready'",
    },
    {
      what: 'the way leads to a silent server',
      place: silentPeer,
      failure: 'TIMED_OUT RabbitMQ at mq.invalid:5672, vhost / accepted the connection but did not answer within 1 s',
    },
  ])('$what', async ({ place, failure }) => {
    const { reach } = relayed(place === null ? {} : { 'mq.invalid:5672': { host: '127.0.0.1', port: await place() } })
    expect(await failureOf(openBroker(brokerAt(5672, { host: 'mq.invalid', reach }), { timeoutMs: 1000 }))).toBe(
      failure,
    )
  })
})

describe('Redis', () => {
  let redis: FreshRedisDatabase
  beforeAll(async () => {
    redis = await freshRedisDatabase()
  })
  afterAll(async () => redis.cleanup())

  test('is reached where its name resolves nowhere', async () => {
    const { reach } = relayed({ 'store.invalid:6379': placeOf(redis) })
    const source = await opened({ ...redis.endpoint, host: 'store.invalid', port: 6379, reach })
    expect([source.target, source.client]).toEqual([
      `store.invalid:6379/${redis.database}`,
      `redis-cli -h store.invalid -p 6379 -n ${redis.database}`,
    ])
  })

  test('the master is reached by the name that a sentinel gives it', async () => {
    const sentinel = await interceptingRedis(placeOf(redis), () => ({
      'sentinel get-master-addr-by-name': resp(['store-0.invalid', '6379']),
    }))
    const { reach, asked } = relayed({
      'sentinel.invalid:26379': { host: '127.0.0.1', port: sentinel },
      'store-0.invalid:6379': placeOf(redis),
    })
    const nodes = ['gone.invalid', 'sentinel.invalid'].map((host) => ({ host, port: 26379 }))
    const source = await opened({ ...redis.endpoint, sentinel: { master: 'mymaster', nodes, password: null }, reach })
    expect(source.target).toBe(`store-0.invalid:6379 (sentinel, master mymaster)/${redis.database}`)
    expect(new Set(asked)).toEqual(new Set(['gone.invalid:26379', 'sentinel.invalid:26379', 'store-0.invalid:6379']))
  })

  test('each node of a cluster is reached by the name that the cluster gives it', async () => {
    const slots = resp([
      [0, 8191, ['10.255.0.1', 6379, 'a'.repeat(40)], ['10.255.0.9', 6379, 'c'.repeat(40)]],
      [8192, 16383, ['10.255.0.2', 6379, 'b'.repeat(40)]],
    ])
    const nodes = await Promise.all(
      [1, 2].map(async () =>
        interceptingRedis(placeOf(redis), () => ({
          'cluster slots': slots,
          'cluster info': resp('cluster_state:ok\r\n'),
        })),
      ),
    )
    const [first, second] = nodes.map((port) => ({ host: '127.0.0.1', port }))
    const { reach } = relayed({ 'seed.invalid:6379': first!, '10.255.0.1:6379': first!, '10.255.0.2:6379': second! })
    await addSession(redis, 'spring:session')
    const seeds = ['gone.invalid', 'seed.invalid'].map((host) => ({ host, port: 6379 }))
    const source = await opened(sessionsAt(1, { cluster: seeds, reach }))
    expect(source.target).toBe('gone.invalid:6379 (cluster)')
    // both stand before one and the same server
    expect((await source.memory()).usedBytes).toBeGreaterThan(0)
    expect(await source.identity()).toMatchObject({ role: 'master' })
  })

  test.each([
    { what: 'there is no way', place: null, failure: 'UNAVAILABLE no way to store.invalid:6379' },
    {
      what: 'the way leads elsewhere',
      place: async () => foreignPeer('HTTP/1.1 400 Bad Request\r\n'),
      failure:
        "UNEXPECTED_ANSWER the server at store.invalid:6379 is not Redis: it answered 'HTTP/1.1 400 Bad Request'",
    },
  ])('$what', async ({ place, failure }) => {
    const { reach } = relayed(
      place === null ? {} : { 'store.invalid:6379': { host: '127.0.0.1', port: await place() } },
    )
    expect(await failureOf(opened(sessionsAt(6379, { host: 'store.invalid', reach })))).toBe(failure)
    const cluster = [{ host: 'store.invalid', port: 6379 }]
    if (place === null) expect(await failureOf(opened(sessionsAt(1, { cluster, reach })))).toBe(failure)
  })
})

describe('the API', () => {
  const open = async (url: string, reach: Reach, ca: string | null = null): Promise<string> => {
    const { source, close } = await openApi(apiAt(url, { reach, ca }), { timeoutMs, tokens: tokenKeeper() })
    onTestFinished(close)
    return source.target
  }

  test('is asked by its own name', async () => {
    const api = await service()
    const { reach } = relayed({ 'testops.invalid:8080': { host: '127.0.0.1', port: api.port } })
    expect(await open('http://testops.invalid:8080', reach)).toBe('http://testops.invalid:8080')
    expect(api.received.map(({ headers }) => headers.host)).toEqual(['testops.invalid:8080'])
  })

  test.each([
    { host: 'localhost', failure: null },
    {
      host: 'testops.invalid',
      failure:
        'UNREACHABLE the certificate of the service at https://testops.invalid:8443/api/management/health is ' +
        'not for testops.invalid, but for localhost: use that name in the address',
    },
    {
      host: '10.255.0.1',
      failure:
        'UNREACHABLE the certificate of the service at https://10.255.0.1:8443/api/management/health is not ' +
        'for 10.255.0.1, but for localhost: use that name in the address',
    },
  ])('its certificate is to be that of $host', async ({ host, failure }) => {
    const api = await service({
      server: (listener) => createSecureServer({ key: pem('localhost-key.pem'), cert: pem('localhost.pem') }, listener),
    })
    const { reach } = relayed({ [`${host}:8443`]: { host: '127.0.0.1', port: api.port } })
    expect(await failureOf(open(`https://${host}:8443`, reach, pem('authority.pem')))).toBe(failure)
  })
})
