import { appendFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { listenHere, readOrders, writeReport } from '../side-program/files.ts'
import { forward, logLine } from './forward.ts'
import { filesIn } from './orders.ts'
import type { ProxyOrders } from './orders.ts'

/**
 * A reverse proxy in front of the practice service, with nginx's limits and access log. Reads its orders from its
 * folder. Exits when they are gone.
 */
const files = filesIn(process.argv[2] ?? '')

let orders = await readOrders<ProxyOrders>(files)
const server = createServer((incoming, answer) => {
  const { method = '', url = '', headers, socket } = incoming
  const address = socket.remoteAddress ?? '-'
  const before = socket.bytesWritten
  answer.once('close', () => {
    const line = logLine({
      at: new Date(),
      address,
      method,
      target: url,
      // nginx logs 499 when the client has gone away
      status: answer.headersSent ? answer.statusCode : 499,
      bytes: socket.bytesWritten - before,
      referer: headers.referer,
      agent: headers['user-agent'],
      authorization: headers.authorization,
    })
    void appendFile(files.accessLog, line, { mode: 0o600 }).catch(() => undefined)
  })
  if (orders) forward(incoming, answer, orders)
  else answer.destroy()
})
await writeReport(files, { port: await listenHere(server) })

while (orders) {
  await sleep(200)
  orders = await readOrders(files)
}
server.close()
server.closeAllConnections()
