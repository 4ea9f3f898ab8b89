import type { MigrationItem } from './api-control.ts'
import type { Shape } from './shape.ts'
import { amount, anything, flag, listOf, mapOf, nullable, objectOf, oneOf, optional, text, whole } from './shape.ts'
import type { BrokerPolicy } from './sources/broker.ts'
import type { ChangelogLockRow } from './sources/database.ts'
import type { ValueEdit } from './sources/files.ts'
import type { ReleaseUpgrade } from './sources/release.ts'
import type { WantedImage } from './sources/service.ts'
import type { SessionSelection } from './sources/sessions.ts'
import type { Binding, ExchangeDeclaration, QueueDeclaration } from './broker-control.ts'
import type { WantedValue } from './values.ts'

/**
 * One change to a deployment, as data. This one value is shown, confirmed, journalled, performed and compared. `counts`
 * holds what changes by itself (messages, sessions); a comparison leaves it out.
 */
export type Action =
  /** `wasRunning`: true if undoing it starts the service again */
  | { kind: 'stop-service'; wasRunning: boolean }
  | {
      kind: 'start-service'
      /** Locks that must be free before the step is done. The service must also answer, or run if its API is unknown */
      locks?: readonly { database: string; schema: string; table?: string }[]
      /** Bindings to restore after the start, unless the service has restored them itself */
      binds?: readonly Binding[]
      /** Undoing it stops the service again, since the steps before it cannot be undone while the service runs */
      stopsOnUndo?: true
      /** Queues that vanish with the service's connection; an undo holds them open before it stops the service */
      keeps?: readonly string[]
    }
  /** Changes values at paths of one YAML file, and replaces the file in one step. Holds nothing else of the file */
  | { kind: 'edit-values'; file: string; edits: readonly ValueEdit[] }
  /**
   * Makes Helm record what the files now say: these values, and all others as in `revision`, the newest when the plan
   * was made. `wasRunning`: true if an undo waits for the service
   */
  | ({
      kind: 'upgrade-release'
      release: string
      revision: number
      values: readonly WantedValue[]
      wasRunning: boolean
    } & ReleaseUpgrade)
  /** Makes the container engine pull the service's new image; an undo leaves it. `platform` null: the engine's own */
  | ({ kind: 'fetch-image' } & WantedImage)
  /** Waits until all pods match the current declaration and are ready, and the service answers */
  | { kind: 'await-rollout' }
  /** Changes a setting, which takes effect when the service starts. null: absent */
  | { kind: 'set-setting'; name: string; from: string | null; to: string | null }
  /**
   * Changes a secret setting; holds fingerprints in place of values (`core/plan.ts`). `file`: where the value is
   * read from; null: it came from standard input
   */
  | { kind: 'set-secret'; name: string; salt: string; from: string | null; to: string | null; file: string | null }
  | {
      kind: 'release-lock'
      /** host:port/database */
      database: string
      schema: string
      /** Absent: the usual name */
      table?: string
      /** All three columns are compared before they are set */
      row: Pick<ChangelogLockRow, 'locked' | 'lockGranted' | 'lockedBy'>
      /** The accepted risk about the holder; null: the holder must be shown to be dead */
      accepts: 'live-holder' | 'unproven-holder' | null
      /**
       * What was missing for a proof when the risk was accepted; once the service is stopped, nothing else may be
       * missing. Absent: an older version made the plan
       */
      lacks?: readonly string[]
    }
  /** Adds the row with id 1, which Liquibase expects but does not add to a table that has other rows */
  | { kind: 'insert-lock-row'; database: string; schema: string; table?: string }
  /** Removes rows with other ids; holds them whole, since nothing else can restore them */
  | { kind: 'remove-lock-rows'; database: string; schema: string; table?: string; rows: readonly ChangelogLockRow[] }
  | {
      kind: 'remove-sessions'
      /** host:port/database */
      store: string
      namespace: string
      which: SessionSelection['which']
      /** True to empty the database at once, if it holds nothing else and the store allows it */
      flush: boolean
      /** Number of sessions, and when they were counted by the store's clock; later sessions are left alone */
      counts: { sessions: number; asOf: number }
    }
  /**
   * Declares durable holding queues, for queues that hold messages or may. `saved`: the vhost's definitions, none of
   * them secret. `vanishing`: exchanges that would vanish with their last binding; until all are bound again, they are
   * bound to an exchange of this program
   */
  | { kind: 'hold-queues'; moves: readonly Move[]; saved: Definitions; vanishing?: readonly VanishingExchange[] }
  /**
   * Holds open, while this process lives, queues that would vanish with their last consumer. If the run ends before
   * their messages are moved, moves them aside. Undoing it restores the queues and their messages
   */
  | { kind: 'keep-queues'; queues: readonly Former[]; bindings: readonly Binding[] }
  /** Lets the service's own consumers empty its queues, for at most `seconds` */
  | { kind: 'drain-queues'; queues: readonly string[]; seconds: number; counts: MessageCount }
  /** Waits until nobody reads from the queues, and the user that the service signs in with is disconnected */
  | { kind: 'await-quiet'; queues: readonly string[]; user: string }
  | { kind: 'move-messages'; direction: 'aside' | 'back'; moves: readonly Move[]; counts: MessageCount }
  /** `discards`: true to delete the messages in them too, at most as many as `counts` */
  | {
      kind: 'delete-queues'
      queues: readonly Former[]
      bindings: readonly Binding[]
      discards: boolean
      counts: MessageCount
    }
  /** Deletes exchanges and declares them again as `to`, with all their bindings */
  | {
      kind: 'switch-exchanges'
      exchanges: readonly { from: ExchangeDeclaration; to: ExchangeDeclaration }[]
      bindings: readonly Binding[]
    }
  /** Redeclares queues for which messages wait, or which the service may not declare itself */
  | { kind: 'redeclare-queues'; queues: readonly Former[]; bindings: readonly Binding[] }
  /** Deletes holding queues, and the exchange that keeps `vanishing` ones; an undo keeps those again */
  | { kind: 'delete-held'; holding: readonly string[]; vanishing?: readonly VanishingExchange[] }
  /**
   * Asks the service to migrate each item, at most `concurrency` at a time. The journal records each result; a failed
   * item does not fail the others
   */
  | { kind: 'migrate-trees'; api: string; items: readonly MigrationItem[]; concurrency: number }
  /**
   * Waits until the service works on no migration job with a number above `newestJob`; reports those that did not
   * succeed
   */
  | { kind: 'await-migration'; counts: { newestJob: number } }

