import type { Binding } from '../../core/broker-control.ts'
import { AdminError } from '../../core/error.ts'
import { counted, listed } from '../../core/format.ts'
import { fitsGlob, plainGlob } from '../../core/glob.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { command, nested, typed } from '../../core/shell-command.ts'
import type { BrokerExchange, BrokerPolicy, BrokerQueue, LogRecord } from '../../core/sources.ts'
import type { QueueSituation } from '../../domain/queues/broker-queues.ts'
import { alwaysDurable, deadLetterExchangeOf, isBuiltIn } from '../../knowledge/broker.ts'
import { declaredExchanges, durableConflicts } from '../../knowledge/log-signatures.ts'

/** What decides where dead letters go in a virtual host. `policies`: those that this user may see. */
interface DeadLetterWays {
  all: readonly BrokerQueue[]
  exchanges: readonly BrokerExchange[]
  bindings: readonly Binding[]
  policies: readonly BrokerPolicy[]
}

/** Queues that dead letters of this queue certainly go to, as far as the routing key alone decides. */
function deadLettersOf({ name, arguments: values }: BrokerQueue, bindings: readonly Binding[]): string[] {
  const { 'x-dead-letter-exchange': exchange, 'x-dead-letter-routing-key': key } = values
  if (typeof exchange !== 'string') return []
  if (exchange === '') return [typeof key === 'string' ? key : name]
  return bindings
    .filter((it) => it.source === exchange && it.destinationKind === 'queue' && it.routingKey === key)
    .map((it) => it.destination)
}

/** Those of `queues` that dead letters may go to, each with the queues that they come from. */
function deadLettersTo(queues: ReadonlySet<string>, ways: DeadLetterWays): ReadonlyMap<string, readonly string[]> {
  const from = new Map<string, string[]>()
  for (const queue of ways.all) {
    for (const target of mayReach(queue, ways))
      if (target !== queue.name && queues.has(target)) from.set(target, [...(from.get(target) ?? []), queue.name])
  }
  return from
}

/**
 * Queues that dead letters of this queue may reach, whatever routing key, header or exchange type decides: one too many
 * does no harm.
 */
function mayReach(queue: BrokerQueue, { all, exchanges, bindings, policies }: DeadLetterWays): ReadonlySet<string> {
  const first = deadLetterExchangeOf(queue, policies)
  if (first === null) return new Set()
  const key = queue.arguments['x-dead-letter-routing-key']
  // without a key of its own, a message keeps the one that it came with
  if (first === '') return new Set(typeof key === 'string' ? [key] : all.map(({ name }) => name))
  const alternates = new Map(exchanges.map(({ name, arguments: values }) => [name, values['alternate-exchange']]))
  const reached = new Set<string>()
  const passed = new Set([first])
  // the loop also visits what it adds
  for (const exchange of passed) {
    const alternate = alternates.get(exchange)
    if (typeof alternate === 'string') passed.add(alternate)
    for (const { destination, destinationKind } of bindings.filter(({ source }) => source === exchange))
      (destinationKind === 'queue' ? reached : passed).add(destination)
  }
  return reached
}

/**
 * Dead letters that are lost while their queues are deleted, because a queue outside `queues` keeps sending them; null:
 * none.
 */
export function lossOfDeadLetters(
  queues: readonly string[],
  deadLettered: ReadonlyMap<string, readonly string[]>,
): string | null {
  const isOther = (name: string): boolean => !queues.includes(name)
  const targets = [...deadLettered].filter(([, from]) => from.some(isOther)).map(([name]) => name)
  if (targets.length === 0) return null
  const senders = [...new Set([...deadLettered.values()].flat())].filter(isOther)
  return (
    `dead letters from ${listed(senders)} to ${listed(targets)}, until the receiving ` +
    `${targets.length === 1 ? 'queue is' : 'queues are'} redeclared`
  )
}

export interface ChosenQueue {
  queue: BrokerQueue
  /** why it is the service's */
  proof: string
  /** the service's log says that it declares this queue */
  isDeclared: boolean
}

