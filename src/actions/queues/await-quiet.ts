import { setTimeout as sleep } from 'node:timers/promises'
import { counted, listed } from '../../core/format.ts'
import type { ActionOf } from '../../core/action.ts'
import { AdminError } from '../../core/error.ts'
import { ownConnectionName } from '../../knowledge/broker.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import { lostLooks } from './queues.ts'

const pollMs = 200
/**
 * A connection that no list shows for this part of the patience counts as closed: the broker forgets to remove some
 * short ones (seen on 3.10.8: 4 of 57,000, by the management API).
 */
const listedAfter = 1 / 3
/** the longest wait */
const patienceMs = 30_000

/** Only looks. What was true when a run was interrupted may have changed, so the step never counts as done. */
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
    progress("waiting until the service's connections to the broker are closed")
    for (;;) {
      const seen = await look()
      if ('busy' in seen && seen.busy === null) break
      if (signal.aborted)
        throw new AdminError('INTERRUPTED', "interrupted while waiting for the service's connections to end")
      if (performance.now() > end) {
        if ('lost' in seen) throw seen.lost
        throw new AdminError(
          'REFUSED',
          `the service is stopped, but ${seen.busy}. testops-admin moves messages only while no other client ` +
            'uses the queues',
          ['rabbitmqctl list_connections name user client_properties   # on the broker', 'stop the other clients'],
        )
      }
      await sleep(pollMs, undefined, { signal }).catch(() => undefined)
    }
    await failpoint('quiet')
  },
  undo: null,
}

/**
 * Who still uses the queues, in words; null: nobody. `isLeftOver`: whether a connection that no list shows counts as
 * closed.
 */
async function whoIsThere(
  { queues, user }: ActionOf<'await-quiet'>,
  { open, control }: Workshop,
  isLeftOver: (name: string) => boolean,
): Promise<string | null> {
  const source = await open.broker()
  const kept = (await control.broker()).kept()
  const counts = await source.counts(queues)
  const read = [...counts].filter(([name, it]) => (it?.consumers ?? 0) > (kept.has(name) ? 1 : 0)).map(([name]) => name)
  if (read.length > 0) return `a client still reads from ${counted(read.length, 'queue')} (${listed(read)})`
  const connections = await source.connectionsOf(user).catch((error: unknown) => {
    if (error instanceof AdminError) return error
    throw error
  })
  if (connections instanceof AdminError) {
    // without a way to list connections, the consumers are checked all the same
    if (connections.code === 'FORBIDDEN' || connections.code === 'UNAVAILABLE') return null
    return `cannot tell who is connected to the broker: ${connections.message}`
  }
  const left = connections.filter(({ name, clientName, isListed }) =>
    isListed ? clientName !== ownConnectionName : !isLeftOver(name),
  )
  if (left.length === 0) return null
  return (
    `user ${user} is still connected to the broker from ` +
    `${listed(left.map(({ name, clientName }) => clientName ?? name))}`
  )
}

/** Milliseconds between two looks while the service empties its queues */
const drainPollMs = 500

/** Waits until the service has emptied its queues. Running out of time is no failure: what is left is moved aside. */
export const drainQueues: ActionHandler<'drain-queues'> = {
  failpoints: ['waited'],
  async isDone({ queues }, workshop) {
    return !(await isWorkLeft(queues, workshop))
  },
  standsAs: async () => 'untold',
  async perform({ queues, seconds }, workshop) {
    const { progress, signal, failpoint, open } = workshop
    const end = performance.now() + seconds * 1000
    const look = lostLooks(
      async () =>
        (await isWorkLeft(queues, workshop)) &&
        // a stopped service empties no queues
        (await (await open.service()).status()).state === 'running',
    )
    progress(`waiting up to ${seconds} s for the service to empty its queues`)
    while (performance.now() < end && !signal.aborted && (await look()) !== false) {
      await sleep(Math.min(drainPollMs, Math.max(1, end - performance.now())), undefined, { signal }).catch(
        () => undefined,
      )
    }
    await failpoint('waited')
  },
  undo: null,
}

/** True if a client still reads from a queue that has messages. */
async function isWorkLeft(queues: readonly string[], { open }: Workshop): Promise<boolean> {
  const counts = await (await open.broker()).counts(queues)
  return [...counts.values()].some((it) => it !== null && it.ready > 0 && it.consumers > 0)
}
