import { setTimeout as sleep } from 'node:timers/promises'
import { counted, listed } from '../../core/format.ts'
import type { ActionOf } from '../../core/action.ts'
import { AdminError } from '../../core/error.ts'
import { ownConnectionName } from '../../knowledge/broker.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import { lostLooks } from '../lost-looks.ts'

const pollMs = 200
/**
 * A connection that has been there for such a part of the patience and is in no list is none: the broker forgets to
 * strike some off that were short (seen on 3.10.8: 4 of 57,000, by the management API).
 */
const listedAfter = 1 / 3
/** for all of it, at most */
const patienceMs = 30_000

/** Looks only: what was so when a run was interrupted need not be so any more, so it is never done already. */
export const awaitQuiet: ActionHandler<'await-quiet'> = {
  failpoints: ['quiet'],
  isDone: async () => false,
  standsAs: async () => 'untold',
  async perform(action, workshop) {
    const { signal, progress, failpoint } = workshop
    const patience = Math.min(patienceMs, workshop.patienceMs)
    const end = performance.now() + patience
    const seen = new Map<string, number>()
    const isLeftOver = (name: string): boolean => {
      const since = seen.get(name) ?? performance.now()
      seen.set(name, since)
      return performance.now() - since > patience * listedAfter
    }
    const look = lostLooks(async () => ({ busy: await whoIsThere(action, workshop, isLeftOver) }))
    progress("waiting until the service's connections to the broker are gone")
    for (;;) {
      const seen = await look()
      if ('busy' in seen && seen.busy === null) break
      if (signal.aborted)
        throw new AdminError('INTERRUPTED', "interrupted while waiting for the service's connections to end")
      if (performance.now() > end) {
        if ('lost' in seen) throw seen.lost
        throw new AdminError(
          'REFUSED',
          `with the service stopped, ${seen.busy}, and messages are moved only while nobody else uses the queues`,
          ['rabbitmqctl list_connections name user client_properties   # on the broker', 'stop what that is'],
        )
      }
      await sleep(pollMs, undefined, { signal }).catch(() => undefined)
    }
    await failpoint('quiet')
  },
  undo: null,
}

/** Null: nobody. `isLeftOver`: of a connection that no list has. */
async function whoIsThere(
  { queues, user }: ActionOf<'await-quiet'>,
  { open, control }: Workshop,
  isLeftOver: (name: string) => boolean,
): Promise<string | null> {
  const source = await open.broker()
  const kept = (await control.broker()).kept()
  const counts = await source.counts(queues)
  const read = [...counts].filter(([name, it]) => (it?.consumers ?? 0) > (kept.has(name) ? 1 : 0)).map(([name]) => name)
  if (read.length > 0)
    return `${counted(read.length, 'queue')} (${listed(read)}) ${read.length === 1 ? 'is' : 'are'} still read from`
  const connections = await source.connectionsOf(user).catch((error: unknown) => {
    if (error instanceof AdminError) return error
    throw error
  })
  if (connections instanceof AdminError) {
    // a user who may not see connections, or has nothing to see them by, sees consumers all the same
    if (connections.code === 'FORBIDDEN' || connections.code === 'UNAVAILABLE') return null
    return `who is connected is not told: ${connections.message}`
  }
  const left = connections.filter(({ name, clientName, isListed }) =>
    isListed ? clientName !== ownConnectionName : !isLeftOver(name),
  )
  if (left.length === 0) return null
  return `user ${user} is still connected from ${listed(left.map(({ name, clientName }) => clientName ?? name))}`
}
