import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { HostPort, Opened } from '../../core/endpoint.ts'

/**
 * An address of this machine of which each connection is opened anew: what a container is reached at may be another after it was
 * stopped. One that cannot be opened, or breaks, is a broken connection.
 */
export async function listenTunnel(open: () => Promise<Duplex>): Promise<Opened<HostPort>> {
  const held = new Set<Duplex>()
  const hold = (stream: Duplex): void => {
    held.add(stream)
    stream.once('close', () => held.delete(stream))
  }
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => {
    hold(socket)
    socket.on('error', () => undefined)
    open().then(
      (stream) => {
        hold(stream)
        join(socket, stream)
      },
      () => socket.resetAndDestroy(),
    )
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
      for (const stream of held) stream.destroy()
      await closed
    },
  }
}

/** Passes everything on in both directions, no faster than it is taken. */
function join(socket: Socket, stream: Duplex): void {
  // whoever is connected is to see that it was not the server that has ended it
  stream.once('error', () => socket.resetAndDestroy())
  socket.once('close', () => stream.destroy())
  if (socket.destroyed) stream.destroy()
  socket.pipe(stream).pipe(socket)
}
