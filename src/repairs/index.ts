import type { RepairId } from '../core/plan.ts'
import type { Repair } from '../core/repair.ts'
import { unlockChangelog } from './unlock-changelog.ts'

/** Every repair by its name, which is its command's too. */
export const repairs = {
  'unlock-changelog': unlockChangelog,
} as const satisfies { readonly [K in RepairId]: Pick<Repair, 'id' | 'title' | 'reads' | 'wants'> }
