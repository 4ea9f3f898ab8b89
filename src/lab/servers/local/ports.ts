import { createServer, connect } from 'node:net'
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../../../core/error.ts'
import { command } from '../../../core/shell-command.ts'
import { claimPort } from './port-claims.ts'

export const loopback = '127.0.0.1'

/**
 * Finds a free port on loopback, below the range for outgoing connections. No other lab gets it while this process
 * lives, or while `folder`, the future listener's folder, exists. Throws UNAVAILABLE if none is found.
 */
export async function freePort(folder: string | null = null): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = randomInt(20_000, 32_000)
    if ((await canListen(port)) && (await claimPort(port, folder))) return port
  }
  throw new AdminError('UNAVAILABLE', `no free port found on ${loopback} between 20000 and 32000`)
}

/** Throws UNAVAILABLE if something already listens on the port. */
export async function assertPortFree(port: number, forWhat: string): Promise<void> {
  if (await canListen(port)) return
  throw new AdminError(
    'UNAVAILABLE',
    `port ${port} on ${loopback}, needed for ${forWhat}, is taken by another program`,
    [command`ss -ltnp ${`sport = :${port}`}   # shows that program`, 'stop that program, or choose another port'],
  )
}

/** Waits until nothing listens on the ports any more, or until the timeout. */
export async function waitUntilFree(ports: readonly number[], timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (const port of ports) while (!(await canListen(port)) && Date.now() < deadline) await sleep(20)
}

/** True if something accepts connections there within `timeoutMs`. */
export function accepts(host: string, port: number, timeoutMs = 2000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs })
    const done = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => done(true))
    socket.once('timeout', () => done(false))
    socket.once('error', () => done(false))
  })
}

/** True if this is an address of this machine, even of an interface that is down. */
export function isOurs(host: string): Promise<boolean> {
  return canListen(0, host)
}

function canListen(port: number, host = loopback): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
