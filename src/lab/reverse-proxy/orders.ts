import { join } from 'node:path'
import type { ProcessIdentity } from '../../adapters/process-identity.ts'
import type { SideProgram } from '../side-program/files.ts'

/** What the proxy is told: proxy.json in its folder. Its limits are nginx's, by name in the comments. */
export interface ProxyOrders {
  /** where the service listens on loopback */
  servicePort: number
  /** client_max_body_size: larger requests are answered 413 */
  maxBodyBytes: number
  /** proxy_read_timeout: answered 504 after so long without a word of the service */
  readTimeoutMs: number
  /** proxy_buffer_size: answers with a larger head are answered 502 */
  maxHeadBytes: number
  /**
   * whoever asks for a page without a session is sent there, as proxies that ask an identity provider do; null: nobody
   * is
   */
  identityProvider: string | null
  /** pages that come as they are all the same */
  openPages: readonly string[]
}

/** What it says of itself: proxy.pid. */
export interface ProxyReport extends ProcessIdentity {
  port: number
}

/** As nginx comes. */
export const usualLimits: Omit<ProxyOrders, 'servicePort'> = {
  maxBodyBytes: 1_048_576,
  readTimeoutMs: 60_000,
  maxHeadBytes: 4096,
  identityProvider: null,
  openPages: [],
}

export function filesIn(folder: string): SideProgram & { accessLog: string } {
  return {
    program: 'lab/reverse-proxy/main.js',
    what: 'the reverse proxy',
    folder,
    orders: join(folder, 'proxy.json'),
    report: join(folder, 'proxy.pid'),
    accessLog: join(folder, 'access.log'),
  }
}
