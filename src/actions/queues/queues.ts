import type { Former, Move } from '../../core/action.ts'
import type { ExchangeDeclaration, LackedPermission, QueueDeclaration, Trial } from '../../core/broker-control.ts'
import type { ErrorCode } from '../../core/error.ts'
import { AdminError } from '../../core/error.ts'
import { counted } from '../../core/format.ts'
import type { Entry } from '../../core/notes.ts'
import { command } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import type { BrokerExchange, BrokerPermissions, BrokerQueue, BrokerSource, QueueCounts } from '../../core/sources.ts'
import { isListed, lackedPermission } from '../../domain/queues/permissions.ts'
import { tolerant } from '../../domain/wanted.ts'
import { aheadOf, holdingOf, nowhere } from '../../knowledge/broker.ts'
import type { Workshop } from '../handler.ts'
import { accountsOf } from './account.ts'

/** The declaration of a holding queue: classic, so that it keeps every order and priority. */
export function declaration(name: string): QueueDeclaration {
  return { name, durable: true, autoDelete: false, arguments: { 'x-queue-type': 'classic' } }
}

/** The vhost's queues by name. */
export async function liveQueues({ open }: Pick<Workshop, 'open'>): Promise<ReadonlyMap<string, BrokerQueue>> {
  const queues = await (await open.broker()).queues()
  return new Map(queues.map((queue) => [queue.name, queue]))
}

/** The vhost's exchanges by name. */
export async function liveExchanges({ open }: Pick<Workshop, 'open'>): Promise<ReadonlyMap<string, BrokerExchange>> {
  const exchanges = await (await open.broker()).exchanges()
  return new Map(exchanges.map((exchange) => [exchange.name, exchange]))
}

/**
 * The counts of those queues that exist. Missing queues are not asked for: one refusal takes longer than all other
 * answers.
 */
export async function countsOf(
  names: readonly string[],
  { open }: Pick<Workshop, 'open'>,
): Promise<ReadonlyMap<string, QueueCounts>> {
  const there = await liveQueues({ open })
  const counts = await (await open.broker()).counts(names.filter((name) => there.has(name)))
  return new Map([...counts].flatMap(([name, it]) => (it === null ? [] : [[name, it] as const])))
}

/** Keeps these queues open while this process lives; ignores missing ones. */
export async function keepOpen(
  names: readonly string[],
  { open, control }: Pick<Workshop, 'open' | 'control'>,
): Promise<void> {
  // after an interruption nothing can be opened, but kept queues must still be brought to safety
  await open.broker()
  await (await control.broker()).keep(names)
}

/** The moves of those queues that have a holding queue. */
export function movesOf(queues: readonly Former[]): Move[] {
  return queues.flatMap(({ queue: { name }, holding }) => (holding === null ? [] : [{ queue: name, holding }]))
}

/** Every queue of the run, with the one that holds its messages. */
export function ownMoves({ saved }: Pick<Workshop, 'saved'>): Move[] {
  return (saved?.queues ?? []).map(({ name }) => ({ queue: name, holding: holdingOf(name) }))
}

/** A queue and the two that may hold its messages. */
export function placesOf({ queue, holding }: Move): string[] {
  return [queue, ...holdingPlaces(holding)]
}

function holdingPlaces(holding: string): string[] {
  return [holding, aheadOf(holding)]
}

/** Those of the moves whose messages wait in a holding queue. */
export async function awaitedOf(moves: readonly Move[], workshop: Pick<Workshop, 'open'>): Promise<Move[]> {
  const counts = await countsOf(
    moves.flatMap(({ holding }) => holdingPlaces(holding)),
    workshop,
  )
  return moves.filter(({ holding }) => holdingPlaces(holding).some((name) => (counts.get(name)?.ready ?? 0) > 0))
}

/** True if a queue of that name exists with that durability. */
export function isThere(
  queues: ReadonlyMap<string, BrokerQueue>,
  { name, durable }: Pick<QueueDeclaration, 'name' | 'durable'>,
): boolean {
  return queues.get(name)?.durable === durable
}

/** how long a wait tolerates failing looks */
const againForMs = 5000
const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['UNREACHABLE', 'TIMED_OUT'])

/**
 * Wraps a look that a wait repeats, so that a cut connection does not end the wait, as when an API server or a proxy is
 * renewed. Throws the failure once every look has failed for 5 s, and at once if it is not about the connection.
 */
export function lostLooks<T>(look: () => Promise<T>): () => Promise<T | { lost: AdminError }> {
  let since: number | null = null
  return async () => {
    try {
      const seen = await look()
      since = null
      return seen
    } catch (error) {
      if (!(error instanceof AdminError && passing.has(error.code))) throw error
      since ??= performance.now()
      if (performance.now() - since > againForMs) throw error
      return { lost: error }
    }
  }
}

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
    `${Object.values(differing).join('. ')}. Most likely RabbitMQ was restarted: a restart drops transient ` +
      `queues.${total} The service is still stopped`,
    [
      'rabbitmqctl status   # on the broker: shows how long RabbitMQ has been up',
      'if you do not need these messages, run the same command again: this time, it continues despite the loss',
    ],
  )
}

/** True if the queue vanishes by itself, with its last reader or later: the plan says so and names what may be lost. */
function goesByItself({ autoDelete, arguments: values }: QueueDeclaration): boolean {
  return autoDelete || 'x-expires' in values
}

function saidOf(queue: string, returned: number | null): string {
  if (returned === null)
    return `Queue ${queue} is gone, along with any messages in it: none of them had been moved aside`
  return `Queue ${queue} is gone, along with the ${counted(returned, 'message')} that had been moved back to it`
}

