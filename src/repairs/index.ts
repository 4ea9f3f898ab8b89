import type { RepairId } from '../core/plan.ts'
import type { Repair } from '../core/repair.ts'
import { resetQueues } from './reset-queues.ts'
import { flushSessions } from './flush-sessions.ts'
import { migrateTrees } from './migrate-trees.ts'
import { unlockChangelog } from './unlock-changelog.ts'

/** Every repair by its name, which is its command's too. */
export const repairs = {
  'flush-sessions': flushSessions,
  'unlock-changelog': unlockChangelog,
  'reset-queues': resetQueues,
  'migrate-trees': migrateTrees,
} as const satisfies { readonly [K in RepairId]: Pick<Repair, 'id' | 'title' | 'reads' | 'wants'> }
