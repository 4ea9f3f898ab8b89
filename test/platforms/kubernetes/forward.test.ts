import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect, createServer as createHalfOpen } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { WebSocket } from 'ws'
import { AdminError } from '../../../src/core/error.ts'
import { openChannels, portStream } from '../../../src/platforms/kubernetes/channels.ts'
import type { ByteListener, ByteStream, StreamServer } from '../../../src/platforms/kubernetes/channels.ts'
import { listenForward } from '../../../src/platforms/kubernetes/forward.ts'
import { failureOf } from '../../adapters/failure-of.ts'
import { closedPort, listen, silentPeer } from '../../adapters/peers.ts'
import { forwardPorts, frame, upgraded } from '../../kubernetes/streams.ts'

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** An API server that treats each upgrade so, until the test ends. */
async function apiServer(upgrade: Upgrade): Promise<{ port: number; upgrades: string[] }> {
  const upgrades: string[] = []
  const server = createServer()
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  server.on('upgrade', (request, socket, head) => {
    upgrades.push(`${request.headers.authorization} ${request.url} ${request.headers['sec-websocket-protocol']}`)
    upgrade(request, socket, head)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, upgrades }
}

function streamServer(port: number, of: Partial<StreamServer> = {}): StreamServer {
  return {
    what: 'a stream to pod `db-0`',
    dial: async () => ({
      url: `ws://127.0.0.1:${port}/api/v1/namespaces/testops/pods/db-0/portforward?ports=5432`,
      options: { headers: { authorization: 'Bearer t' } },
    }),
    refused: ({ status, text, contentType }) => new AdminError('FORBIDDEN', `${status} ${contentType}: ${text}`),
    unreached: (error) => new AdminError('UNREACHABLE', (error as Error).message),
    timeoutMs: 1000,
    ...of,
  }
}

/** The address of this machine that leads to port 5432 of the pod. */
async function forwarded(
  upgrade: Upgrade,
  of: Partial<StreamServer> = {},
): Promise<{ port: number; upgrades: string[]; close: () => Promise<void> }> {
  const { port, upgrades } = await apiServer(upgrade)
  const { source, close } = await listenForward(async () => portStream(await openChannels(streamServer(port, of))))
  onTestFinished(close)
  expect(source.host).toBe('127.0.0.1')
  return { port: source.port, upgrades, close }
}

function client(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  return socket
}

/** How a connection ends: 'end' as its peer wanted it, or the error. */
async function endOf(socket: Socket): Promise<string> {
  let end = 'end'
  socket.on('error', (error: Error & { code?: string }) => (end = error.code ?? error.message))
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
  return end
}

/** What listens in the pod. */
async function inPod(treat: (socket: Socket) => void): Promise<(port: number) => Socket | null> {
  const port = await listen(treat)
  return (asked) => (asked === 5432 ? connect(port, '127.0.0.1') : null)
}

const echo = (socket: Socket): void => void socket.pipe(socket)

describe.each(['v4.channel.k8s.io', 'v5.channel.k8s.io'])('%s', (protocol) => {
  test('each connection is a stream of its own, with credentials', async () => {
    const connectTo = await inPod(echo)
    const { port, upgrades } = await forwarded((...it) =>
      forwardPorts(...it, { protocols: [protocol], connect: connectTo }),
    )
    for (const text of ['first', 'second']) {
      const socket = client(port)
      socket.write(text)
      const [answer] = (await once(socket, 'data')) as [Buffer]
      expect(answer.toString()).toBe(text)
    }
    const line =
      'Bearer t /api/v1/namespaces/testops/pods/db-0/portforward?ports=5432 v5.channel.k8s.io,v4.channel.k8s.io'
    expect(upgrades).toEqual([line, line])
  })

  test('a client that has said all gets the whole answer', async () => {
    const server = createHalfOpen({ allowHalfOpen: true }, (socket) =>
      socket.once('data', () => setTimeout(() => socket.end('answer'), 100)),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const connectTo = (): Socket =>
      connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true })
    const { port } = await forwarded((...it) => forwardPorts(...it, { protocols: [protocol], connect: connectTo }))
    const socket = client(port)
    socket.end('question')
    expect((await buffer(socket)).toString()).toBe('answer')
  })

  test('20 MB in both directions at once arrive as they were, past a slow reader', async () => {
    const content = Buffer.alloc(20_000_000, 'abcdefghij')
    const connectTo = await inPod(echo)
    const { port } = await forwarded((...it) => forwardPorts(...it, { protocols: [protocol], connect: connectTo }))
    const socket = client(port)
    socket.pause()
    socket.write(content)
    await sleep(100)
    const parts: Buffer[] = []
    let length = 0
    for await (const part of socket as AsyncIterable<Buffer>) {
      parts.push(part)
      length += part.length
      if (length >= content.length) break
    }
    expect(Buffer.concat(parts).equals(content)).toBe(true)
  })
})

