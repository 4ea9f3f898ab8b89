import type { Action, ActionKind } from '../core/action.ts'
import { AdminError } from '../core/error.ts'
import type { ActionHandler } from './handler.ts'
import { awaitQuiet, drainQueues } from './queues/await-quiet.ts'
import { deleteHeld, holdQueues } from './queues/holding-queues.ts'
import { deleteQueues } from './queues/delete-queues.ts'
import { keepQueues } from './queues/keep-queues.ts'
import { moveMessages } from './queues/move-messages.ts'
import { redeclareQueues } from './queues/redeclare-queues.ts'
import { switchExchanges } from './queues/switch-exchanges.ts'
import { editValues } from './edit-values.ts'
import { setSecret } from './set-secret.ts'
import { setSetting } from './set-setting.ts'
import { insertLockRow, removeLockRows } from './lock-row.ts'
import { releaseLock } from './release-lock.ts'
import { removeSessions } from './remove-sessions.ts'
import { awaitRollout } from './release/await-rollout.ts'
import { upgradeRelease } from './release/upgrade-release.ts'
import { startService, stopService } from './service.ts'
import { awaitMigration } from './trees/await-migration.ts'
import { migrateTrees } from './trees/migrate-trees.ts'

export type { Shortfall, Shown, Workshop } from './handler.ts'

const fetchImage: ActionHandler<'fetch-image'> = {
  failpoints: ['fetched'],
  async isDone(action, { open }) {
    return (await (await open.service()).hasImage?.(wantedBy(action))) ?? false
  },
  // an operator may have removed the image to save space
  standsAs: async () => 'untold',
  async perform(action, { control, patienceMs: timeoutMs, signal, progress, moving, failpoint }) {
    const service = await control.service()
    if (!service.fetchImage)
      throw new AdminError(
        'NOT_CONFIGURED',
        `cannot fetch image ${action.image}: this deployment has no container engine`,
      )
    progress(`fetching ${action.image}`)
    await service.fetchImage(wantedBy(action), { timeoutMs, signal, moving })
    await failpoint('fetched')
  },
  undo: null,
}

function wantedBy({ image, platform }: { image: string; platform: string | null }): {
  image: string
  platform: string | null
} {
  return { image, platform }
}

const handlers: { readonly [K in ActionKind]: ActionHandler<K> } = {
  'stop-service': stopService,
  'start-service': startService,
  'release-lock': releaseLock,
  'insert-lock-row': insertLockRow,
  'remove-lock-rows': removeLockRows,
  'set-setting': setSetting,
  'set-secret': setSecret,
  'edit-values': editValues,
  'upgrade-release': upgradeRelease,
  'fetch-image': fetchImage,
  'await-rollout': awaitRollout,
  'hold-queues': holdQueues,
  'keep-queues': keepQueues,
  'drain-queues': drainQueues,
  'await-quiet': awaitQuiet,
  'move-messages': moveMessages,
  'delete-queues': deleteQueues,
  'switch-exchanges': switchExchanges,
  'redeclare-queues': redeclareQueues,
  'delete-held': deleteHeld,
  'remove-sessions': removeSessions,
  'migrate-trees': migrateTrees,
  'await-migration': awaitMigration,
}

/** The handler that carries out actions of this kind. */
export function handlerOf(action: Action): ActionHandler<ActionKind> {
  return handlers[action.kind] as ActionHandler<ActionKind>
}
