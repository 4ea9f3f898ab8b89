import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { systemCode } from './failure.ts'
import type { Route } from './http-route.ts'

/** The request under way, to abort it directly; a signal would take as long as several requests. */
export interface Held {
  request: ClientRequest | null
}

export interface Sending {
  /** Path below the base address, with its query */
  path: string
  options: RequestOptions
  body?: string | undefined
  /** True if it may be sent again when a kept connection turns out to be closed */
  repeatable: boolean
  /** Sees the request before it is sent; may end the wait with an error */
  watch?: (request: ClientRequest, fail: (error: Error) => void) => void
  /** Returns the error to throw for one of the connection */
  failure?: (error: Error) => Error
}

/**
 * Sends one request along a route and returns its answer, of any status, as soon as its head is there. The one rule for
 * retries: a server may close a kept connection just as it is used again. Throws what the connection fails with.
 */
export async function sendHttp(
  { request, agent }: Pick<Route, 'request' | 'agent'>,
  base: URL,
  sending: Sending,
  held: Held,
): Promise<IncomingMessage> {
  const { path, options, body, repeatable, watch, failure = (error) => error } = sending
  try {
    return await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(base, {
        agent,
        ...options,
        path: `${base.pathname.replace(/(?<!\/)\/+$/, '')}${path}`,
        headers: { host: base.host, accept: 'application/json', 'user-agent': 'testops-admin', ...options.headers },
      })
      held.request = sent
      watch?.(sent, reject)
      sent.on('response', resolve)
      sent.on('error', (error) => reject(failure(error)))
      sent.end(body)
    })
  } catch (error) {
    const again = held.request?.reusedSocket === true && repeatable && systemCode(error) === 'ECONNRESET'
    if (again) return sendHttp({ request, agent }, base, sending, held)
    throw error
  }
}
