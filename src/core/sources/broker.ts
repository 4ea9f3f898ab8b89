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

export interface BrokerExchange {
  name: string
  vhost: string
  durable: boolean
  autoDelete: boolean
  internal: boolean
  type: string
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
