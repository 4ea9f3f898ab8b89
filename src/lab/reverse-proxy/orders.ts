import { join } from 'node:path'
import type { ProcessIdentity } from '../../adapters/process-identity.ts'
import type { SideProgram } from '../side-program/files.ts'

/** The proxy's orders: proxy.json in its folder. The comments name nginx's settings. */
export interface ProxyOrders {
  /** the service's port on loopback */
  servicePort: number
  /** client_max_body_size: larger requests get 413 */
  maxBodyBytes: number
  /** proxy_read_timeout: 504 if the service sends nothing for this long */
  readTimeoutMs: number
  /** proxy_buffer_size: 502 if the service's answer has larger headers */
  maxHeadBytes: number
  /** the identity provider that page requests without a session are redirected to; null: none */
  identityProvider: string | null
  /** pages that are never redirected */
  openPages: readonly string[]
}

/** The proxy's report: proxy.pid. */
export interface ProxyReport extends ProcessIdentity {
  port: number
}

/** nginx's defaults. */
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
