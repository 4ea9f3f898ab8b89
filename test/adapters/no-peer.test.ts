import { describe, expect, test } from 'vitest'
import { openApi } from '../../src/adapters/api/index.ts'
import { openDatabase } from '../../src/adapters/postgres/index.ts'
import { openBroker } from '../../src/adapters/rabbitmq/index.ts'
import { openSessions } from '../../src/adapters/redis/index.ts'
import type { AdminError } from '../../src/core/error.ts'
import { apiAt, brokerAt, databaseAt, sessionsAt } from './endpoints.ts'
import { errorOf } from './failure-of.ts'
import { closedPort, closingPeer, foreignPeer, openConnections, silentPeer, silentPeerApart } from './peers.ts'

const timeoutMs = 800

/** How each adapter says that the peer at that port is not there or not what it should be. */
const adapters: {
  what: string
  open: (port: number, host: string) => Promise<unknown>
  where: (port: number, host: string) => string
}[] = [
  {
    what: 'PostgreSQL',
    open: async (port, host) => openDatabase(databaseAt(port, { hosts: [{ host, port }] }), { timeoutMs }),
    where: (port, host) => `PostgreSQL at ${host}:${port}/testops`,
  },
  {
    what: 'RabbitMQ',
    open: async (port, host) => openBroker(brokerAt(port, { host }), { timeoutMs }),
    where: (port, host) => `RabbitMQ at ${host}:${port}, vhost /`,
  },
  {
    what: 'Redis',
    open: async (port, host) => openSessions(sessionsAt(port, { host }), { timeoutMs }),
    where: (port, host) => `Redis at ${host}:${port}/0`,
  },
  {
    what: 'a sentinel of Redis',
    open: async (port, host) =>
      openSessions(sessionsAt(port, { host, sentinel: { master: 'm', nodes: [{ host, port }], password: null } }), {
        timeoutMs,
      }),
    where: (port, host) => `Redis at ${host}:${port} (sentinel, master m)`,
  },
  {
    what: 'the service',
    open: async (port, host) => openApi(apiAt(`http://${host}:${port}`), { timeoutMs }),
    where: (port, host) => `the service at http://${host}:${port}/api/management/health`,
  },
]

const local = '127.0.0.1'

describe.each(adapters)('$what', ({ open, where }) => {
  const failure = async (port: number, host = local): Promise<AdminError> => {
    const error = await errorOf(open(port, host))
    expect(error?.suggestions.length).toBeGreaterThan(0)
    expect(`${error?.message} ${error?.suggestions.join(' ')}`).not.toMatch(/\n|secret|the-api-token/)
    return error as AdminError
  }

  test('nothing listens', async () => {
    const port = await closedPort()
    const { code, message, obstacle } = await failure(port)
    expect({ code, message, obstacle }).toEqual({
      code: 'UNREACHABLE',
      message: `${where(port, local)} refused the connection: nothing listens on 127.0.0.1:${port}`,
      obstacle: { kind: 'refused', host: local, port },
    })
  })

  test('the name does not resolve', async () => {
    const { code, message, suggestions, obstacle } = await failure(5432, 'no-such-host.invalid')
    expect({ code, message, suggestions, obstacle }).toEqual({
      code: 'UNREACHABLE',
      message:
        `${where(5432, 'no-such-host.invalid')} cannot be reached: the host name no-such-host.invalid does not ` +
        'resolve',
      suggestions: ['getent hosts no-such-host.invalid'],
      obstacle: { kind: 'unresolved', host: 'no-such-host.invalid', port: 5432 },
    })
  })

  test('accepts and never answers', async () => {
    const port = await silentPeer()
    const started = performance.now()
    const { code, message, obstacle } = await failure(port)
    expect({ code, message, obstacle }).toEqual({
      obstacle: null,
      code: 'TIMED_OUT',
      message: `${where(port, local)} accepted the connection but did not answer within 0.8 s`,
    })
    expect(performance.now() - started).toBeLessThan(timeoutMs + 400)
  })

  test('who never answers is let go at once, so that nothing keeps the program from ending', async () => {
    await expect.poll(openConnections).toBe(0)
    await failure(await silentPeerApart())
    await expect.poll(openConnections, { timeout: 500, interval: 20 }).toBe(0)
  })

  test('hangs up', async () => {
    const { code } = await failure(await closingPeer())
    expect(['UNREACHABLE', 'UNEXPECTED_ANSWER']).toContain(code)
  })

  test('another server listens', async () => {
    const port = await foreignPeer('220 mail.example.org ESMTP ready\r\n')
    const { code, message } = await failure(port)
    expect(code).toBe('UNEXPECTED_ANSWER')
    expect(message).toContain(String(port))
    expect(message).toMatch(/^the server at /)
  })

  test('random bytes', async () => {
    const port = await foreignPeer(Buffer.from(Array.from({ length: 300 }, (_, index) => (index * 73 + 129) % 256)))
    const { code } = await failure(port)
    expect(['UNEXPECTED_ANSWER', 'UNREACHABLE']).toContain(code)
  })
})
