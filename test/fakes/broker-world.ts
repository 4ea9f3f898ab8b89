import type { Binding, BrokerControl, Deleted } from '../../src/core/broker-control.ts'
import { AdminError } from '../../src/core/error.ts'
import type { BrokerConsumer, BrokerExchange, BrokerQueue, BrokerSource } from '../../src/core/sources.ts'
import type { Contents, MessageMover, Move, Moved } from '../../src/core/message-mover.ts'
import { moverFailpoints } from '../../src/core/message-mover.ts'
import { ownConnectionName } from '../../src/knowledge/broker.ts'
import { exchange, fakeBroker, queue } from './broker.ts'
import type { Answers } from './fake.ts'

/** One virtual host in memory: `source` shows every change that `control` makes. */
export interface BrokerWorld {
  source: BrokerSource
  control: BrokerControl
  /** Sets the number of ready messages in a queue */
  fill(queue: string, messages: number): void
  /** Adds a consumer. `leave` removes the last one; an auto-delete queue without consumers then vanishes */
  consume(queue: string, consumer?: Partial<BrokerConsumer>): void
  leave(queue: string): void
  /** Queues with their messages, exchanges and bindings, each sorted */
  snapshot(): { queues: string[]; exchanges: string[]; bindings: string[] }
}

interface Situation {
  queues?: readonly Partial<BrokerQueue>[]
  exchanges?: readonly Partial<BrokerExchange>[]
  bindings?: readonly Binding[]
  /** True for a broker that denies transient queues, as from 4.3 on */
  deniesTransient?: boolean
  /** Replace what the world answers */
  answers?: Answers<BrokerSource>
}

