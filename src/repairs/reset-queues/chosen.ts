import { counted, listed } from '../../core/format.ts'
import type { QueueSituation } from '../../domain/queues/broker-queues.ts'
import { AdminError } from '../../core/error.ts'
import { fitsGlob, plainGlob } from '../../core/glob.ts'
import type { BrokerExchange, BrokerPolicy, BrokerQueue, LogRecord } from '../../core/sources.ts'
import type { Binding } from '../../core/topology.ts'
import { alwaysDurable, isBuiltIn } from '../../knowledge/broker.ts'
import { declaredExchanges, durableConflicts } from '../../knowledge/log-signatures.ts'
import { command, nested, typed } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { deadLettersOf, deadLettersTo } from './dead-letters.ts'

export interface ChosenQueue {
  queue: BrokerQueue
  /** why it is the service's */
  proof: string
  /** the service says that it declares it */
  isDeclared: boolean
}

/** What of the vhost is declared anew. */
export interface Chosen {
  queues: readonly ChosenQueue[]
  exchanges: readonly BrokerExchange[]
  /** the service's own transient queues that --queue leaves out */
  leftOut: readonly string[]
  /** other transient queues, which are left as they are, and why */
  others: readonly { name: string; why: string }[]
  /** transient exchanges that feed the service's queues and others' too, so that they are not known to be its own */
  shared: readonly string[]
  /** chosen queues that dead letters may go to, each with the queues that they come from */
  deadLettered: ReadonlyMap<string, readonly string[]>
  /**
   * exchanges that go with their last binding, all of whose bindings go with what is declared anew; not those that are
   * declared anew themselves
   */
  vanishing: readonly BrokerExchange[]
}

/** What the vhost holds, as the broker lists it. */
export interface Held {
  exchanges: readonly BrokerExchange[]
  bindings: readonly Binding[]
  /** those that are seen */
  policies: readonly BrokerPolicy[]
  records: readonly LogRecord[]
  /** queues that other users than the service's read, and who they are */
  readByOthers: ReadonlyMap<string, readonly string[]>
}

/**
 * Transient queues that are provably the service's own, or that `patterns` name (DESIGN.md 6.9), and the transient
 * exchanges that feed its queues alone. Throws REFUSED where nothing proves which queues are its own, or that one that
 * is used as they are is not; USAGE where a pattern names none.
 */
export function choose(situation: QueueSituation, held: Held, vhost: string, patterns: readonly string[]): Chosen {
  const movable = situation.all.filter(({ type, durable }) => !durable && !alwaysDurable.includes(type))
  const own = withDeadLetters(situation, held)
  const isNamed = patterns.map(globOf)
  patterns.forEach((pattern, index) => {
    if (!situation.all.some(({ name }) => isNamed[index]!(name))) throw unknownQueue(pattern, situation, vhost)
  })
  const isWanted = (name: string): boolean => isNamed.some((matches) => matches(name))
  if (patterns.length === 0 && own.size === 0 && (situation.untold !== null || movable.length > 0))
    throw unproven(situation, vhost)
  const queues = movable.flatMap((queue): ChosenQueue[] => {
    const known = own.get(queue.name)
    if (patterns.length > 0 ? !isWanted(queue.name) : known === undefined) return []
    return [{ queue, proof: known?.proof ?? 'named by --queue', isDeclared: known?.isDeclared ?? false }]
  })
  const chosen = new Set(queues.map(({ queue }) => queue.name))
  const leftOut = movable.map(({ name }) => name).filter((name) => own.has(name) && !chosen.has(name))
  const rest = movable.map(({ name }) => name).filter((name) => !own.has(name) && !chosen.has(name))
  const doubtful =
    patterns.length > 0 ? undefined : rest.map((name) => doubtOf(name, own, situation, held)).find((it) => it !== null)
  if (doubtful) throw doubtful
  const others = rest.map((name) => ({ name, why: whyNot(name, held) }))
  const switched = exchangesOf(new Set([...own.keys(), ...chosen]), held)
  return {
    queues,
    leftOut,
    others,
    ...switched,
    deadLettered: deadLettersTo(chosen, { ...held, all: situation.all }),
    vanishing: vanishingWith(chosen, switched.exchanges, held),
  }
}

/**
 * The service's own, and those that their dead letters alone go to: a queue that nobody reads proves itself by nothing
 * else. One that others read, or send dead letters to as well, may be theirs.
 */
function withDeadLetters(
  { queues, all }: QueueSituation,
  { bindings, readByOthers }: Held,
): Map<string, Omit<ChosenQueue, 'queue'>> {
  const own = new Map<string, Omit<ChosenQueue, 'queue'>>(
    queues.map(({ queue, proof, isTold }) => [queue.name, { proof, isDeclared: isTold }]),
  )
  const byName = new Map(all.map((queue) => [queue.name, queue]))
  const senders = new Map<string, string[]>()
  for (const queue of all)
    for (const target of deadLettersOf(queue, bindings))
      senders.set(target, [...(senders.get(target) ?? []), queue.name])
  const isTheirs = (target: string): boolean =>
    readByOthers.has(target) || (senders.get(target) ?? []).some((it) => it !== target && !own.has(it))
  // a map's keys are walked through with those that are added meanwhile
  for (const name of own.keys()) {
    for (const target of byName.has(name) ? deadLettersOf(byName.get(name)!, bindings) : []) {
      if (byName.has(target) && !own.has(target) && !isTheirs(target))
        own.set(target, { proof: `dead letters of ${name} go there`, isDeclared: false })
    }
  }
  return own
}

