import type { Socket } from 'node:net'
import { hostPort } from '../failure.ts'

/** of this process, to whichever broker */
const sockets = new Set<Socket>()

/** Remembers a connection of ours for as long as it lasts. */
export function remembered<S extends Socket>(socket: S): S {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
  return socket
}

/**
 * Whether a broker's name for a connection, `127.0.0.1:41000 -> 127.0.0.1:5672`, is that of one of ours. Where
 * addresses are translated on the way, it is known by the name that it gives itself alone, which the broker lists some
 * seconds later.
 */
export function isOurs(name: string): boolean {
  return [...sockets].some(
    ({ localAddress, localPort }) =>
      localAddress !== undefined &&
      localPort !== undefined &&
      name.startsWith(`${hostPort(localAddress, localPort)} -> `),
  )
}