test(
  'where the server in the pod ends a connection, the client sees an end; ' + 'where it is cut off, a break',
  async () => {
    const streams: WebSocket[] = []
    const treat: Upgrade = (...it) =>
      upgraded(...it, ['v4.channel.k8s.io'], (stream) => {
        for (const channel of [0, 1]) stream.send(frame(channel, [0x38, 0x15]))
        streams.push(stream)
      })
    const { port } = await forwarded(treat)
    const ended = endOf(client(port))
    await expect.poll(() => streams.length).toBe(1)
    await sleep(50)
    streams[0]!.close(1000)
    expect(await ended).toBe('end')
    const broken = endOf(client(port))
    await expect.poll(() => streams.length).toBe(2)
    await sleep(50)
    streams[1]!.terminate()
    expect(await broken).toBe('ECONNRESET')
    const reset = endOf(client(port))
    await expect.poll(() => streams.length).toBe(3)
    streams[2]!.send(frame(1, 'connection reset by peer'))
    streams[2]!.close(1000)
    expect(await reset).toBe('ECONNRESET')
  },
)

test('after a break, the next connection is a new stream', async () => {
  let isDown = false
  const connectTo = await inPod(echo)
  const streams: Duplex[] = []
  const { port } = await forwarded((request, socket, head) => {
    streams.push(socket)
    if (isDown) return void socket.destroy()
    forwardPorts(request, socket, head, { connect: connectTo })
  })
  const first = client(port)
  first.write('a')
  await once(first, 'data')
  isDown = true
  const broken = endOf(first)
  streams[0]!.destroy()
  expect(await broken).toBe('ECONNRESET')
  expect(await endOf(client(port))).toBe('ECONNRESET')
  isDown = false
  const next = client(port)
  next.write('b')
  expect(String(await once(next, 'data'))).toBe('b')
})

test('nothing listens in the pod', async () => {
  const { port } = await forwarded((...it) => forwardPorts(...it, { connect: () => null }))
  expect(await endOf(client(port))).toBe('ECONNRESET')
})

test('a stream that has ended before it was used is replaced', async () => {
  const connectTo = await inPod(echo)
  let count = 0
  const { port } = await forwarded((...it) =>
    forwardPorts(...it, { connect: (asked) => (count++ === 0 ? null : connectTo(asked)) }),
  )
  // its end has to be heard, which nobody reads yet
  const socket = client(port)
  await endOf(socket)
  const next = client(port)
  next.write('b')
  expect(String(await once(next, 'data'))).toBe('b')
})

test('a silent stream is broken, one that answers is not', async () => {
  const { port } = await forwarded(
    (...it) =>
      upgraded(...it, ['v4.channel.k8s.io'], (stream) => {
        stream.send(frame(0, [0x38, 0x15]))
        // whoever reads nothing answers no ping
        stream.on('message', () => stream.pause())
      }),
    { pingMs: 50 },
  )
  const socket = client(port)
  let isOver = false
  const end = endOf(socket).finally(() => (isOver = true))
  await sleep(300)
  expect(isOver).toBe(false)
  socket.write('x')
  expect(await end).toBe('ECONNRESET')
})