/**
 * Of a queue that is used as the service's own are, and read by nobody: null: it is not. If the service declares it,
 * the broker refuses it that afterwards.
 */
function doubtOf(
  name: string,
  own: ReadonlyMap<string, unknown>,
  { all }: QueueSituation,
  { bindings, readByOthers }: Held,
): AdminError | null {
  if (readByOthers.has(name)) return null
  const exchanges = new Set(
    bindings
      .filter((it) => it.destinationKind === 'queue' && it.destination === name && it.source !== '')
      .map(({ source }) => source),
  )
  const shared = bindings.find(
    (it) => it.destinationKind === 'queue' && own.has(it.destination) && exchanges.has(it.source),
  )?.source
  const sender = all.find((queue) => own.has(queue.name) && deadLettersOf(queue, bindings).includes(name))?.name
  if (shared === undefined && sender === undefined) return null
  const how =
    shared === undefined
      ? `dead letters of ${sender!} go there`
      : `it is bound to exchange ${shared}, as the service's own queues are`
  const message = `queue ${name} is transient, and whose it is is not known: ${how}, and neither the log nor a reader tells. If it is the service's and stays as it is, the broker refuses the service that queue (406)`
  const naming = (names: readonly string[]): Suggestion =>
    command`testops-admin reset-queues -d {deployment} ${nested(typed(names.map((it) => `--queue=${it}`)))}`
  return new AdminError(
    'REFUSED',
    message,
    own.size > mostNamed
      ? ["testops-admin reset-queues -d {deployment} --queue PATTERN   # name those that are the service's"]
      : [
          command`${nested(naming([...own.keys(), name]))}   # where it is the service's`,
          command`${nested(naming([...own.keys()]))}   # where it is not`,
        ],
  )
}

/** how many queues are named in a command that is to be typed */
const mostNamed = 12

/** Why a transient queue is not known to be the service's, for people. */
function whyNot(name: string, { readByOthers }: Held): string {
  const users = readByOthers.get(name)
  return users ? `read by ${listed(users)}` : "nothing shows that it is the service's"
}

function exchangesOf(
  own: ReadonlySet<string>,
  { exchanges, bindings, records }: Held,
): Pick<Chosen, 'exchanges' | 'shared'> {
  const told = new Set(
    records.flatMap(({ text }) => [
      ...declaredExchanges(text),
      ...durableConflicts(text).flatMap(({ kind, name }) => (kind === 'exchange' ? [name] : [])),
    ]),
  )
  const transient = exchanges.filter(({ name, durable }) => !durable && !isBuiltIn(name))
  const feeds = (name: string): Binding[] => bindings.filter(({ source }) => source === name)
  const isOwn = ({ destination, destinationKind }: Binding): boolean =>
    destinationKind === 'queue' && own.has(destination)
  const isProven = ({ name }: BrokerExchange): boolean =>
    told.has(name) || (feeds(name).length > 0 && feeds(name).every(isOwn))
  return {
    exchanges: transient.filter(isProven),
    shared: transient.filter((it) => !isProven(it) && feeds(it.name).some(isOwn)).map(({ name }) => name),
  }
}

/** Where one goes, so do bindings to it. */
function vanishingWith(
  queues: ReadonlySet<string>,
  switched: readonly BrokerExchange[],
  { exchanges, bindings }: Held,
): BrokerExchange[] {
  const gone = new Set(switched.map(({ name }) => name))
  const vanishing: BrokerExchange[] = []
  const goesToo = ({ destination, destinationKind }: Binding): boolean =>
    destinationKind === 'queue' ? queues.has(destination) : gone.has(destination)
  const isNext = ({ name, autoDelete }: BrokerExchange): boolean => {
    const from = bindings.filter(({ source }) => source === name)
    return autoDelete && !gone.has(name) && from.length > 0 && from.every(goesToo)
  }
  for (let next = exchanges.find(isNext); next; next = exchanges.find(isNext)) {
    gone.add(next.name)
    vanishing.push(next)
  }
  return vanishing
}

/** `*` stands for any characters, `?` for one. */
function globOf(pattern: string): (name: string) => boolean {
  const signs = plainGlob(pattern)
  return (name) => fitsGlob(signs, name)
}

function unknownQueue(pattern: string, { all }: QueueSituation, vhost: string): AdminError {
  const there = all.length === 0 ? 'holds no queue' : `holds ${listed(all.map(({ name }) => name))}`
  return new AdminError('USAGE', `no queue is named by --queue ${pattern}: vhost ${vhost} ${there}`, [
    command`rabbitmqctl -p ${vhost} list_queues name durable   # on the broker`,
  ])
}

function unproven({ untold, all }: QueueSituation, vhost: string): AdminError {
  const names = all.filter(({ durable }) => !durable).map(({ name }) => name)
  const why =
    untold ??
    `which of the ${counted(names.length, 'transient queue')} in vhost ${vhost} are the service's is not known: its log names none, and nobody reads from them as its user`
  return new AdminError('REFUSED', `${why}: only what is provably the service's own is touched`, [
    ...(names.length > 0
      ? [command`testops-admin reset-queues -d {deployment} --queue PATTERN   # of ${listed(names)}`]
      : []),
    command`rabbitmqctl -p ${vhost} list_consumers   # on the broker`,
  ])
}
