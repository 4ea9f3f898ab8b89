import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { listenHere, readOrders, writeReport } from '../side-program/own.ts'
import { answers } from './answer.ts'
import { filesIn } from './orders.ts'
import type { ExternalSystemOrders } from './orders.ts'

/** A small external system for an integration of the practice service. It exits when its orders are gone. */
const files = filesIn(process.argv[2] ?? '')
const orders = await readOrders<ExternalSystemOrders>(files)
if (orders) {
  const server = createServer(answers(orders))
  await writeReport(files, { port: await listenHere(server) })
  while ((await readOrders(files)) !== null) await sleep(200)
  server.close()
  server.closeAllConnections()
}
