import type { ActionKind } from '../../../src/core/action.ts'

/** What a plan of `reset-queues` does, on queues of which none vanishes by itself. */
export const planned: readonly ActionKind[] = [
  'hold-queues',
  'stop-service',
  'await-quiet',
  'set-setting',
  'move-messages',
  'delete-queues',
  'switch-exchanges',
  'redeclare-queues',
  'move-messages',
  'delete-held',
  'start-service',
]

/** Each of them once. */
export const actionKinds: readonly ActionKind[] = [...new Set(planned)]
