import type { Binding, ExchangeDeclaration } from '../broker-control.ts'

export interface BrokerSource {
  /** host:port and vhost, without credentials */
  readonly target: string
  readonly vhost: string
  readonly user: string
  /** Reads the AMQP handshake, so it works without the management plugin */
  identity(): Promise<{ product: string; version: string }>
  /** This and all below but `counts` ask the management API or `rabbitmqctl`; throw UNAVAILABLE if neither answers */
  queues(): Promise<readonly BrokerQueue[]>
  exchanges(): Promise<readonly BrokerExchange[]>
  consumers(): Promise<readonly BrokerConsumer[]>
  /** Returns what the broker says about a deprecated feature; null: this version has no such list (before 3.13) */
  deprecatedFeature(name: string): Promise<{ state: 'permitted' | 'denied' | 'unknown'; used: boolean | null } | null>
  nodes(): Promise<readonly BrokerNode[]>
  /** Returns the vhost's bindings, without those of the nameless exchange, which every queue has */
  bindings(): Promise<readonly Binding[]>
  /** Returns the vhost's policies, those of operators among them; throws FORBIDDEN if the user may not see them */
  policies(): Promise<readonly BrokerPolicy[]>
  /**
   * Returns the connections to the vhost, also those opened just before this call. Throws FORBIDDEN if the user may not
   * see them, UNAVAILABLE if the broker does not list them
   */
  connections(): Promise<readonly BrokerConnection[]>
  /**
   * Returns that user's connections to the vhost at this moment, also new ones: lists lag by seconds. Throws FORBIDDEN
   */
  connectionsOf(user: string): Promise<readonly TrackedConnection[]>
  /** Returns the tags of the user that we sign in with: 'monitoring', 'impersonator' */
  tags(): Promise<readonly string[]>
  /**
   * Returns what that user may do in the vhost; null: the list does not show it. The management API shows the list to
   * administrators only, and it does not have users of another authentication backend
   */
  permissions(): Promise<BrokerPermissions | null>
  /**
   * Returns the counts at this moment, while lists lag by seconds; null: there is no such queue. Throws REFUSED for
   * another connection's exclusive queue
   */
  counts(queues: readonly string[]): Promise<ReadonlyMap<string, QueueCounts | null>>
}

/** Regular expressions on names of queues and exchanges; a name is permitted if some part of it matches. */
export interface BrokerPermissions {
  configure: string
  write: string
  read: string
}

export interface QueueCounts {
  /** Number of messages ready for delivery: without those that a consumer holds unacknowledged */
  ready: number
  consumers: number
}

export interface BrokerPolicy {
  name: string
  /** True if set by the broker's operator: takes precedence over the other */
  isOperators: boolean
  /** Regular expression on names */
  pattern: string
  /** `queues`, `exchanges`, `all`, `classic_queues`, … */
  appliesTo: string
  priority: number
  definition: Readonly<Record<string, unknown>>
}

export interface BrokerConnection {
  /** The broker's name for it, `127.0.0.1:41000 -> 127.0.0.1:5672` */
  name: string
  /** The client's own name for it; null: it gave none */
  clientName: string | null
  user: string
}

export interface TrackedConnection extends BrokerConnection {
  /**
   * True if lists have it too, with its `clientName`: after some seconds, these are the real ones. Some of the others
   * are stale
   */
  isListed: boolean
}

export interface BrokerQueue {
  name: string
  vhost: string
  durable: boolean
  autoDelete: boolean
  exclusive: boolean
  type: string
  arguments: Readonly<Record<string, unknown>>
  /** Null: not counted yet, as in the first seconds after the broker's start */
  messages: number | null
  consumers: number | null
  policy: string | null
}

export interface BrokerExchange extends ExchangeDeclaration {
  vhost: string
}

/** A consumer. A new one is listed some seconds later: the broker counts every five seconds. */
export interface BrokerConsumer {
  queue: string
  vhost: string
  user: string
  /** The client's own name for its connection, else its address */
  connection: string
}

export interface BrokerNode {
  name: string
  running: boolean
  memoryAlarm: boolean
  diskAlarm: boolean
  /** Null: not counted yet */
  figures: BrokerNodeFigures | null
}

export interface BrokerNodeFigures {
  memoryUsedBytes: number
  memoryLimitBytes: number
  diskFreeBytes: number
  diskLimitBytes: number
}
