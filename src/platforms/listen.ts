import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import type { HostPort, Opened } from '../core/endpoint.ts'

/** Listens on a free port of this machine, and passes each connection on, paused. Closing it ends all connections. */
export async function listenHere(connected: (socket: Socket) => void): Promise<Opened<HostPort>> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    connected(socket)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  // an open server alone must not keep the command running
  server.unref()
  return {
    source: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