/** An auto-delete exchange of a type that can be bound so that no message takes that binding. */
export interface VanishingExchange {
  name: string
  type: KeepableType
}

export const keepableTypes = ['direct', 'topic', 'fanout', 'headers'] as const
type KeepableType = (typeof keepableTypes)[number]

/** A queue, and the holding queue that keeps its messages during a run. */
export interface Move {
  queue: string
  holding: string
}

/** A queue, and the holding queue that keeps its messages; null: none does. */
export interface Former {
  queue: QueueDeclaration
  holding: string | null
  /** Set if nothing shows that the service declares the queue itself */
  always?: true
}

interface MessageCount {
  messages: number
}

export interface Definitions {
  queues: readonly QueueDeclaration[]
  exchanges: readonly ExchangeDeclaration[]
  bindings: readonly Binding[]
  policies: readonly BrokerPolicy[]
}

export type ActionKind = Action['kind']
export type ActionOf<K extends ActionKind> = Extract<Action, { kind: K }>

type Fields<A> = { readonly [F in keyof Omit<A, 'kind'>]-?: Shape }

const counts = objectOf({ messages: amount })
const args = mapOf(anything)
const queue = objectOf({ name: text, durable: flag, autoDelete: flag, arguments: args })
const exchange = objectOf({ name: text, type: text, durable: flag, autoDelete: flag, internal: flag, arguments: args })
const binding = objectOf({
  source: text,
  destination: text,
  destinationKind: oneOf('queue', 'exchange'),
  routingKey: text,
  arguments: args,
  key: optional(text),
  typed: optional(args),
})
const policy = objectOf({
  name: text,
  isOperators: flag,
  pattern: text,
  appliesTo: text,
  priority: anything,
  definition: args,
})
const former = objectOf({ queue, holding: nullable(text), always: optional(oneOf(true)) })
const names = listOf(text)
const vanishing = optional(listOf(objectOf({ name: text, type: oneOf(...keepableTypes) })))
const moves = listOf(objectOf({ queue: text, holding: text }))

