import { setTimeout as sleep } from 'node:timers/promises'
import type { Channel, ChannelModel } from 'amqplib'
import type { BrokerEndpoint, Opened } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import { typedOn } from '../../core/host.ts'
import type { Holder, LockOwner, RepairLock } from '../../core/lock.ts'
import { command } from '../../core/shell-command.ts'
import { lockHolderIn, operatorLock } from '../../knowledge/broker.ts'
import { hostPort, withDeadline } from '../failure.ts'
import { brokerPeer, closeGently, clusterNameOf, openConnection } from './connection.ts'
import { refusal, replyOf } from './refusal.ts'
import type { Reply } from './refusal.ts'
import { brokerLists } from './two-ways.ts'
import type { ListOptions } from './two-ways.ts'

/** milliseconds to wait for the broker to strike off a killed holder */
const patienceMs = 2000
const pollMs = 100
/** a holder whose machine leaves the network is struck off after twice that */
const heartbeatSeconds = 15
/** RESOURCE_LOCKED (SERVERS.md: what it answers) */
const locked = 405

const unknownHolder: Holder = { who: null, what: null, since: null }

export interface BrokerLockOptions extends ListOptions {
  /** True if operators of two machines share no other known lock */
  isOnlyShared: boolean
}

/**
 * Returns a lock among all operators who reach the virtual host: an exclusive queue on its own connection, which ends
 * with this process. Opens nothing yet. If the broker is unreachable, `take` leaves the lock out: a repair on queues
 * takes it before its first step that finds the broker again. A lost lock stays lost for such a repair; another tries
 * to take it again, and continues without it. For a repair on queues, `take` throws REFUSED, and FORBIDDEN if no other
 * lock is shared. Otherwise it tells the operator.
 */
export function openBrokerLock(
  endpoint: BrokerEndpoint,
  own: LockOwner,
  options: BrokerLockOptions,
): Opened<RepairLock> {
  const peer = brokerPeer(endpoint)
  const { timeoutMs, isOnlyShared } = options
  const { isOnQueues = false } = own
  let state: State = 'free'
  let held: Held | null = null

  const letGo = async (next: State): Promise<void> => {
    const connection = held?.connection
    held = null
    state = next
    if (connection) await closeGently(connection)
  }
  const unreached = (): null => {
    state = isOnQueues ? 'unreached' : 'left-out'
    return null
  }
  const leftOut = (error: AdminError): null => {
    state = 'left-out'
    own.tell?.(
      `RabbitMQ at ${hostPort(endpoint.host, endpoint.port)} cannot hold the lock that keeps other operators out: ` +
        error.message,
    )
    return null
  }
  const attempt = async (): Promise<Holder | null> => {
    const connection = await openConnection(endpoint, peer, timeoutMs, { heartbeatSeconds }).catch(notReached)
    if (connection === null) return unreached()
    try {
      const answer = await withDeadline(declared(connection, own), timeoutMs + patienceMs, peer)
      if ('channel' in answer) {
        held = { connection, channel: answer.channel }
        state = 'held'
        return null
      }
      if (answer.code === locked && !(await isOpenToAll(connection))) {
        state = state === 'free' ? 'free' : 'lost'
        return await holder(connection)
      }
      const error =
        answer.code === locked
          ? notALock(endpoint)
          : refusal(answer, endpoint, `declaring queue ${operatorLock.queue}, which keeps other operators out`)
      if (isOnQueues && (isOnlyShared || error.code !== 'FORBIDDEN')) throw error
      return leftOut(error)
    } catch (error) {
      if (error instanceof TypeError || (error instanceof AdminError && error.code !== 'TIMED_OUT')) throw error
      // the broker has gone down meanwhile
      return unreached()
    } finally {
      if (held?.connection !== connection) await closeGently(connection)
    }
  }
  const holder = async (connection: ChannelModel): Promise<Holder> => {
    const { lists, close } = brokerLists(endpoint, clusterNameOf(connection), options)
    try {
      return lockHolderIn(await lists.queues()) ?? unknownHolder
    } catch (error) {
      // another operator holds it, even if we may not see who
      if (error instanceof AdminError) return unknownHolder
      throw error
    } finally {
      await close()
    }
  }
  const isAnswered = async ({ channel }: Held): Promise<boolean> => {
    try {
      await withDeadline((async () => channel.checkQueue(operatorLock.queue))(), timeoutMs, peer)
      return true
    } catch {
      return false
    }
  }

  return {
    source: {
      where: `queue ${operatorLock.queue} at ${peer.where}`,
      lostBy: 'RabbitMQ was restarted, cut the connection or does not answer',
      take: attempt,
      async isHeld() {
        if (held && !(await isAnswered(held))) await letGo(isOnQueues ? 'lost' : 'unreached')
        return state === 'unreached' ? (await attempt()) === null : state === 'held' || state === 'left-out'
      },
      release: async () => letGo('free'),
    },
    close: async () => letGo('free'),
  }
}

/**
 * `unreached`: taken once the broker is in reach. `left-out`: not held, and the run continues without it. `lost`: lost
 * for good.
 */
type State = 'free' | 'held' | 'unreached' | 'left-out' | 'lost'

interface Held {
  connection: ChannelModel
  channel: Channel
}

/** Declares the queue, and retries for a while if another operator has it. Throws if the connection is lost. */
async function declared(connection: ChannelModel, { who, what }: LockOwner): Promise<{ channel: Channel } | Reply> {
  const says = { [operatorLock.who]: who, [operatorLock.what]: what, [operatorLock.since]: new Date().toISOString() }
  for (const end = performance.now() + patienceMs; ; await sleep(pollMs)) {
    const channel = await channelOf(connection)
    try {
      await channel.assertQueue(operatorLock.queue, { exclusive: true, durable: false, arguments: says })
      return { channel }
    } catch (thrown) {
      const reply = replyOf(thrown)
      if (reply === null) throw thrown
      if (reply.code !== locked || performance.now() > end) return reply
    }
  }
}

/** True if a queue of that name exists that keeps nobody out. */
async function isOpenToAll(connection: ChannelModel): Promise<boolean> {
  const channel = await channelOf(connection)
  return channel.checkQueue(operatorLock.queue).then(
    () => true,
    () => false,
  )
}

async function channelOf(connection: ChannelModel): Promise<Channel> {
  const channel = await connection.createChannel()
  // without a listener, a channel that the broker closes ends the process
  channel.on('error', () => undefined)
  return channel
}

/** Returns null if no connection can be opened. */
function notReached(error: unknown): null {
  if (error instanceof AdminError) return null
  throw error
}

function notALock({ host, port, vhost }: BrokerEndpoint): AdminError {
  const { queue } = operatorLock
  return new AdminError(
    'REFUSED',
    `queue ${queue} in vhost ${vhost} of RabbitMQ at ${hostPort(host, port)} has the name of testops-admin's lock, ` +
      'but is an ordinary queue. If nobody needs it, delete it',
    [
      typedOn(
        host,
        command`rabbitmqctl list_queues -p ${vhost} name durable exclusive messages consumers | grep ${queue}`,
      ),
      typedOn(host, command`rabbitmqctl delete_queue -p ${vhost} ${queue}`),
    ],
  )
}
