import { readFile, rename, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { identify } from '../../adapters/process-identity.ts'

/** A program of the lab that some faults need, besides the servers. It exits once its orders are gone. */
export interface SideProgram {
  /** the built program: 'lab/reverse-proxy/main.js' */
  program: string
  /** its name for people: 'the reverse proxy' */
  what: string
  /** the folder of all files that it reads and writes */
  folder: string
  /** JSON: its orders */
  orders: string
  /** JSON: its report */
  report: string
}

/** Reads the program's report; null if there is none yet. */
export async function readReport<Report>({ report }: Pick<SideProgram, 'report'>): Promise<Report | null> {
  return readJson<Report>(report)
}

/** Reads this program's orders; null means that it must exit. */
export async function readOrders<Orders>({ orders }: Pick<SideProgram, 'orders'>): Promise<Orders | null> {
  return readJson<Orders>(orders)
}

async function readJson<Content>(file: string): Promise<Content | null> {
  return readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as Content,
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
