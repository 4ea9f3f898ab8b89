import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { holderIn } from './holder-orders.ts'
import type { HolderOrders, HolderReport } from './holder-orders.ts'
import { readOrders, writeReport } from './side-program/files.ts'

/**
 * Opens database connections and keeps them open, as a leaking job does. Reads its orders from its folder. Exits when
 * they are gone.
 */
const files = holderIn(process.argv[2] ?? '')

/** Opens a connection. Returns null if PostgreSQL has no free slot or is not running. */
async function open(told: HolderOrders): Promise<Client | null> {
  const { host, port, user, password, database } = told
  const client = new Client({
    host,
    port,
    user,
    password,
    database,
    application_name: 'nightly-report',
    connectionTimeoutMillis: 5000,
  })
  client.on('error', () => undefined)
  return client.connect().then(
    () => client,
    () => null,
  )
}

const report = (held: number, done: boolean): Promise<void> =>
  writeReport(files, { held, done } satisfies Omit<HolderReport, 'pid' | 'startTime'>)
const orders = (): Promise<HolderOrders | null> => readOrders<HolderOrders>(files)

await report(0, false)
const held = new Set<Client>()
for (let told = await orders(); told; told = await orders()) {
  const wanted = told.count ?? Infinity
  let refused = false
  while (held.size < wanted && !refused) {
    const client = await open(told)
    if (client) {
      held.add(client)
      client.on('end', () => held.delete(client))
    } else refused = true
  }
  await report(held.size, told.count === null ? refused : held.size >= told.count)
  await sleep(200)
}
for (const client of held) void client.end().catch(() => undefined)
