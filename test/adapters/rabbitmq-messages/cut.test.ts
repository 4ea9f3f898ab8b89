import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openMessageMover } from '../../../src/adapters/rabbitmq/messages/index.ts'
import type { BrokerEndpoint } from '../../../src/core/endpoint.ts'
import { moverFailpoints } from '../../../src/core/message-mover.ts'
import type { Move, Moved } from '../../../src/core/message-mover.ts'
import { freshVhost } from '../../servers/index.ts'
import type { FreshVhost } from '../../servers/index.ts'
import { failureOf } from '../failure-of.ts'
import { cuttableProxy, listen } from '../peers.ts'
import { bodies, drainRaw, makeQueue, numbered, publishRaw, readyIn } from './raw.ts'

const total = 400

async function queueOf400(): Promise<FreshVhost> {
  const vhost = await freshVhost('4.3')
  onTestFinished(async () => vhost.cleanup())
  await makeQueue(vhost, 'q')
  await publishRaw(vhost.endpoint, numbered('q', total))
  return vhost
}

async function aside(endpoint: BrokerEndpoint, timeoutMs: number, of: Partial<Move> = {}): Promise<Moved> {
  const { source, close } = await openMessageMover(endpoint, { timeoutMs })
  try {
    return await source.aside({ from: 'q', to: 'held', ...of })
  } finally {
    await close()
  }
}

/** Goes on with what was cut off, and takes it all back: everything is there, in order. */
async function finishes(vhost: FreshVhost): Promise<void> {
  await expect
    .poll(async () => (await readyIn(vhost.endpoint, 'q')) + (await readyIn(vhost.endpoint, 'held').catch(() => 0)), {
      timeout: 10_000,
    })
    .toBeGreaterThanOrEqual(total)
  const { source, close } = await openMessageMover(vhost.endpoint, { timeoutMs: 20_000 })
  onTestFinished(close)
  await source.aside({ from: 'q', to: 'held' })
  expect(await readyIn(vhost.endpoint, 'q')).toBe(0)
  await source.back({ from: 'held', to: 'q' })
  expect([...new Set(bodies(await drainRaw(vhost.endpoint, 'q')))]).toEqual(bodies(numbered('q', total)))
}

describe('a connection', () => {
  test.each(moverFailpoints.filter((name) => name !== 'emptied'))('that is cut when messages are %s', async (when) => {
    const vhost = await queueOf400()
    const proxy = await cuttableProxy(() => connect({ host: vhost.endpoint.host, port: vhost.endpoint.port }))
    const failpoint = async (name: string): Promise<void> => void (name === when && proxy.cut())
    const endpoint = { ...vhost.endpoint, host: '127.0.0.1', port: proxy.port }
    expect(await failureOf(aside(endpoint, 20_000, { failpoint }))).toBe(
      `UNREACHABLE moving the messages of queue q into held: RabbitMQ at 127.0.0.1:${proxy.port}, vhost ` +
        `${vhost.vhost} closed the connection`,
    )
    await finishes(vhost)
  })

  test.each(moverFailpoints.filter((name) => name !== 'emptied'))(
    'that the broker closes by itself when messages are %s',
    async (when) => {
      const vhost = await queueOf400()
      const at = `/api/vhosts/${encodeURIComponent(vhost.vhost)}/connections?columns=name`
      const own = async (): Promise<string[]> =>
        ((await vhost.manage('GET', at)) as { name: string }[]).map(({ name }) => name)
      let closed = 0
      const failpoint = async (name: string): Promise<void> => {
        if (name !== when || closed > 0) return
        await expect.poll(own, { timeout: 15_000 }).not.toEqual([])
        for (const one of await own())
          await vhost.manage('DELETE', `/api/connections/${encodeURIComponent(one)}`).then(() => closed++)
      }
      // its words are read unless its end is seen before them
      expect(await failureOf(aside(vhost.endpoint, 20_000, { failpoint }))).toMatch(
        new RegExp(
          '^UNREACHABLE moving the messages of queue q into held: ' +
            String.raw`RabbitMQ at \S+, vhost \S+ closed the connection(: Closed via management plugin)?$`,
        ),
      )
      expect(closed).toBeGreaterThan(0)
      await finishes(vhost)
    },
  )

  test.each(moverFailpoints.filter((name) => name !== 'emptied'))(
    'over which nothing comes any more when messages are %s',
    async (when) => {
      const vhost = await queueOf400()
      const proxy = await cuttableProxy(() => connect({ host: vhost.endpoint.host, port: vhost.endpoint.port }))
      const failpoint = async (name: string): Promise<void> => void (name === when && proxy.stall())
      const endpoint = { ...vhost.endpoint, host: '127.0.0.1', port: proxy.port }
      expect(await failureOf(aside(endpoint, 1500, { failpoint }))).toBe(
        `TIMED_OUT moving the messages of queue q into held: RabbitMQ at 127.0.0.1:${proxy.port}, vhost ` +
          `${vhost.vhost} made no progress for 1.5 s`,
      )
      proxy.cut()
      await finishes(vhost)
    },
  )

  // from the sign-in on, over the declarations and into the messages
  const places = [1, 30, 300, 500, 700, 900, 1100, 1400, 1800, 2400, 4000, 9000, 20_000]
  test.each(
    places.flatMap((bytes) => [
      { bytes, side: 'broker' as const },
      { bytes, side: 'program' as const },
    ]),
  )('that is cut after $bytes bytes of the $side', async ({ bytes, side }) => {
    const vhost = await queueOf400()
    const port = await listen((client) => {
      const server = connect({ host: vhost.endpoint.host, port: vhost.endpoint.port })
      cutAfter(side === 'broker' ? server : client, bytes, [client, server])
      client.pipe(server).pipe(client)
    })
    const failure = await failureOf(aside({ ...vhost.endpoint, host: '127.0.0.1', port }, 20_000))
    expect(failure?.split(' ')[0] ?? 'none').toMatch(/^(UNREACHABLE|UNEXPECTED_ANSWER|none)$/)
    await finishes(vhost)
  })
})

function cutAfter(from: Socket, bytes: number, both: readonly Socket[]): void {
  let left = bytes
  for (const socket of both) socket.on('error', () => undefined)
  from.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left <= 0) for (const socket of both) socket.destroy()
  })
  for (const socket of both) socket.on('close', () => both.forEach((other) => other.destroy()))
}
