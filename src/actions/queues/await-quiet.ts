import { setTimeout as sleep } from 'node:timers/promises'
import { counted, listed } from '../../checks/support/format.ts'
import { tolerant } from '../../checks/support/wanted.ts'
import type { ActionOf } from '../../core/action.ts'
import { AdminError } from '../../core/error.ts'
import { ownConnectionName } from '../../knowledge/broker.ts'
import type { ActionHandler, Workshop } from '../handler.ts'

const pollMs = 500
/** lists of connections lag by some seconds (FIELD-NOTES.md 3) */
const patienceMs = 30_000

/** Looks only: what was so when a run was interrupted need not be so any more, so it is never done already. */
export const awaitQuiet: ActionHandler<'await-quiet'> = {
  failpoints: ['quiet'],
  isDone: async () => false,
  async perform(action, workshop) {
    const { signal, progress, failpoint } = workshop
    const end = performance.now() + Math.min(patienceMs, workshop.patienceMs)
    progress("waiting until the service's connections to the broker are gone")
    for (;;) {
      const busy = await whoIsThere(action, workshop)
      if (busy === null) break
      if (signal.aborted) throw new AdminError('INTERRUPTED', "interrupted while waiting for the service's connections to end")
      if (performance.now() > end) {
        throw new AdminError('INTERRUPTED', `the service is stopped, and ${busy}: its messages cannot be moved under their hands`, [
          'rabbitmqctl list_connections name user client_properties   # on the broker',
          'stop what that is',
        ])
      }
      await sleep(pollMs, undefined, { signal }).catch(() => undefined)
    }
    await failpoint('quiet')
  },
  undo: null,
}

async function whoIsThere({ queues, user }: ActionOf<'await-quiet'>, { open, control }: Workshop): Promise<string | null> {
  const source = await open.broker()
  const kept = (await control.broker()).kept()
  const counts = await source.counts(queues)
  const read = [...counts].filter(([name, it]) => (it?.consumers ?? 0) > (kept.has(name) ? 1 : 0)).map(([name]) => name)
  if (read.length > 0) return `${counted(read.length, 'queue')} (${listed(read)}) ${read.length === 1 ? 'is' : 'are'} still read from`
  // a user who may not see connections sees consumers all the same
  const connections = (await tolerant(source.connections())) ?? []
  const left = connections.filter((it) => it.user === user && it.clientName !== ownConnectionName)
  if (left.length === 0) return null
  return `user ${user} is still connected from ${listed(left.map(({ name, clientName }) => clientName ?? name))}`
}
