import type { MessageMover } from './message-mover.ts'

/** The outcome of a declaration. `otherwise`: one of that name has other properties, and was left alone. */
export type Declared = 'declared' | 'otherwise'

/** The outcome of a deletion. `in-use`: it has consumers or more messages than allowed, and was left alone. */
export type Deleted = 'deleted' | 'missing' | 'in-use'

/** The queues, exchanges and bindings that a user needs rights to work on. */
export interface Trial {
  queues: readonly QueueDeclaration[]
  exchanges: readonly ExchangeDeclaration[]
  bindings: readonly Binding[]
  discards?: boolean
}

/** A permission that a user lacks on a queue or an exchange, or for a routing key of a topic exchange. */
export interface LackedPermission {
  right: 'configure' | 'write' | 'read'
  /** `queue 'upload'`, as RabbitMQ says it */
  object: string
  /** The exchange of that routing key, for which permissions are granted separately */
  topicOf?: string
}

/** What a broker says about permissions. */
export interface PermissionAnswer {
  /** One that the user lacks; null: none was found to be missing */
  lacked: LackedPermission | null
  /** One or more of these may be missing: RabbitMQ closes the connection instead of answering */
  unanswered: readonly LackedPermission[]
}

/**
 * Changes a virtual host. Each method may be repeated, and leaves alone what is already as wanted. Concurrent calls
 * share one connection. All throw AdminError: UNREACHABLE (connection lost), TIMED_OUT, FORBIDDEN, and UNAVAILABLE if
 * an alarm blocks publishers.
 */
export interface BrokerControl {
  readonly target: string
  /**
   * Declares queues in the given order, pipelined. Throws REFUSED if the broker accepts no such queue at all (541, or
   * an unknown argument)
   */
  declareQueues(queues: readonly QueueDeclaration[]): Promise<ReadonlyMap<string, Declared>>
  /** Deletes a queue that has no consumer and at most `most` ready messages */
  deleteQueue(name: string, options: { most: number }): Promise<Deleted>
  /** Deletes many queues as `deleteQueue` does, pipelined */
  deleteQueues(queues: readonly { name: string; most: number }[]): Promise<ReadonlyMap<string, Deleted>>
  declareExchange(exchange: ExchangeDeclaration): Promise<Declared>
  /** Deletes an exchange with its bindings, whatever is bound to it */
  deleteExchange(name: string): Promise<void>
  /** Throws REFUSED if the source or the destination is missing */
  bind(bindings: readonly Binding[]): Promise<void>
  /**
   * Throws FORBIDDEN if this user lacks a right: to declare, read and delete the existing queues, or to move their
   * messages aside; to declare and delete the exchanges; to make the bindings; to declare a queue that sends dead
   * letters where these do. `discards`: messages are deleted with their queue, so that none is read or moved aside.
   * Changes nothing, even if others read from the queues. Returns the `unanswered` permissions of a `PermissionAnswer`
   */
  tryRights(of: Trial): Promise<readonly LackedPermission[]>
  /**
   * Asks for the permissions for the work of `tryRights`, and to use the `holding` queues. Only asks: RabbitMQ checks
   * the permission, and then refuses each request for another reason, unless it removes what is not there. RabbitMQ
   * logs what it refuses, so only the first names of each kind are asked for
   */
  lackedPermission(of: Trial & { holding: readonly string[] }): Promise<PermissionAnswer>
  unbind(bindings: readonly Binding[]): Promise<void>
  /** Removes all ready messages from the queue, and returns their number */
  purge(name: string): Promise<number>
  /**
   * Adds consumers with prefetch 1 that never acknowledge: they hold open an auto-delete or expiring queue
   * (FIELD-NOTES.md 3). They end with this process. Skips queues that are missing.
   */
  keep(queues: readonly string[]): Promise<void>
  /** Returns the queues that are held open now */
  kept(): ReadonlySet<string>
  /** Returns the number of messages that the consumer of `keep` holds, and that therefore do not count as ready */
  heldBack(queue: string): Promise<number>
  /** Ends the consumer of `keep`; harmless if there is none */
  release(queue: string): Promise<void>
  /** Returns a mover on a connection of its own, opened on first use */
  mover(): Promise<MessageMover>
}

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
