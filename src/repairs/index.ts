import type { RepairId } from '../core/plan.ts'
import type { Repair } from '../core/repair.ts'
import { resetQueues } from './reset-queues.ts'
import { flushSessions } from './flush-sessions.ts'
import { migrateTrees } from './migrate-trees.ts'
import { setEnv } from './set-env.ts'
import { setEnvInValues } from './set-env-values.ts'
import { restartTheService, startTheService, stopTheService } from './service.ts'
import { useLegacyImage } from './use-legacy-image.ts'
import { unlockChangelog } from './unlock-changelog.ts'

/** Every repair by its name; `commandOf` returns its command. */
export const repairs = {
  'flush-sessions': flushSessions,
  'unlock-changelog': unlockChangelog,
  'reset-queues': resetQueues,
  'migrate-trees': migrateTrees,
  'use-legacy-image': useLegacyImage,
  'set-env': setEnv,
  'set-env-values': setEnvInValues,
  'service-stop': stopTheService,
  'service-start': startTheService,
  'service-restart': restartTheService,
} as const satisfies { readonly [K in RepairId]: Pick<Repair, 'id' | 'title' | 'reads' | 'wants'> }
