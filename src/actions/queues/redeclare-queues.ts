import { exact } from '../../domain/queues/exact-bindings.ts'
import type { Former } from '../../core/action.ts'
import { AdminError } from '../../core/error.ts'
import type { Binding } from '../../core/broker-control.ts'
import { aheadOf } from '../../knowledge/broker.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import { deleteEmptied } from './delete-queues.ts'
import { putAside } from './move.ts'
import { noteBindings, possible } from './switch-exchanges.ts'
import { countsOf, isThere, liveQueues, movesOf } from './queues.ts'
import { bindingsNoted } from '../../core/notes.ts'
import { command } from '../../core/shell-command.ts'

/** Declares queues that must exist before messages come back. The service declares the others when it starts. */
export const redeclareQueues: ActionHandler<'redeclare-queues'> = {
  failpoints: ['declared', 'bound'],
  // recorded as begun even if no messages wait, so that undo also removes what the service declares later
  isDone: async () => false,
  async standsAs({ queues }, workshop) {
    const wanted = await awaited(queues, workshop)
    const there = await liveQueues(workshop)
    if (wanted.length === 0) return 'untold'
    return wanted.every(({ queue }) => isThere(there, queue)) ? 'done' : 'not-done'
  },
  async perform({ queues, bindings }, workshop) {
    const broker = await workshop.control.broker()
    const awaiting = await awaited(queues, workshop)
    const wanted = awaiting.map(({ queue }) => queue)
    const declared = await broker.declareQueues(wanted)
    const other = wanted.find(({ name }) => declared.get(name) === 'otherwise')
    if (other) {
      throw new AdminError(
        'INTERRUPTED',
        `another client has declared queue ${other.name} with different properties. The messages of queue ` +
          `${other.name} are still in the temporary queue of this repair`,
        [command`rabbitmqctl list_queues name durable auto_delete arguments | grep ${other.name}   # on the broker`],
      )
    }
    await workshop.failpoint('declared')
    const all = [...bindings, ...bindingsNoted(workshop.journal.ofRun())]
    await broker.bind(exact(await possible(bindingsTo(awaiting, all), workshop)))
    await workshop.failpoint('bound')
  },
  async foresee({ bindings }) {
    exact(bindings)
  },
  async undo({ queues, bindings }, workshop) {
    const there = await liveQueues(workshop)
    const durable = queues.map(({ queue }) => queue.name).filter((name) => there.get(name)?.durable === true)
    const former = queues.filter(({ queue }) => durable.includes(queue.name))
    await noteBindings(durable, bindings, workshop)
    // moves aside what has come since, also from queues that are kept open
    await putAside(movesOf(former), workshop, { isUndo: true })
    await deleteEmptied(former, workshop)
  },
}

function bindingsTo(queues: readonly Former[], bindings: readonly Binding[]): Binding[] {
  const names = new Set(queues.map(({ queue }) => queue.name))
  return bindings.filter(({ destination, destinationKind }) => destinationKind === 'queue' && names.has(destination))
}

/** Queues whose messages wait, and queues that nobody else would declare. */
async function awaited(queues: readonly Former[], workshop: Workshop): Promise<Former[]> {
  const places = ({ holding }: Former): string[] => (holding === null ? [] : [holding, aheadOf(holding)])
  const counts = await countsOf(queues.flatMap(places), workshop)
  const isInUse = (name: string): boolean => (counts.get(name)?.ready ?? 0) + (counts.get(name)?.consumers ?? 0) > 0
  return queues.filter((it) => it.always || places(it).some(isInUse))
}