test.each([
  {
    status: 403,
    body: '{"kind":"Status","message":"pods \\"db-0\\" is forbidden"}',
    failure: 'FORBIDDEN 403 application/json: {"kind":"Status","message":"pods \\"db-0\\" is forbidden"}',
  },
  { status: 404, body: '{"kind":"Status"}', failure: 'FORBIDDEN 404 application/json: {"kind":"Status"}' },
  { status: 500, body: '', failure: 'FORBIDDEN 500 application/json: ' },
])('an upgrade that is refused with $status', async ({ status, body, failure }) => {
  const opening = forwarded((_, socket) =>
    socket.end(
      `HTTP/1.1 ${status} No\r\nContent-Type: application/json\r\nContent-Length: ` +
        `${body.length}\r\nConnection: close\r\n\r\n${body}`,
    ),
  )
  expect(await failureOf(opening)).toBe(failure)
})

test('a server that takes none of the protocols', async () => {
  const opening = forwarded((...it) => upgraded(...it, ['v1.other'], () => undefined))
  expect(await failureOf(opening)).toMatch(/^UNREACHABLE Server sent no subprotocol$/)
})

test.each([
  { what: 'does not listen', port: closedPort, failure: /^UNREACHABLE connect ECONNREFUSED / },
  {
    what: 'is silent',
    port: silentPeer,
    failure: new RegExp(
      '^(TIMED_OUT the API server did not open the stream for a stream to pod `db-0` within 0\\.3 s|' +
        'UNREACHABLE Opening handshake has timed out)$',
    ),
  },
])('a server that $what', async ({ port, failure }) => {
  const server = streamServer(await port(), { timeoutMs: 300 })
  expect(await failureOf(listenForward(async () => portStream(await openChannels(server))))).toMatch(failure)
})

test('closing ends a stream that is still being opened', async () => {
  const connectTo = await inPod(echo)
  const { port: server } = await apiServer((...it) => forwardPorts(...it, { connect: connectTo }))
  const opened: ByteStream[] = []
  let open: () => void = () => undefined
  const isOpening = new Promise<void>((resolve) => (open = resolve))
  let isAsked = false
  const { source, close } = await listenForward(async () => {
    if (opened.length > 0) {
      isAsked = true
      await isOpening
    }
    const stream = portStream(await openChannels(streamServer(server)))
    opened.push(stream)
    return stream
  })
  onTestFinished(close)
  const first = client(source.port)
  first.write('a')
  await once(first, 'data')
  client(source.port)
  await expect.poll(() => isAsked).toBe(true)
  await close()
  open()
  await expect.poll(() => opened.map((it) => it.isOpen)).toEqual([false, false])
})

test('the end of a stream is read even if its last bytes had to wait for the client', async () => {
  let on: ByteListener | undefined
  let isPaused = false
  const { source, close } = await listenForward(async () => ({
    isOpen: true,
    use: (listener) => (on = listener),
    send: (_, sent) => sent(),
    end: () => true,
    pause: () => (isPaused = true),
    resume: () => (isPaused = false),
    close: () => undefined,
    destroy: () => undefined,
  }))
  onTestFinished(close)
  const socket = connect({ host: source.host, port: source.port, allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  await expect.poll(() => on !== undefined).toBe(true)
  const length = 50_000_000
  on!.data(Buffer.alloc(length))
  expect(isPaused).toBe(true)
  on!.end()
  expect((await buffer(socket)).length).toBe(length)
  await expect.poll(() => isPaused).toBe(false)
})

test('closing ends all connections, the one that was never used too', async () => {
  const connectTo = await inPod(echo)
  const { port, close } = await forwarded((...it) => forwardPorts(...it, { connect: connectTo }))
  const socket = client(port)
  await once(socket, 'connect')
  const ended = endOf(socket)
  await close()
  await ended
  expect(await endOf(client(port))).toBe('ECONNREFUSED')
})
