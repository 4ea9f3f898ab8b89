import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server that answers what the input says; one path may be answered well all the same. */
export interface AnsweringServer {
  url: string
  answer: (input: Buffer) => void
  close: () => Promise<void>
}

const statuses = [
  200, 200, 200, 200, 200, 200, 200, 201, 204, 206, 301, 302, 400, 401, 403, 404, 406, 409, 429, 500, 501, 502, 503,
  504, 599, 999,
]
const types = ['application/json', 'text/html', 'application/json; charset=utf-16', 'x', '', 'text/plain']

/** The first byte of an input chooses the status, the second the headers; all of it is the body. */
export async function answeringServer(
  isServedWell: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
): Promise<AnsweringServer> {
  let now: Buffer = Buffer.alloc(0)
  const server = createServer((request, response) => {
    request.resume()
    if (isServedWell(request, response)) return
    const sum = now.subarray(0, 40).reduce((all, byte) => (all * 31 + byte) % 65_521, 7) + now.length
    const status = sum % 3 === 0 ? statuses[Math.floor(sum / 3) % statuses.length]! : 200
    const kind = Math.floor(sum / 7) % 40
    response.statusCode = status
    if (kind !== 1) response.setHeader('content-type', types[kind % types.length]!)
    if (kind === 2) response.setHeader('date', 'x')
    if (kind === 3) response.setHeader('retry-after', ['0', '-1', '1e9', 'soon', 'Fri, 99 Nov 2026'][now.length % 5]!)
    if (kind === 4 || (status >= 300 && status < 400))
      response.setHeader('location', ['/', '//x', 'http://[', 'https://other/login', '\u00ff'][now.length % 5]!)
    if (kind === 5) response.setHeader('www-authenticate', 'Basic realm="x')
    if (kind === 6) response.setHeader('content-length', String(now.length + 5))
    if (kind === 7) response.setHeader('content-encoding', 'gzip')
    if (kind === 8)
      response.setHeader('server', `x${now.toString('latin1').replaceAll(/[^\x20-\x7e\x80-\xff]/g, '')}`.slice(0, 200))
    if (kind === 9) return void response.destroy()
    if (kind === 10) return void response.socket?.end('HTTP/1.1 2xx\r\n\r\n')
    response.end(now, kind === 6 ? () => response.destroy() : undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    answer: (input) => void (now = input),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