/** What a step works on, and what it declares for itself. */
export interface QueueWork extends Trial {
  /** Temporary queues that will be declared */
  holding?: readonly string[]
  /** Exchanges of this program that will be declared */
  own?: readonly ExchangeDeclaration[]
}

/**
 * Throws FORBIDDEN for the first permission that the user lacks for this work. The broker's list of permissions tells,
 * if the user may see it and this program can read its patterns; otherwise, the broker is asked for each. If nothing
 * else is missing, the broker is also asked for the routing keys of topic exchanges. Throws REFUSED if one cannot be
 * found out.
 */
export async function assertPermitted(
  { open, control }: Pick<Workshop, 'open' | 'control'>,
  work: QueueWork,
): Promise<void> {
  const broker = await open.broker()
  const { holding = [], own = [], ...others } = work
  const of = await withTopics({ ...others, exchanges: [...others.exchanges, ...own] }, { open })
  const permissions = await listOf(broker)
  const listed = permissions ? lackedPermission(permissions, of, holding) : 'unknown'
  if (listed !== null && listed !== 'unknown') throw lacking(listed, broker)
  // the list does not include topic permissions
  const topics = of.bindings.filter(({ routingKey }) => routingKey !== nowhere)
  if (listed === null && topics.length === 0) return
  const asked = listed === 'unknown' ? { ...of, holding } : { queues: [], exchanges: [], bindings: topics, holding: [] }
  const { lacked, unanswered } = await (await control.broker()).lackedPermission(asked)
  if (lacked) throw lacking(lacked, broker)
  await refuseUnanswered(unanswered, broker)
}

/**
 * Tries the permissions for this work, on queues and exchanges that exist, while the service still runs. Throws
 * FORBIDDEN for the first that is missing, REFUSED for one that cannot be found out.
 */
export async function tryPermissions(
  { open, control }: Pick<Workshop, 'open' | 'control'>,
  { holding = [], own = [], ...of }: QueueWork,
): Promise<void> {
  const [broker, source] = [await control.broker(), await open.broker()]
  const untried = await broker.tryRights(await withTopics(of, { open }))
  if (holding.length + own.length === 0) return refuseUnanswered(untried, source)
  // what does not exist yet cannot be tried
  const asked = { queues: [], exchanges: own, bindings: [], holding }
  const { lacked, unanswered } = await broker.lackedPermission(asked)
  if (lacked) throw lacking(lacked, source)
  await refuseUnanswered([...untried, ...unanswered], source)
}

/**
 * Throws for the first of these permissions that the broker's list does not grant: FORBIDDEN if the list denies it,
 * REFUSED if the list does not tell either.
 */
async function refuseUnanswered(unanswered: readonly LackedPermission[], broker: BrokerSource): Promise<void> {
  if (unanswered.length === 0) return
  const permissions = await listOf(broker)
  const isGiven = (it: LackedPermission): boolean | null => (permissions ? isListed(permissions, it) : null)
  const denied = unanswered.find((it) => isGiven(it) === false)
  if (denied) throw lacking(denied, broker)
  const untold = unanswered.find((it) => isGiven(it) === null)
  if (!untold) return
  const { user, vhost, target } = broker
  const tags = permissions ? [] : ((await tolerant(broker.tags())) ?? [])
  throw new AdminError(
    'REFUSED',
    `cannot tell whether user ${user} has the ${untold.right} permission on ${untold.object} (RabbitMQ at ` +
      `${target}): the broker closes the connection instead of answering, perhaps because the name is very long`,
    permissions || tags.includes('administrator') || untold.topicOf !== undefined
      ? [granting(untold, broker)]
      : [
          command`rabbitmqctl list_permissions -p ${vhost}   # on the broker: shows what user ${user} may do`,
          command`rabbitmqctl set_user_tags ${user} ${[...tags, 'administrator']}   # lets testops-admin read this
            list`,
        ],
  )
}

function lacking(lacked: LackedPermission, broker: BrokerSource): AdminError {
  const { user, target } = broker
  return new AdminError(
    'FORBIDDEN',
    `user ${user} has no ${lacked.right} permission on ${lacked.object} (RabbitMQ at ${target})`,
    [granting(lacked, broker)],
  )
}

function granting({ topicOf }: LackedPermission, { user, vhost }: BrokerSource): ShellCommand {
  return topicOf === undefined
    ? command`rabbitmqctl set_permissions -p ${vhost} ${user} ${'.*'} ${'.*'} ${'.*'}   # on the broker`
    : command`rabbitmqctl set_topic_permissions -p ${vhost} ${user} ${topicOf} ${'.*'} ${'.*'}   # on the broker`
}

/** Returns the list of permissions; null: this user may not see it, or is of another backend, such as LDAP. */
async function listOf(broker: BrokerSource): Promise<BrokerPermissions | null> {
  return tolerant(broker.permissions())
}

/**
 * Returns the same work, with one routing key for all bindings of exchanges that are not topic exchanges: RabbitMQ
 * checks no permission for their keys.
 */
async function withTopics<Of extends Trial>(of: Of, { open }: Pick<Workshop, 'open'>): Promise<Of> {
  const there = of.bindings.length === 0 ? null : await tolerant(liveExchanges({ open }))
  const types = new Map([...(there?.values() ?? []), ...of.exchanges].map(({ name, type }) => [name, type]))
  // the list of exchanges leaves out those that RabbitMQ declares itself
  const isTopic = (name: string): boolean => (types.get(name) ?? 'topic') === 'topic'
  const bindings = of.bindings.map((it) => (isTopic(it.source) ? it : { ...it, routingKey: nowhere }))
  return { ...of, bindings }
}
