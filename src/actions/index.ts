import type { Action, ActionKind } from '../core/action.ts'
import type { ActionHandler } from './handler.ts'
import { insertLockRow } from './insert-lock-row.ts'
import { releaseLock } from './release-lock.ts'
import { startService } from './start-service.ts'
import { stopService } from './stop-service.ts'

export type { Workshop } from './handler.ts'

const handlers: { readonly [K in ActionKind]: ActionHandler<K> } = {
  'stop-service': stopService,
  'start-service': startService,
  'release-lock': releaseLock,
  'insert-lock-row': insertLockRow,
}

/** The handler of that action, whichever it is. */
export function handlerOf(action: Action): ActionHandler<ActionKind> {
  return handlers[action.kind] as ActionHandler<ActionKind>
}
