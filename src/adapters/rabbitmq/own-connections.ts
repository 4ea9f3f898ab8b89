import type { Socket } from 'node:net'
import { hostPort } from '../failure.ts'

/** sockets of this process, to any broker */
const sockets = new Set<Socket>()

/** Remembers a connection of ours for as long as it lasts. */
export function remembered<S extends Socket>(socket: S): S {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
  return socket
}

/**
 * True if a broker's name for a connection, `127.0.0.1:41000 -> 127.0.0.1:5672`, is one of ours. If addresses are
 * translated on the way, only the connection's own name identifies it, which the broker lists some seconds later.
 */
export function isOurs(name: string): boolean {
  return [...sockets].some(
    ({ localAddress, localPort }) =>
      localAddress !== undefined &&
      localPort !== undefined &&
      name.startsWith(`${hostPort(localAddress, localPort)} -> `),
  )
}
