import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** Between the operator and the database. */
export interface Line {
  port: number
  /** breaks what is open; new connections are let through */
  cut(): void
  /** nothing passes any more, and nobody is told */
  stall(): void
  /** breaks what is open, and refuses the rest, until `mend` */
  down(): void
  mend(): void
  close(): void
}

export async function lineTo(server: { host: string; port: number }): Promise<Line> {
  const open = new Set<Socket>()
  let isDown = false
  const listening = createServer((client) => {
    client.on('error', () => undefined)
    if (isDown) return void client.destroy()
    const socket = connect(server)
    socket.on('error', () => undefined)
    for (const [one, other] of [
      [client, socket],
      [socket, client],
    ] as const) {
      open.add(one)
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
    }
    client.pipe(socket).pipe(client)
  })
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  return {
    port: (listening.address() as AddressInfo).port,
    cut,
    stall() {
      isDown = true
      for (const socket of open) socket.unpipe().pause()
    },
    down() {
      isDown = true
      cut()
    },
    mend() {
      isDown = false
      cut()
    },
    close() {
      cut()
      listening.close()
    },
  }
}
