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
  arguments: Readonly<Record<string, unknown>>
}
