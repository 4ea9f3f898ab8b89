import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { onTestFinished } from 'vitest'

/** The port of a server that lives until the test ends and treats each connection so. */
export async function listen(treat: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    treat(socket)
  })
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return portOf(server)
}

/** Accepts connections and never answers. */
export async function silentPeer(): Promise<number> {
  return listen(() => undefined)
}

/** The same in a thread of its own, so that its ends of the connections are not among those of the test. */
export async function silentPeerApart(): Promise<number> {
  const program = `const server = require('node:net').createServer(() => {})
    server.listen(0, '127.0.0.1', () => require('node:worker_threads').parentPort.postMessage(server.address().port))`
  const worker = new Worker(program, { eval: true })
  onTestFinished(async () => void (await worker.terminate()))
  const [port] = (await once(worker, 'message')) as [number]
  return port
}

/** Does not even accept connections, as behind a firewall that drops them: as many as it queues wait there already. */
export async function fullPeer(): Promise<number> {
  const program = `const server = require('node:net').createServer()
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      require('node:worker_threads').parentPort.postMessage(server.address().port)
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
    })`
  const worker = new Worker(program, { eval: true })
  const [port] = (await once(worker, 'message')) as [number]
  const waiting: Socket[] = []
  onTestFinished(async () => {
    for (const socket of waiting) socket.destroy()
    await worker.terminate()
  })
  for (let accepted = true; accepted; ) {
    const socket = connect({ port, host: '127.0.0.1' })
    waiting.push(socket)
    socket.on('error', () => undefined)
    accepted = await Promise.race([once(socket, 'connect').then(() => true), sleep(300, false)])
  }
  return port
}

/** Says the same to everybody who says anything, then hangs up. */
export async function foreignPeer(says: string | Buffer): Promise<number> {
  return listen((socket) => socket.once('data', () => socket.end(says)))
}

/** Hangs up on everybody. */
export async function closingPeer(): Promise<number> {
  return listen((socket) => socket.destroy())
}

/** Between a client and a real server; `cut` breaks all connections, and no new ones are accepted. */
export async function cuttableProxy(
  connect: () => Socket,
): Promise<{ port: number; cut: () => void; stall: () => void }> {
  const sockets = new Set<Socket>()
  let closed = false
  const port = await listen((client) => {
    if (closed) return void client.destroy()
    const server = connect()
    server.on('error', () => client.destroy())
    client.on('close', () => server.destroy())
    server.on('close', () => client.destroy())
    sockets.add(client).add(server)
    client.pipe(server).pipe(client)
  })
  return {
    port,
    cut() {
      closed = true
      for (const socket of sockets) socket.destroy()
    },
    stall() {
      for (const socket of sockets) {
        socket.unpipe()
        socket.pause()
      }
    },
  }
}

/** How many TCP connections this process has open, from either end. */
export function openConnections(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
}

/** A port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer()
  const port = await portOf(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
