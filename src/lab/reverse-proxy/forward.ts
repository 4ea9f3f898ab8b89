import type { IncomingMessage, ServerResponse } from 'node:http'
import { request } from 'node:http'
import { webSession } from '../../knowledge/sessions.ts'
import type { ProxyOrders } from './orders.ts'

const reasons = { 413: 'Request Entity Too Large', 502: 'Bad Gateway', 504: 'Gateway Time-out' } as const
const hopByHop = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'te', 'trailer', 'expect']

/** Answers one request: redirects it to the identity provider, rejects it at a limit, or asks the service. */
export function forward(incoming: IncomingMessage, answer: ServerResponse, orders: ProxyOrders): void {
  const { method = 'GET', url = '/', headers } = incoming
  if (isSentAway(incoming, orders)) {
    incoming.resume()
    answer.writeHead(302, { location: orders.identityProvider!, connection: 'close' }).end()
    return
  }
  if (Number(headers['content-length'] ?? 0) > orders.maxBodyBytes) {
    // read and drop the client's body first, or it would never read the answer
    incoming.resume().once('end', () => refuse(answer, 413))
    return
  }
  const passed = Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name)))
  const forwarded = { ...passed, 'x-forwarded-for': incoming.socket.remoteAddress ?? '', connection: 'close' }
  const upstream = request({
    host: '127.0.0.1',
    port: orders.servicePort,
    method,
    path: url,
    headers: forwarded,
    agent: false,
  })
  upstream.setTimeout(orders.readTimeoutMs, () => {
    refuse(answer, 504)
    upstream.destroy()
  })
  upstream.once('error', () => refuse(answer, 502))
  upstream.once('response', (reply) => {
    const head = reply.rawHeaders.reduce((sum, text) => sum + text.length + 2, 0)
    if (head > orders.maxHeadBytes) {
      refuse(answer, 502)
      upstream.destroy()
      return
    }
    answer.writeHead(
      reply.statusCode ?? 502,
      reply.rawHeaders.filter((_, index, all) => !hopByHop.includes(all[index - (index % 2)]!.toLowerCase())),
    )
    reply.pipe(answer)
    reply.once('error', () => answer.destroy())
  })
  let length = 0
  incoming.on('data', (part: Buffer) => {
    length += part.length
    if (length <= orders.maxBodyBytes) return
    refuse(answer, 413)
    upstream.destroy()
  })
  incoming.pipe(upstream)
}

/** True if a page is requested without a session. Then it goes to the identity provider; API calls do not. */
function isSentAway(
  { method, url = '/', headers }: IncomingMessage,
  { identityProvider, openPages }: ProxyOrders,
): boolean {
  const path = url.split('?')[0]!
  if (identityProvider === null || method !== 'GET' || path.startsWith('/api/') || openPages.includes(path))
    return false
  return !(headers.cookie ?? '').includes(`${webSession.cookie}=`)
}

function refuse(answer: ServerResponse, status: keyof typeof reasons): void {
  if (answer.headersSent) return
  const title = `${status} ${reasons[status]}`
  const page =
    `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n` +
    '<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n'
  answer
    .writeHead(status, { 'content-type': 'text/html', 'content-length': page.length, connection: 'close' })
    .end(page)
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

interface Answered {
  at: Date
  address: string
  method: string
  target: string
  status: number
  bytes: number
  referer: string | undefined
  agent: string | undefined
  authorization: string | undefined
}

/** Returns a line in nginx's combined format, plus the Authorization scheme, which an nginx `map` extracts. */
export function logLine({
  at,
  address,
  method,
  target,
  status,
  bytes,
  referer,
  agent,
  authorization,
}: Answered): string {
  const scheme = /^([A-Za-z-]+) /.exec(authorization ?? '')?.[1]
  const words = [`${method} ${target} HTTP/1.1`, referer, agent, scheme].map(
    (text) => `"${text === undefined ? '-' : escaped(text)}"`,
  )
  return `${address} - - [${clockTime(at)}] ${words[0]} ${status} ${bytes} ${words.slice(1).join(' ')}\n`
}

function clockTime(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${two(at.getUTCDate())}/${months[at.getUTCMonth()]}/${at.getUTCFullYear()}`
  return `${day}:${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())} +0000`
}

function escaped(text: string): string {
  return text.replace(
    /["\\]|[^\x20-\x7e]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
}