/** An empty virtual host, unless told otherwise. */
export function brokerWorld({
  queues = [],
  exchanges = [],
  bindings = [],
  deniesTransient = false,
  answers,
}: Situation = {}): BrokerWorld {
  const held = {
    queues: new Map(queues.map((of) => queue({ consumers: 0, ...of })).map((it) => [it.name, it])),
    exchanges: new Map(exchanges.map(exchange).map((it) => [it.name, it])),
    bindings: [...bindings],
    consumers: [] as BrokerConsumer[],
  }
  const kept = new Set<string>()
  const source = fakeBroker({
    identity: { product: 'RabbitMQ', version: deniesTransient ? '4.3.6' : '3.10.8' },
    deprecatedFeature: {
      state: deniesTransient ? 'denied' : 'permitted',
      used: [...held.queues.values()].some(({ durable }) => !durable),
    },
    queues: () => [...held.queues.values()],
    exchanges: () => [...held.exchanges.values()],
    bindings: () => [...held.bindings],
    consumers: () => [...held.consumers],
    counts: (names) => new Map(names.map((name) => [name, countsIn(held.queues.get(name))])),
    ...answers,
  })
  const dropQueue = (name: string): void => {
    held.queues.delete(name)
    held.bindings = held.bindings.filter((it) => it.destinationKind !== 'queue' || it.destination !== name)
    held.consumers = held.consumers.filter((it) => it.queue !== name)
  }
  const change = (name: string, of: Partial<BrokerQueue>): void => {
    const before = held.queues.get(name)
    if (before) held.queues.set(name, { ...before, ...of })
  }
  const world: Omit<BrokerWorld, 'source' | 'control'> = {
    fill: (name, messages) => change(name, { messages }),
    consume(name, of = {}) {
      held.consumers.push({ queue: name, vhost: '/', user: 'testops', connection: 'rabbitConnectionFactory#1', ...of })
      change(name, { consumers: (held.queues.get(name)?.consumers ?? 0) + 1 })
    },
    snapshot: () => ({
      queues: [...held.queues.values()]
        .map(({ name, durable, messages }) => `${name} ${String(durable)} ${messages ?? 0}`)
        .sort(),
      exchanges: [...held.exchanges.values()].map(({ name, durable }) => `${name} ${String(durable)}`).sort(),
      bindings: held.bindings.map(({ source: from, destination }) => `${from} ${destination}`).sort(),
    }),
    leave(name) {
      const index = held.consumers.findIndex((it) => it.queue === name)
      if (index >= 0) held.consumers.splice(index, 1)
      const left = (held.queues.get(name)?.consumers ?? 1) - 1
      change(name, { consumers: left })
      if (left === 0 && held.queues.get(name)?.autoDelete) dropQueue(name)
    },
  }
  const deleteOne = (name: string, most: number): Deleted => {
    const counts = countsIn(held.queues.get(name))
    if (counts === null) return 'missing'
    if (counts.consumers > 0 || counts.ready > most) return 'in-use'
    dropQueue(name)
    return 'deleted'
  }
  const marks = new Map<string, Record<string, Contents[string]>>()
  const move = async (
    { from, to, attempt, onProgress, failpoint }: Move,
    direction: 'aside' | 'back',
  ): Promise<Moved> => {
    const there = held.queues.get(from)
    if (!there) throw refused(`has no queue ${from}`)
    if ((there.consumers ?? 0) > 0) throw refused(`has others that read queue ${from}`)
    const moved = there.messages ?? 0
    const own = { [attempt ?? '0011223344556677']: { count: moved, last: moved, digest: String(moved) } }
    const contents = direction === 'aside' ? (moved > 0 ? own : {}) : (marks.get(from) ?? {})
    for (const name of moverFailpoints) {
      await failpoint?.(name)
      if (name !== 'published') continue
      world.fill(to, (held.queues.get(to)?.messages ?? 0) + moved)
      world.fill(from, 0)
      if (direction === 'aside') marks.set(to, { ...marks.get(to), ...contents })
      else marks.delete(from)
    }
    onProgress?.({ moved })
    return { moved, contents, leftOut: 0, again: 0, perhapsTwice: 0, othersIds: 0 }
  }
  const mover: MessageMover = {
    target: source.target,
    async aside(of) {
      if (!held.queues.has(of.to)) held.queues.set(of.to, queue({ name: of.to, consumers: 0 }))
      return move(of, 'aside')
    },
    async back(of) {
      if (!held.queues.has(of.to)) throw refused(`has no queue ${of.to}`)
      return move(of, 'back')
    },
  }
  const control: BrokerControl = {
    target: source.target,
    async declareQueues(declarations) {
      const results = declarations.map((declaration) => {
        const before = held.queues.get(declaration.name)
        if (before) return [declaration.name, isSame(declaration, before) ? 'declared' : 'otherwise'] as const
        if (!declaration.durable && deniesTransient)
          throw refused(`denies transient queues (transient_nonexcl_queues): declaring queue ${declaration.name}`)
        held.queues.set(declaration.name, queue({ consumers: 0, ...declaration }))
        return [declaration.name, 'declared'] as const
      })
      return new Map(results)
    },
    deleteQueue: async (name, { most }) => deleteOne(name, most),
    deleteQueues: async (all) => new Map(all.map(({ name, most }) => [name, deleteOne(name, most)])),
    async declareExchange(declaration) {
      const before = held.exchanges.get(declaration.name)
      if (before) return isSame(declaration, before) ? 'declared' : 'otherwise'
      held.exchanges.set(declaration.name, exchange(declaration))
      return 'declared'
    },
    async deleteExchange(name) {
      held.exchanges.delete(name)
      held.bindings = held.bindings.filter(
        (it) => it.source !== name && (it.destinationKind !== 'exchange' || it.destination !== name),
      )
    },
    async bind(all) {
      for (const it of all) {
        const end =
          it.destinationKind === 'queue' ? held.queues.get(it.destination) : held.exchanges.get(it.destination)
        const missing = !end
          ? `${it.destinationKind} '${it.destination}'`
          : held.exchanges.has(it.source)
            ? null
            : `exchange '${it.source}'`
        if (missing !== null)
          throw refused(`refuses an operation in vhost / (binding ${inWords(it)}): no ${missing} in vhost '/'`)
        if (!held.bindings.some((other) => isSame(other, it))) held.bindings.push(it)
      }
    },
    tryRights: async () => [],
    lackedPermission: async () => ({ lacked: null, unanswered: [] }),
    async unbind(all) {
      held.bindings = held.bindings.filter((it) => !all.some((other) => isSame(other, it)))
    },
    async purge(name) {
      const ready = countsIn(held.queues.get(name))?.ready ?? 0
      change(name, { messages: 0 })
      return ready
    },
    async keep(names) {
      for (const name of names.filter((it) => held.queues.has(it) && !kept.has(it))) {
        kept.add(name)
        world.consume(name, { connection: ownConnectionName })
      }
    },
    kept: () => new Set(kept),
    heldBack: async () => 0,
    async release(name) {
      if (kept.delete(name)) world.leave(name)
    },
    mover: async () => mover,
  }
  return { source, control, ...world }
}

function countsIn(of: BrokerQueue | undefined): { ready: number; consumers: number } | null {
  return of ? { ready: of.messages ?? 0, consumers: of.consumers ?? 0 } : null
}

/** True if every property of `told` has the same value in `other`. */
function isSame(told: object, other: object): boolean {
  const inOther = new Map(Object.entries(other))
  return Object.entries(told).every(([name, value]) => JSON.stringify(value) === JSON.stringify(inOther.get(name)))
}

function inWords({ source, destination, destinationKind, routingKey }: Binding): string {
  return `${destinationKind} ${destination} to exchange ${source}${routingKey === '' ? '' : ` with key ${routingKey}`}`
}

function refused(what: string): AdminError {
  return new AdminError('REFUSED', `RabbitMQ at mq.example.org:5672 ${what}`)
}
