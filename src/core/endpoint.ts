import type { AdminError } from './error.ts'
import type { Secret } from './secret.ts'
import type { Suggestion } from './shell-command.ts'

/** Where and as whom each part is reached: what the configuration or the service's own settings come down to. */

/** A server as the service's settings name it. */
export interface HostPort {
  host: string
  port: number
}

/** Where a server is really reached from here. Whatever is told, planned or verified keeps the server's own address. */
export interface Way extends HostPort {
  /** what an operator would type for a way of their own; null: nothing is needed */
  command: Suggestion | null
  /**
   * Why a connection through it was not opened, or broke on the way, since that time of `performance.now()`; null: none
   * did, as far as is known. Never throws
   */
  brokenSince?: (time: number) => Promise<AdminError | null>
}

/**
 * The way to an address, open for as long as the deployment is; null: the address is to be used as it is. Throws where
 * there is none.
 */
export type Reach = (address: HostPort) => Promise<Way | null>

export interface DatabaseEndpoint {
  /** several for JDBC addresses with several hosts: the first that is not in recovery is used */
  hosts: readonly HostPort[]
  database: string
  user: string | null
  password: Secret | null
  tls: Tls
  /** the schema that the service's address names (`currentSchema`), null: the user's search path */
  schema: string | null
  reach?: Reach
}

export interface BrokerEndpoint {
  host: string
  port: number
  vhost: string
  user: string
  password: Secret | null
  tls: Tls
  /** without credentials; null: not known */
  managementUrl: string | null
  reach?: Reach
}

export interface SessionsEndpoint {
  host: string
  port: number
  database: number
  user: string | null
  password: Secret | null
  tls: Tls
  /** null: detected by the keys' shape */
  namespace: string | null
  sentinel: { master: string; nodes: readonly HostPort[]; password: Secret | null } | null
  cluster: readonly HostPort[] | null
  reach?: Reach
}

export interface ApiEndpoint {
  /** without credentials, without a trailing slash */
  baseUrl: string
  apiToken: Secret | null
  /** PEM text of an own certificate authority */
  ca: string | null
  reach?: Reach
}

export interface Tls {
  /**
   * prefer: as pgjdbc's sslmode of that name; require: encrypted, not verified; verify: verified against `ca` or the
   * system's
   */
  mode: 'disable' | 'prefer' | 'require' | 'verify'
  /** PEM text of an own certificate authority */
  ca: string | null
}

/** A source that holds a connection, and how to let go of it. `close` never throws. */
export interface Opened<T> {
  source: T
  close: () => Promise<void>
}
