import { AdminError } from '../core/error.ts'
import type { ActionHandler } from './handler.ts'

export const fetchImage: ActionHandler<'fetch-image'> = {
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
