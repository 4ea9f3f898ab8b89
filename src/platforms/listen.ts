import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import type { HostPort, Opened } from '../core/endpoint.ts'

/** An address of this machine, each connection of which is given on as it comes, paused; closing it ends them all. */
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
  // of itself it keeps no command from ending
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
