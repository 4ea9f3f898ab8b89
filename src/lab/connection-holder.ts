import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import type { HolderOrders, HolderReport } from './holder.ts'
import { identify } from '../adapters/process-identity.ts'

/**
 * Opens database connections and never gives them back, as a leaking job does. Its folder holds its orders; it ends when
 * they are gone, or PostgreSQL is.
 */
const folder = process.argv[2] ?? ''
const identity = (await identify(process.pid))!

async function orders(): Promise<HolderOrders | null> {
  return readFile(join(folder, 'holder.json'), 'utf8').then((text) => JSON.parse(text) as HolderOrders, () => null)
}

async function report(held: number, done: boolean): Promise<void> {
  const file = join(folder, 'holder.pid')
  const next: HolderReport = { ...identity, held, done }
  try {
    await writeFile(`${file}.new`, JSON.stringify(next), { mode: 0o600 })
    await rename(`${file}.new`, file)
  } catch {
    // the folder has gone: the loop below ends
  }
}

/** Null where PostgreSQL has no slot left, or is not there. */
async function open(told: HolderOrders): Promise<Client | null> {
  const { host, port, user, password, database } = told
  const client = new Client({ host, port, user, password, database, application_name: 'nightly-report', connectionTimeoutMillis: 5000 })
  client.on('error', () => undefined)
  return client.connect().then(() => client, () => null)
}

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
