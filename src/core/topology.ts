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

/** A way that messages take from an exchange to a queue or to another exchange. */
export interface Binding {
  source: string
  destination: string
  destinationKind: 'queue' | 'exchange'
  routingKey: string
  /** as lists show them, which tell no types: 5 may have been of ten types */
  arguments: Readonly<Record<string, unknown>>
  /**
   * by which the broker tells apart bindings whose arguments look the same and are of other types; absent: without
   * arguments, or not told
   */
  key?: string
  /**
   * the arguments with their types, as amqplib writes them (`{'!': 'int64', value: 5}`, bytes in base64); absent: not
   * told
   */
  typed?: Readonly<Record<string, unknown>>
}
