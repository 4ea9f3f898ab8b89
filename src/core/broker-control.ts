import type { MessageMover } from './message-mover.ts'
import type { Binding, ExchangeDeclaration, QueueDeclaration } from './topology.ts'

/** How a declaration went. `otherwise`: one of that name exists with other properties, and was left alone. */
export type Declared = 'declared' | 'otherwise'

/** How a deletion went: `in-use` where it has consumers or more messages than were allowed for, and was left alone. */
export type Deleted = 'deleted' | 'missing' | 'in-use'

/** What a user is to have the rights to work on. */
export interface Trial {
  queues: readonly QueueDeclaration[]
  exchanges: readonly ExchangeDeclaration[]
  bindings: readonly Binding[]
  discards?: boolean
}

/**
 * What a virtual host is changed through. Each method may be repeated: what is so already is left as it is. Several at
 * a time share one connection. All throw AdminError: UNREACHABLE (connection lost), TIMED_OUT, FORBIDDEN, and
 * UNAVAILABLE where an alarm blocks publishers.
 */
export interface BrokerControl {
  readonly target: string
  /**
   * in the order given, pipelined; throws REFUSED where the broker takes no such queue at all (541, or an argument that
   * it does not know)
   */
  declareQueues(queues: readonly QueueDeclaration[]): Promise<ReadonlyMap<string, Declared>>
  /** one that holds at most `most` messages that are ready, and has no consumer */
  deleteQueue(name: string, options: { most: number }): Promise<Deleted>
  /** as `deleteQueue` for many, pipelined */
  deleteQueues(queues: readonly { name: string; most: number }[]): Promise<ReadonlyMap<string, Deleted>>
  declareExchange(exchange: ExchangeDeclaration): Promise<Declared>
  /** whatever is bound to it; its bindings go with it */
  deleteExchange(name: string): Promise<void>
  /** throws REFUSED where one of its ends is missing */
  bind(bindings: readonly Binding[]): Promise<void>
  /**
   * Throws FORBIDDEN where this user may not declare, read and delete these queues that are there, put their messages
   * aside, declare and delete these exchanges, make these bindings, or declare a queue that sends dead letters where
   * these do. `discards`: messages are deleted with their queue, so that none is read or put aside. Changes nothing,
   * whoever reads them.
   */
  tryRights(of: Trial): Promise<void>
  unbind(bindings: readonly Binding[]): Promise<void>
  /** takes all that is ready out of the queue */
  purge(name: string): Promise<number>
  /**
   * Consumers with prefetch 1 that never acknowledge: an auto-delete or expiring queue stays while they are there
   * (FIELD-NOTES.md 3). They end with this process. Queues that are missing are passed over.
   */
  keep(queues: readonly string[]): Promise<void>
  /** queues that are kept now */
  kept(): ReadonlySet<string>
  /** how many messages of the queue the consumer of `keep` holds, so that they are not counted as ready */
  heldBack(queue: string): Promise<number>
  /** ends the consumer of `keep`; harmless where there is none */
  release(queue: string): Promise<void>
  /** on a connection of its own, opened on first use */
  mover(): Promise<MessageMover>
}
