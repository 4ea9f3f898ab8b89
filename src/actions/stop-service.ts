import type { ActionHandler, Workshop } from './handler.ts'
import { ownsFields } from './handler.ts'
import { bringBackGone } from './queues/move-messages.ts'
import { refuseVanished } from './queues/queues.ts'

async function tryStop(_: object, { control }: Pick<Workshop, 'control'>): Promise<void> {
  await (await control.service()).tryStop?.()
}

export const stopService: ActionHandler<'stop-service'> = {
  failpoints: ['stopped'],
  async isDone(_, workshop) {
    return (await (await workshop.open.service()).status()).state === 'stopped' && !(await ownsFields(workshop))
  },
  // the steps that need it stopped check that themselves
  standsAs: async () => 'untold',
  // a missing right must show before users are cut off or a run begins
  async foresee(action, workshop) {
    await tryStop(action, workshop)
  },
  askRights: async (_, { control }) => (await control.service()).askRights?.(null),
  async perform(_, { control, patienceMs: timeoutMs, progress, signal, failpoint, journal }) {
    progress('waiting for the service and its processes to stop')
    await (await control.service()).stop({
      timeoutMs,
      signal,
      note: async (text) => journal.note(text),
      tell: (state) => progress(`waiting for the service to stop: ${state}`),
    })
    await failpoint('stopped')
  },
  async undo({ wasRunning }, workshop) {
    const { open, control, patienceMs: timeoutMs, signal, journal } = workshop
    // a service that runs again handles its queues itself
    if ((await (await open.service()).status()).state === 'stopped') {
      await bringBackGone(workshop)
      await refuseVanished(workshop, { isUndone: true })
    }
    if (wasRunning) await (await control.service()).start({ timeoutMs, signal, notes: journal.ofRun() })
  },
}
