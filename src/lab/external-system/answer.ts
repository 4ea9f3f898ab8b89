import type { RequestListener } from 'node:http'
import { currentUserPath } from './orders.ts'
import type { ExternalSystemOrders } from './orders.ts'

/** Answers like a tracker: 401 for a missing or wrong login, 400 for a call that lacks the version header. */
export function answers({ user, password, wantsVersion }: ExternalSystemOrders): RequestListener {
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