/** Shapes of the fields, besides `kind`, that each kind of action has in a journal or a saved plan. */
export const actionShapes: { readonly [K in ActionKind]: Fields<ActionOf<K>> } = {
  'stop-service': { wasRunning: flag },
  'start-service': {
    binds: optional(listOf(binding)),
    locks: optional(listOf(objectOf({ database: text, schema: text, table: optional(text) }))),
    stopsOnUndo: optional(oneOf(true)),
    keeps: optional(listOf(text)),
  },
  'edit-values': {
    file: text,
    edits: listOf(
      objectOf({ path: listOf(text), from: nullable(text), to: nullable(text), at: amount, was: text, is: text }),
    ),
  },
  'upgrade-release': {
    release: text,
    revision: whole,
    chart: text,
    chartVersion: text,
    files: listOf(text),
    values: listOf(objectOf({ path: listOf(text), to: nullable(text) })),
    wasRunning: flag,
  },
  'fetch-image': { image: text, platform: nullable(text) },
  'await-rollout': {},
  'set-secret': { name: text, salt: text, from: nullable(text), to: nullable(text), file: nullable(text) },
  'set-setting': { name: text, from: nullable(text), to: nullable(text) },
  'release-lock': {
    database: text,
    schema: text,
    table: optional(text),
    row: objectOf({ locked: flag, lockGranted: nullable(text), lockedBy: nullable(text) }),
    accepts: nullable(oneOf('live-holder', 'unproven-holder')),
    lacks: optional(listOf(text)),
  },
  'insert-lock-row': { database: text, schema: text, table: optional(text) },
  'remove-lock-rows': {
    database: text,
    schema: text,
    table: optional(text),
    rows: listOf(objectOf({ id: whole, locked: flag, lockGranted: nullable(text), lockedBy: nullable(text) })),
  },
  'remove-sessions': {
    store: text,
    namespace: text,
    which: (value, at) => (value === 'all' || value === 'stale' ? null : objectOf({ user: text })(value, at)),
    flush: flag,
    counts: objectOf({ sessions: amount, asOf: amount }),
  },
  'hold-queues': {
    moves,
    saved: objectOf({
      queues: listOf(queue),
      exchanges: listOf(exchange),
      bindings: listOf(binding),
      policies: listOf(policy),
    }),
    vanishing,
  },
  'keep-queues': { queues: listOf(former), bindings: listOf(binding) },
  'drain-queues': { queues: names, seconds: amount, counts },
  'await-quiet': { queues: names, user: text },
  'move-messages': { direction: oneOf('aside', 'back'), moves, counts },
  'delete-queues': { queues: listOf(former), bindings: listOf(binding), discards: flag, counts },
  'switch-exchanges': { exchanges: listOf(objectOf({ from: exchange, to: exchange })), bindings: listOf(binding) },
  'redeclare-queues': { queues: listOf(former), bindings: listOf(binding) },
  'delete-held': { holding: names, vanishing },
  'migrate-trees': {
    api: text,
    items: listOf(objectOf({ project: whole, tree: nullable(whole) })),
    concurrency: amount,
  },
  'await-migration': { counts: objectOf({ newestJob: amount }) },
}
