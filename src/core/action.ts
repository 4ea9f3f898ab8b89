import type { ChangelogLockRow } from './sources.ts'

/**
 * One change to a deployment, as data: the one value that is shown, confirmed, journalled, performed and compared. What moves by
 * itself while nobody looks (messages, sessions) stands under `counts`, which a comparison leaves out.
 */
export type Action =
  /** `wasRunning`: undoing it starts the service again */
  | { kind: 'stop-service'; wasRunning: boolean }
  /** done once the service answers, where it has an API that is known, else once it runs */
  | { kind: 'start-service' }
  | {
      kind: 'release-lock'
      /** host:port/database */
      database: string
      schema: string
      /** all three columns are compared before they are set */
      row: Pick<ChangelogLockRow, 'locked' | 'lockGranted' | 'lockedBy'>
      /** what was accepted about its holder; null: the holder has to be shown to be dead */
      accepts: 'live-holder' | 'unproven-holder' | null
    }
  /** the row with id 1, which Liquibase expects and does not make in a table that has others */
  | { kind: 'insert-lock-row'; database: string; schema: string }

export type ActionKind = Action['kind']
export type ActionOf<K extends ActionKind> = Extract<Action, { kind: K }>
