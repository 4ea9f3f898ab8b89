import { readFile, rename, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { identify } from '../../adapters/process-identity.ts'
import type { SideProgram } from './files.ts'

/** Reads this program's orders; null means that it must exit. */
export async function readOrders<Orders>({ orders }: Pick<SideProgram, 'orders'>): Promise<Orders | null> {
  return readFile(orders, 'utf8').then(
    (text) => JSON.parse(text) as Orders,
    () => null,
  )
}

/** Writes this program's report: its process and `more`. Harmless if its folder is gone. */
export async function writeReport({ report }: Pick<SideProgram, 'report'>, more: object): Promise<void> {
  try {
    await writeFile(`${report}.new`, JSON.stringify({ ...(await identify(process.pid))!, ...more }), { mode: 0o600 })
    await rename(`${report}.new`, report)
  } catch {
    // its orders are gone too, so it will exit
  }
}

/** Listens on a free loopback port of this machine. Returns the port. */
export async function listenHere(server: Server): Promise<number> {
  server.listen({ host: '127.0.0.1', port: 0 })
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject))
  return (server.address() as AddressInfo).port
}
