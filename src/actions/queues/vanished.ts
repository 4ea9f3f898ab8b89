import { counted } from '../../core/format.ts'
import { tolerant } from '../../domain/wanted.ts'
import { AdminError } from '../../core/error.ts'
import type { Entry } from '../../core/queue-notes.ts'
import type { QueueDeclaration } from '../../core/topology.ts'
import type { Workshop } from '../handler.ts'
import { accountsOf } from './account.ts'
import { awaitedOf, liveQueues, ownMoves } from './queues.ts'

interface Looked {
  /** Look only at queues that have their messages back; the others are gone until they are declared again */
  isOnlyReturned?: true
  /** Every step that deleted queues is undone */
  isUndone?: true
  /** Messages in all queues when the plan was made */
  planned?: number
}

/**
 * Throws INTERRUPTED, once, if a transient queue is gone before its messages were moved aside or after they came back:
 * a broker that restarts drops such queues, and the stopped service declares none. While messages are moved, they are
 * compared instead.
 */
export async function refuseVanished(
  { open, journal, saved }: Pick<Workshop, 'open' | 'journal' | 'saved'>,
  { isOnlyReturned, isUndone, planned }: Looked = {},
): Promise<void> {
  const { transientIn, lastOf, toldOf } = accountsOf(journal.ofRun())
  const queues = (saved?.queues ?? []).filter(({ name }) => toldOf(name) === null)
  // in a repeated step, this run itself may have deleted the queues
  const isUntouched =
    !isOnlyReturned &&
    (isUndone || !journal.isRepeated) &&
    (saved?.queues ?? []).every(({ name }) => lastOf(name) === null)
  const returned = queues.filter(({ name }) => transientIn(name) !== null)
  const wanted = isUntouched ? queues.filter((it) => !goesByItself(it)) : returned
  if (wanted.length === 0) return
  // if nothing had come back, a broker that does not answer must not keep the service from starting
  const there = isUntouched ? await tolerant(liveQueues({ open })) : await liveQueues({ open })
  const missing = there === null ? [] : wanted.map(({ name }) => name).filter((name) => !there.has(name))
  // messages that still wait for a queue are moved back and compared later
  const awaited =
    missing.length === 0 || isUndone ? [] : (await awaitedOf(ownMoves({ saved }), { open })).map(({ queue }) => queue)
  const gone = missing.filter((name) => !awaited.includes(name))
  if (gone.length === 0) return
  const differing = Object.fromEntries(gone.map((name) => [name, saidOf(name, transientIn(name))]))
  await journal.note(JSON.stringify({ event: 'compared', queues: gone, differing } satisfies Entry))
  const total = planned === undefined ? '' : ` The plan counted ${counted(planned, 'message')} in all queues.`
  throw new AdminError(
    'INTERRUPTED',
    `${Object.values(differing).join('. ')}. RabbitMQ was most likely restarted, which drops transient queues.${total} The service is still stopped`,
    [
      'rabbitmqctl status   # on the broker: how long it has been up',
      'if you do not need these messages, run the same command again: it reports this only once',
    ],
  )
}

/** True if the queue vanishes by itself, with its last reader or later: the plan says so and names what may be lost. */
function goesByItself({ autoDelete, arguments: values }: QueueDeclaration): boolean {
  return autoDelete || 'x-expires' in values
}

function saidOf(queue: string, returned: number | null): string {
  if (returned === null) return `Queue ${queue} is gone, with any messages in it: none had been moved aside yet`
  return `Queue ${queue} is gone, with ${counted(returned, 'message')} that had been moved back`
}
