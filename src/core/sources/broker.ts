import type { Binding, ExchangeDeclaration } from '../topology.ts'

export interface BrokerSource {
  /** host:port and vhost, without credentials */
  readonly target: string
  readonly vhost: string
  readonly user: string
  /** from the AMQP handshake, so it works without the management plugin */
  identity(): Promise<{ product: string; version: string }>
  /** the rest asks the management API, and throws UNAVAILABLE where that plugin is not enabled */
  queues(): Promise<readonly BrokerQueue[]>
  exchanges(): Promise<readonly BrokerExchange[]>
  consumers(): Promise<readonly BrokerConsumer[]>
  /** what the broker says about a deprecated feature; null where this version has no such list (before 3.13) */
  deprecatedFeature(name: string): Promise<{ state: 'permitted' | 'denied' | 'unknown'; used: boolean | null } | null>
  nodes(): Promise<readonly BrokerNode[]>
  /** of the vhost, without those of the nameless exchange, which every queue has */
  bindings(): Promise<readonly Binding[]>
  /** of the vhost, those of operators among them; throws FORBIDDEN where the user may not see them */
  policies(): Promise<readonly BrokerPolicy[]>
  /**
   * who is connected to the vhost, whoever came before this is asked among them. Throws FORBIDDEN where the user may
   * not see it, UNAVAILABLE where the broker does not list them
   */
  connections(): Promise<readonly BrokerConnection[]>
  /**
   * that user's connections to the vhost at this moment: what has just come is there, where lists lag by seconds.
   * Throws FORBIDDEN
   */
  connectionsOf(user: string): Promise<readonly TrackedConnection[]>
  /** what the user that we sign in with is marked with: 'monitoring', 'impersonator' */
  tags(): Promise<readonly string[]>
  /**
   * as they are at this moment, where lists lag by seconds; null: there is no such queue. Throws REFUSED for another
   * connection's exclusive queue
   */
  counts(queues: readonly string[]): Promise<ReadonlyMap<string, QueueCounts | null>>
}

export interface QueueCounts {
  /** ready to be delivered: without those that a consumer holds and has not acknowledged */
  ready: number
  consumers: number
}

export interface BrokerPolicy {
  name: string
  /** set by the broker's operator: stands above the other */
  isOperators: boolean
  /** a regular expression on names */
  pattern: string
  /** `queues`, `exchanges`, `all`, `classic_queues`, … */
  appliesTo: string
  priority: number
  definition: Readonly<Record<string, unknown>>
}

export interface BrokerConnection {
  /** the broker's name for it, `127.0.0.1:41000 -> 127.0.0.1:5672` */
  name: string
  /** the client's own name for it; null: it gave none */
  clientName: string | null
  user: string
}

export interface TrackedConnection extends BrokerConnection {
  /**
   * whether lists have it, too, and its `clientName`: after some seconds, those that there really are. Of others, some
   * are left over
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
  /** null: not counted yet, as in the first seconds after the broker's start */
  messages: number | null
  consumers: number | null
  policy: string | null
}

export interface BrokerExchange extends ExchangeDeclaration {
  vhost: string
}

/** One that has just come is listed some seconds later: the broker counts every five seconds. */
export interface BrokerConsumer {
  queue: string
  vhost: string
  user: string
  /** the client's own name for its connection, else its address */
  connection: string
}

export interface BrokerNode {
  name: string
  running: boolean
  memoryAlarm: boolean
  diskAlarm: boolean
  /** null: not counted yet */
  figures: BrokerNodeFigures | null
}

export interface BrokerNodeFigures {
  memoryUsedBytes: number
  memoryLimitBytes: number
  diskFreeBytes: number
  diskLimitBytes: number
}
