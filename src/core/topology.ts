/** What a broker is told when a queue is declared. */
export interface QueueDeclaration {
  name: string
  durable: boolean
  autoDelete: boolean
  arguments: Readonly<Record<string, unknown>>
}

/** What a broker is told when an exchange is declared. */
export interface ExchangeDeclaration {
  name: string
  type: string
  durable: boolean
  autoDelete: boolean
  internal: boolean
  arguments: Readonly<Record<string, unknown>>
}

/** A route for messages from an exchange to a queue or to another exchange. */
export interface Binding {
  source: string
  destination: string
  destinationKind: 'queue' | 'exchange'
  routingKey: string
  /** As lists show them, without types: 5 may have been of ten types */
  arguments: Readonly<Record<string, unknown>>
  /**
   * The key by which the broker distinguishes bindings whose arguments look the same but have other types; absent: no
   * arguments, or not reported
   */
  key?: string
  /**
   * The arguments with their types, as amqplib writes them (`{'!': 'int64', value: 5}`, bytes in base64); absent: not
   * reported
   */
  typed?: Readonly<Record<string, unknown>>
}
