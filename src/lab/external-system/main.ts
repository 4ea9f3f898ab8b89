import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { listenHere, readOrders, writeReport } from '../side-program/files.ts'
import { currentUserPath, filesIn } from './orders.ts'
import type { ExternalSystemOrders } from './orders.ts'
import type { RequestListener } from 'node:http'

/** Answers like a tracker: 401 for a missing or wrong login, 400 for a missing version header if one is required. */
function answers({ user, password, wantsVersion }: ExternalSystemOrders): RequestListener {
  const allowed = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  return ({ url = '', headers }, answer) => {
    const say = (status: number, body: object, more: Record<string, string> = {}): void => {
      answer.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(body))
    }
    if (wantsVersion && headers['x-api-version'] === undefined)
      return say(400, { message: 'the header X-Api-Version is missing' })
    if (headers.authorization !== allowed)
      return say(401, { message: 'authentication required' }, { 'www-authenticate': 'Basic realm="tracker"' })
    return url === currentUserPath ? say(200, { name: user }) : say(404, { message: 'no such resource' })
  }
}

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
