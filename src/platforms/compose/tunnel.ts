import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { HostPort, Opened } from '../../core/endpoint.ts'
import { listenHere } from '../listen.ts'

/**
 * An address of this machine of which each connection is opened anew: what a container is reached at may be another
 * after it was stopped. One that cannot be opened, or breaks, is a broken connection.
 */
export async function listenTunnel(open: () => Promise<Duplex>): Promise<Opened<HostPort>> {
  return listenHere((socket) => {
    open().then(
      (stream) => join(socket, stream),
      () => socket.resetAndDestroy(),
    )
  })
}

/** Passes everything on in both directions, no faster than it is taken. */
function join(socket: Socket, stream: Duplex): void {
  // whoever is connected is to see that it was not the server that has ended it
  stream.once('error', () => socket.resetAndDestroy())
  socket.once('close', () => stream.destroy())
  if (socket.destroyed) stream.destroy()
  socket.pipe(stream).pipe(socket)
}
