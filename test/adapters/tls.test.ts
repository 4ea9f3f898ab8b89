import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { TLSSocket, createSecureContext } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/adapters/postgres/index.ts'
import { openBroker } from '../../src/adapters/rabbitmq/index.ts'
import { openSessions } from '../../src/adapters/redis/index.ts'
import type { Tls } from '../../src/core/endpoint.ts'
import { freshDatabase, freshRedisDatabase, freshVhost } from '../servers/index.ts'
import type { FreshDatabase, FreshRedisDatabase, FreshVhost } from '../servers/index.ts'
import { errorOf, failureOf } from './failure-of.ts'
import { listen } from './peers.ts'

const timeoutMs = 3000
const pem = (name: string): string => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8')
const authority = pem('authority.pem')
const secureContext = createSecureContext({ key: pem('localhost-key.pem'), cert: pem('localhost.pem') })

interface Address {
  host: string
  port: number
}

/** Takes the encryption off and passes the rest on. */
function decrypt(socket: Socket, to: Address, onFirst?: (encrypted: TLSSocket) => void): void {
  const encrypted = new TLSSocket(socket, { isServer: true, secureContext })
  const server = connect(to)
  encrypted.on('error', () => server.destroy())
  server.on('error', () => encrypted.destroy())
  encrypted.on('close', () => server.destroy())
  server.on('close', () => encrypted.destroy())
  if (onFirst) encrypted.once('data', () => onFirst(encrypted))
  else encrypted.pipe(server).pipe(encrypted)
}

const preferred: (typeof modes)[number] = { tls: { mode: 'prefer', ca: null }, host: 'localhost', error: null }
const modes: { tls: Tls; host: string; error: RegExp | null }[] = [
  { tls: { mode: 'require', ca: null }, host: 'localhost', error: null },
  { tls: { mode: 'verify', ca: authority }, host: 'localhost', error: null },
  {
    tls: { mode: 'verify', ca: null },
    host: 'localhost',
    error: /^UNREACHABLE the certificate of .* is not trusted: /,
  },
  {
    tls: { mode: 'verify', ca: authority },
    host: '127.0.0.1',
    error: new RegExp(
      String.raw`^UNREACHABLE the certificate of .* is not for 127\.0\.0\.1, but for localhost: ` +
        'use that name in the address$',
    ),
  },
]

describe('PostgreSQL', () => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase()
  })
  afterAll(async () => database.cleanup())
  const place = (): Address => database.endpoint.hosts[0] ?? { host: '', port: 0 }
  const open = async (port: number, tls: Tls, host = 'localhost'): Promise<void> => {
    const { source, close } = await openDatabase({ ...database.endpoint, hosts: [{ host, port }], tls }, { timeoutMs })
    await source.clock()
    await close()
  }
  const offering = async (onFirst?: (encrypted: TLSSocket) => void): Promise<number> =>
    listen((socket) =>
      socket.once('data', (bytes: Buffer) => {
        if (bytes.length === 8) {
          socket.write('S')
          decrypt(socket, place(), onFirst)
          return
        }
        const server = connect(place())
        server.write(bytes)
        socket.pipe(server).pipe(socket)
        socket.on('close', () => server.destroy())
        server.on('close', () => socket.destroy())
      }),
    )

  test.each([...modes, preferred])('$tls.mode to $host', async ({ tls, host, error }) => {
    const failure = await failureOf(open(await offering(), tls, host))
    if (error === null) expect(failure).toBe(null)
    else expect(failure).toMatch(error)
  })

  test('whose certificate is not trusted is looked at as its protocol begins', async () => {
    const port = await offering()
    const failure = await errorOf(open(port, { mode: 'verify', ca: null }))
    expect(failure?.obstacle).toEqual({ kind: 'tls', host: 'localhost', port })
    expect(failure?.suggestions).toEqual([
      `openssl s_client -starttls postgres -connect localhost:${port} -showcerts </dev/null   # save the ` +
        `certificate of the certificate authority in a file, and set \`ca\` to this file`,
    ])
  })

  test('whose certificate is for another name is looked at as its protocol begins', async () => {
    const port = await offering()
    const failure = await errorOf(open(port, { mode: 'verify', ca: authority }, '127.0.0.1'))
    expect(failure?.obstacle).toEqual({ kind: 'misnamed', host: '127.0.0.1', port, names: ['localhost'] })
    expect(failure?.suggestions).toEqual([
      `openssl s_client -starttls postgres -connect 127.0.0.1:${port} </dev/null | openssl x509 -noout ` +
        '-subject -ext subjectAltName',
    ])
  })

  test('that lets nobody in encrypted is asked in plain text', async () => {
    const refused = Buffer.from(
      'SFATAL\u0000C28000\u0000Mno pg_hba.conf entry for this host, SSL encryption\u0000\u0000',
    )
    const length = Buffer.alloc(4)
    length.writeInt32BE(refused.length + 4)
    const port = await offering((encrypted) => encrypted.end(Buffer.concat([Buffer.from('E'), length, refused])))
    expect(await failureOf(open(port, { mode: 'prefer', ca: null }))).toBe(null)
    expect(await failureOf(open(port, { mode: 'require', ca: null }))).toMatch(
      /^UNAUTHENTICATED .* rejects user \S+: no pg_hba\.conf entry/,
    )
  })

  test('that stops in the middle of the handshake', async () => {
    const port = await listen((socket) => socket.once('data', () => socket.write('S')))
    const opening = openDatabase(
      { ...database.endpoint, hosts: [{ host: 'localhost', port }], tls: { mode: 'require', ca: null } },
      { timeoutMs: 500 },
    )
    expect(await failureOf(opening)).toMatch(/^TIMED_OUT .* accepted the connection but did not answer within 0\.5 s$/)
  })
})

describe('Redis', () => {
  let redis: FreshRedisDatabase
  beforeAll(async () => {
    redis = await freshRedisDatabase()
  })
  afterAll(async () => redis.cleanup())
  test.each(modes)('$tls.mode to $host', async ({ tls, host, error }) => {
    const port = await listen((socket) => decrypt(socket, redis.endpoint))
    const opening = async (): Promise<void> => {
      const { source, close } = await openSessions({ ...redis.endpoint, host, port, tls }, { timeoutMs })
      onTestFinished(close)
      await source.clock()
    }
    const failure = await failureOf(opening())
    if (error === null) expect(failure).toBe(null)
    else expect(failure).toMatch(error)
  })

  test('a port without TLS', async () => {
    const failure = await failureOf(
      openSessions({ ...redis.endpoint, tls: { mode: 'require', ca: null } }, { timeoutMs: 500 }),
    )
    expect(failure).toMatch(/^(UNEXPECTED_ANSWER|UNREACHABLE|TIMED_OUT) Redis at /)
  })
})

describe('RabbitMQ', () => {
  let vhost: FreshVhost
  beforeAll(async () => {
    vhost = await freshVhost('3')
  })
  afterAll(async () => vhost.cleanup())
  test.each(modes)('$tls.mode to $host', async ({ tls, host, error }) => {
    const port = await listen((socket) => decrypt(socket, { host: vhost.endpoint.host, port: vhost.endpoint.port }))
    const opening = async (): Promise<void> => {
      const { source, close } = await openBroker({ ...vhost.endpoint, host, port, tls }, { timeoutMs })
      onTestFinished(close)
      expect(await source.identity()).toMatchObject({ product: 'RabbitMQ' })
    }
    const failure = await failureOf(opening())
    if (error === null) expect(failure).toBe(null)
    else expect(failure).toMatch(error)
  })
})
