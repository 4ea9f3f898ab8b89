import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { Transform } from 'node:stream'

/** A connection to a server that can be broken and restored. */
export interface Proxy {
  port: number
  /** Ends all connections, and each further one at once */
  cut(): void
  /** Lets nothing through in either direction; accepts further connections but never answers */
  swallow(): void
  /** Passes on what the target sends at that rate from now on */
  slowDown(bytesPerSecond: number): void
  /** Lets further connections through; ends those that were swallowed */
  mend(): void
  close(): Promise<void>
}

export async function proxyTo(target: { host: string; port: number }): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let how: 'open' | 'cut' | 'swallowed' = 'open'
  let rate = Number.POSITIVE_INFINITY
  const paced = (): Transform =>
    new Transform({
      transform: (chunk: Buffer, _, done) =>
        void (rate === Number.POSITIVE_INFINITY
          ? done(null, chunk)
          : setTimeout(done, (chunk.length / rate) * 1000, null, chunk)),
    })
  const endAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const kept = (socket: Socket): Socket => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
    return socket
  }
  const server = createServer((client) => {
    kept(client)
    if (how === 'cut') return void client.destroy()
    if (how === 'swallowed') return
    const there = kept(connect(target))
    client.once('close', () => there.destroy())
    there.once('close', () => client.destroy())
    client.pipe(there).pipe(paced()).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      how = 'cut'
      endAll()
    },
    swallow() {
      how = 'swallowed'
      for (const socket of sockets) socket.unpipe().pause()
    },
    slowDown(bytesPerSecond) {
      rate = bytesPerSecond
    },
    mend() {
      if (how === 'swallowed') endAll()
      how = 'open'
    },
    async close() {
      endAll()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
