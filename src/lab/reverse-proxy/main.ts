import { appendFile, readFile, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { identify } from '../../adapters/process-identity.ts'
import { forward } from './forward.ts'
import { logLine } from './log-line.ts'
import { filesIn } from './orders.ts'
import type { ProxyOrders, ProxyReport } from './orders.ts'

/**
 * A reverse proxy before the practice service, with the limits and the access log of nginx. Its folder holds its orders; it
 * ends when they are gone.
 */
const files = filesIn(process.argv[2] ?? '')

async function readOrders(): Promise<ProxyOrders | null> {
  return readFile(files.orders, 'utf8').then((text) => JSON.parse(text) as ProxyOrders, () => null)
}

let orders = await readOrders()
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
      // what nginx writes where the client went away
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
server.listen({ host: '127.0.0.1', port: 0 })
await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject))

const report: ProxyReport = { ...(await identify(process.pid))!, port: (server.address() as AddressInfo).port }
await writeFile(`${files.report}.new`, JSON.stringify(report), { mode: 0o600 })
await rename(`${files.report}.new`, files.report)

while (orders) {
  await sleep(200)
  orders = await readOrders()
}
server.close()
server.closeAllConnections()
