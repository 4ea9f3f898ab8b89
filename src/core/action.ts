import type { MigrationItem } from './api-control.ts'
import type { BrokerPolicy } from './sources/broker.ts'
import type { ChangelogLockRow } from './sources/database.ts'
import type { ValueEdit } from './sources/files.ts'
import type { ReleaseUpgrade } from './sources/release.ts'
import type { WantedImage } from './sources/service.ts'
import type { SessionSelection } from './sources/sessions.ts'
import type { WantedValue } from './values.ts'
import type { Binding, ExchangeDeclaration, QueueDeclaration } from './topology.ts'

/**
 * One change to a deployment, as data: the one value that is shown, confirmed, journalled, performed and compared. What
 * moves by itself while nobody looks (messages, sessions) stands under `counts`, which a comparison leaves out.
 */
export type Action =
  /** `wasRunning`: undoing it starts the service again */
  | { kind: 'stop-service'; wasRunning: boolean }
  | {
      kind: 'start-service'
      /**
       * done once the service answers, where it has an API that is known, else once it runs, and these locks are free
       */
      locks?: readonly { database: string; schema: string; table?: string }[]
      /** bound again once it has started, where the service has not done so itself */
      binds?: readonly Binding[]
      /**
       * undoing it stops the service again, since the steps before it cannot be taken back under a service that runs
       */
      stopsOnUndo?: true
      /** queues that would vanish with the service's connection then, and are held open before */
      keeps?: readonly string[]
    }
  /** texts at paths of one YAML file, which is replaced in one step; nothing but these values is kept of it */
  | { kind: 'edit-values'; file: string; edits: readonly ValueEdit[] }
  /**
   * has Helm put on record what the files say by now: these values, with all others as in `revision`, the newest when
   * the plan was made. `wasRunning`: once it is taken back, the service is waited for
   */
  | ({
      kind: 'upgrade-release'
      release: string
      revision: number
      values: readonly WantedValue[]
      wasRunning: boolean
    } & ReleaseUpgrade)
  /**
   * the container engine pulls the service's new image, which stays after an undo. `platform`: null: the engine's own
   */
  | ({ kind: 'fetch-image' } & WantedImage)
  /** until all pods are of what is declared by now, and ready, and the service answers */
  | { kind: 'await-rollout' }
  /** null: absent. It takes effect when the service is started */
  | { kind: 'set-setting'; name: string; from: string | null; to: string | null }
  /**
   * a setting that is a secret: fingerprints in place of values (`core/fingerprint.ts`). `file`: from which the value
   * is read; null: it was told once
   */
  | { kind: 'set-secret'; name: string; salt: string; from: string | null; to: string | null; file: string | null }
  | {
      kind: 'release-lock'
      /** host:port/database */
      database: string
      schema: string
      /** absent: of the usual name */
      table?: string
      /** all three columns are compared before they are set */
      row: Pick<ChangelogLockRow, 'locked' | 'lockGranted' | 'lockedBy'>
      /** what was accepted about its holder; null: the holder has to be shown to be dead */
      accepts: 'live-holder' | 'unproven-holder' | null
      /**
       * what was missing for a proof when that was accepted: nothing else may be missing once the service is stopped.
       * Absent: a former version made the plan
       */
      lacks?: readonly string[]
    }
  /** the row with id 1, which Liquibase expects and does not make in a table that has others */
  | { kind: 'insert-lock-row'; database: string; schema: string; table?: string }
  /** rows with other ids, whole: nothing else brings them back */
  | { kind: 'remove-lock-rows'; database: string; schema: string; table?: string; rows: readonly ChangelogLockRow[] }
  | {
      kind: 'remove-sessions'
      /** host:port/database */
      store: string
      namespace: string
      which: SessionSelection['which']
      /** empties the database at once, where it holds nothing else and the store lets us */
      flush: boolean
      /** sessions, and when they were counted by the store's clock: what began later is not meant */
      counts: { sessions: number; asOf: number }
    }
  /**
   * durable queues in which messages wait, for queues that hold any or may; `saved`: the vhost's definitions, of which
   * nothing is a secret; `vanishing`: exchanges that would go with their last binding, and are bound to one of ours
   * until all are bound again
   */
  | { kind: 'hold-queues'; moves: readonly Move[]; saved: Definitions; vanishing?: readonly VanishingExchange[] }
  /**
   * holds queues open that would vanish with their last consumer, for as long as this process lasts. Should it end
   * before their messages are moved, it moves them aside at its end; undoing it puts queue and messages back in place
   */
  | { kind: 'keep-queues'; queues: readonly Former[]; bindings: readonly Binding[] }
  /** lets the service's own consumers empty its queues, for so many seconds at most */
  | { kind: 'drain-queues'; queues: readonly string[]; seconds: number; counts: MessageCount }
  /** until nobody reads from the queues, and the user that the service signs in with is not connected any more */
  | { kind: 'await-quiet'; queues: readonly string[]; user: string }
  | { kind: 'move-messages'; direction: 'aside' | 'back'; moves: readonly Move[]; counts: MessageCount }
  /** `discards`: with what is in them, which is at most `counts` then */
  | {
      kind: 'delete-queues'
      queues: readonly Former[]
      bindings: readonly Binding[]
      discards: boolean
      counts: MessageCount
    }
  /** deletes them and declares them as `to`, with all their bindings */
  | {
      kind: 'switch-exchanges'
      exchanges: readonly { from: ExchangeDeclaration; to: ExchangeDeclaration }[]
      bindings: readonly Binding[]
    }
  /** those for which messages wait; the service declares the others */
  | { kind: 'redeclare-queues'; queues: readonly Former[]; bindings: readonly Binding[] }
  /** with the exchange that keeps others from vanishing; `vanishing`: those that it keeps again while this is undone */
  | { kind: 'delete-held'; holding: readonly string[]; vanishing?: readonly VanishingExchange[] }
  /**
   * asks the service for each of them, so many at a time at most; what each comes to is in the journal, and fails none
   * of the others
   */
  | { kind: 'migrate-trees'; api: string; items: readonly MigrationItem[]; concurrency: number }
  /**
   * until the service has no migration job in work that is newer than the one of that number; those that did not come
   * to a good end are told
   */
  | { kind: 'await-migration'; counts: { newestJob: number } }

/** An exchange that is auto-delete, of a type that can be bound so that no message takes that way to a queue. */
export interface VanishingExchange {
  name: string
  type: KeepableType
}

export const keepableTypes = ['direct', 'topic', 'fanout', 'headers'] as const
type KeepableType = (typeof keepableTypes)[number]

/** Messages between a queue and the one that holds them meanwhile. */
export interface Move {
  queue: string
  holding: string
}

/** A queue, and the one that holds its messages meanwhile; null: none does. */
export interface Former {
  queue: QueueDeclaration
  holding: string | null
  /** nothing shows that the service declares it by itself */
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
