import type { AdminError } from './error.ts'
import type { Secret } from './secret.ts'
import type { Suggestion } from './shell-command.ts'

/** How each part is reached, and as whom: the result of the configuration or the service's own settings. */

/** A server as the service's settings name it. */
export interface HostPort {
  host: string
  port: number
}

/** Where this machine really reaches a server. What is told, planned or verified keeps the server's own address. */
export interface Way extends HostPort {
  /** What an operator would type to open the same way themselves; null: nothing is needed */
  command: Suggestion | null
  /**
   * Returns why a connection through it failed to open, or broke, since that time of `performance.now()`; null: none
   * did, as far as is known. Never throws
   */
  brokenSince?: (time: number) => Promise<AdminError | null>
}

/**
 * Returns the way to an address, open as long as the deployment is; null: use the address as it is. Throws if there is
 * no way.
 */
export type Reach = (address: HostPort) => Promise<Way | null>

export interface DatabaseEndpoint {
  /** Several if the JDBC address has several hosts: the first that is not in recovery is used */
  hosts: readonly HostPort[]
  database: string
  user: string | null
  password: Secret | null
  tls: Tls
  /** The schema that the service's address names (`currentSchema`), null: the user's search path */
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
  /** Without credentials; null: not known */
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
  /** Null: detected by the keys' shape */
  namespace: string | null
  sentinel: { master: string; nodes: readonly HostPort[]; password: Secret | null } | null
  cluster: readonly HostPort[] | null
  reach?: Reach
}

export interface ApiEndpoint {
  /** Without credentials and trailing slash */
  baseUrl: string
  apiToken: Secret | null
  /** PEM text of a private certificate authority */
  ca: string | null
  reach?: Reach
}

export interface Tls {
  /**
   * prefer: as pgjdbc's sslmode of that name; require: encrypted, not verified; verify: verified against `ca` or the
   * system's
   */
  mode: 'disable' | 'prefer' | 'require' | 'verify'
  /** PEM text of a private certificate authority */
  ca: string | null
}

/** A source that holds a connection, and the function that closes it. `close` never throws. */
export interface Opened<T> {
  source: T
  close: () => Promise<void>
}