/** The queues and exchanges that the repair redeclares, and those that it leaves alone. */
export interface Chosen {
  queues: readonly ChosenQueue[]
  exchanges: readonly BrokerExchange[]
  /** the service's own transient queues that --queue leaves out */
  leftOut: readonly string[]
  /** other transient queues, which stay unchanged, and why */
  others: readonly { name: string; why: string }[]
  /** transient exchanges that stay unchanged, because they feed queues of others as well */
  shared: readonly string[]
  /** chosen queues that dead letters may go to, each with the queues that they come from */
  deadLettered: ReadonlyMap<string, readonly string[]>
  /** auto-delete exchanges that vanish because this repair removes all their bindings; not those that it redeclares */
  vanishing: readonly BrokerExchange[]
}

/** What the vhost holds, as the broker lists it. */
interface Held {
  exchanges: readonly BrokerExchange[]
  bindings: readonly Binding[]
  /** the policies that this user may see */
  policies: readonly BrokerPolicy[]
  records: readonly LogRecord[]
  /** queues that other users read from, each with those users */
  readByOthers: ReadonlyMap<string, readonly string[]>
}

/**
 * Chooses the service's own transient queues, or those that `patterns` name (DESIGN.md 6.9), and the transient
 * exchanges that feed only its queues. Throws REFUSED if nothing shows which queues are the service's, or if a queue in
 * doubt is used like them; USAGE if a pattern matches no queue.
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
 * The service's own queues, and the queues that only their dead letters go to: nobody reads those, so nothing else
 * shows whose they are. A queue that others read from, or send dead letters to, may be theirs.
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
  // the loop also visits the keys that it adds
  for (const name of own.keys()) {
    for (const target of byName.has(name) ? deadLettersOf(byName.get(name)!, bindings) : []) {
      if (byName.has(target) && !own.has(target) && !isTheirs(target))
        own.set(target, { proof: `receives dead letters of ${name}`, isDeclared: false })
    }
  }
  return own
}

/**
 * The refusal for a queue that is used like the service's own and that nobody reads from: if the service declares it,
 * the broker would refuse it afterwards. Null: there is no such doubt.
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
      ? `it receives dead letters of ${sender!}`
      : `it is bound to exchange ${shared}, like the service's own queues`
  const message =
    `cannot tell whether transient queue ${name} belongs to the service: ${how}. If the service declares this ` +
    'queue, it must become durable too, or the broker refuses the declaration (406)'
  const naming = (names: readonly string[]): Suggestion =>
    command`testops-admin reset-queues -d {deployment} ${nested(typed(names.map((it) => `--queue=${it}`)))}`
  return new AdminError(
    'REFUSED',
    message,
    own.size > mostNamed
      ? ["testops-admin reset-queues -d {deployment} --queue PATTERN   # PATTERN must match the service's queues"]
      : [
          command`${nested(naming([...own.keys(), name]))}   # if the queue belongs to the service`,
          command`${nested(naming([...own.keys()]))}   # if the queue does not belong to the service`,
        ],
  )
}

/** the most queues that a suggested command names */
const mostNamed = 12

/** Why a transient queue is not known to be the service's, in words for people. */
function whyNot(name: string, { readByOthers }: Held): string {
  const users = readByOthers.get(name)
  return users ? `read by ${listed(users)}` : "not known to be the service's"
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

/**
 * Exchanges that vanish with the given queues and exchanges. Each one that vanishes takes the bindings to it along, so
 * the search repeats.
 */
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
  const there =
    all.length === 0 ? 'has no queues' : `has ${counted(all.length, 'queue')}: ${listed(all.map(({ name }) => name))}`
  return new AdminError('USAGE', `--queue ${pattern} matches no queue: vhost ${vhost} ${there}`, [
    command`rabbitmqctl -p ${vhost} list_queues name durable   # on the broker`,
  ])
}

function unproven({ untold, all }: QueueSituation, vhost: string): AdminError {
  const names = all.filter(({ durable }) => !durable).map(({ name }) => name)
  const why =
    untold ??
    `cannot tell which transient queues in vhost ${vhost} belong to the service (${names.length} found): its ` +
      'log names no queue, and its RabbitMQ user reads from no queue'
  return new AdminError('REFUSED', `${why}. This repair changes only queues that certainly belong to the service`, [
    ...(names.length > 0
      ? [
          command`testops-admin reset-queues -d {deployment} --queue PATTERN   # PATTERN must match one or more of
            ${listed(names)}`,
        ]
      : []),
    command`rabbitmqctl -p ${vhost} list_consumers   # on the broker`,
  ])
}
