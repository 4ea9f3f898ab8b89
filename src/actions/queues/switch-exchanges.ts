import type { VanishingExchange } from '../../core/action.ts'
import type { Binding, ExchangeDeclaration } from '../../core/broker-control.ts'
import { AdminError } from '../../core/error.ts'
import type { Entry } from '../../core/notes.ts'
import { bindingsNoted } from '../../core/notes.ts'
import { command } from '../../core/shell-command.ts'
import { exact, exactlyListed } from '../../domain/queues/exact-bindings.ts'
import { backExchangePrefix, keptExchange } from '../../knowledge/broker.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import { assertPermitted, liveExchanges, tryPermissions } from './queues.ts'

/** The `durable` of an exchange cannot be changed, so the exchange is deleted and declared again, with its bindings. */
export const switchExchanges: ActionHandler<'switch-exchanges'> = {
  failpoints: ['deleted', 'declared', 'bound'],
  async isDone({ exchanges, bindings }, workshop) {
    const wanted = exchanges.map(({ to }) => to)
    return (await areThere(wanted, workshop)) && (await missing(bindings, workshop)).length === 0
  },
  // a binding that an operator removed later stays removed
  async standsAs({ exchanges }, workshop) {
    return (await areThere(
      exchanges.map(({ to }) => to),
      workshop,
    ))
      ? 'done'
      : 'not-done'
  },
  askRights: async ({ exchanges, bindings }, workshop) =>
    assertPermitted(workshop, { queues: [], exchanges: exchanges.map(({ from }) => from), bindings }),
  async foresee({ exchanges, bindings }, workshop) {
    exact(bindings)
    const there = await liveExchanges(workshop)
    const known = exchanges.map(({ from }) => from).filter(({ name }) => there.has(name))
    await tryPermissions(workshop, { queues: [], exchanges: known, bindings })
  },
  perform: async ({ exchanges, bindings }, workshop) =>
    switchTo(
      exchanges.map(({ to }) => to),
      bindings,
      workshop,
    ),
  undo: async ({ exchanges, bindings }, workshop) =>
    switchTo(
      exchanges.map(({ from }) => from),
      bindings,
      workshop,
    ),
}

async function switchTo(
  wanted: readonly ExchangeDeclaration[],
  bindings: readonly Binding[],
  workshop: Workshop,
): Promise<void> {
  const { control, failpoint } = workshop
  const broker = await control.broker()
  const all = [...bindings, ...(await notedMeanwhile(wanted, bindings, workshop))]
  // before any is deleted: refuses what could not be bound again
  exact(await possible(all, workshop))
  for (const exchange of wanted) {
    if (await areThere([exchange], workshop)) continue
    await broker.deleteExchange(exchange.name)
    await failpoint('deleted')
    if ((await broker.declareExchange(exchange)) === 'declared') continue
    throw new AdminError('REFUSED', `another client has declared exchange ${exchange.name} with different properties`, [
      command`rabbitmqctl list_exchanges name type durable auto_delete arguments | grep ${exchange.name}   # on the
        broker`,
    ])
  }
  await failpoint('declared')
  // a binding with a missing end is left out: the program that declares that end again also binds it
  await broker.bind(exact(await missing(all, workshop)))
  await failpoint('bound')
}

/**
 * Bindings that were added since the plan was made, which vanish with the exchange: recorded before it is deleted, now
 * or by a run that was killed. A binding that was removed in between comes back too.
 */
async function notedMeanwhile(
  wanted: readonly ExchangeDeclaration[],
  known: readonly Binding[],
  { open, journal }: Workshop,
): Promise<Binding[]> {
  const names = new Set(wanted.map(({ name }) => name))
  const noted = journal.notes.flatMap((note) => JSON.parse(note) as Binding[])
  const keys = new Set([...known, ...noted].map(bindingKey))
  const others = (await (await open.broker()).bindings()).filter(
    (it) =>
      (names.has(it.source) || (it.destinationKind === 'exchange' && names.has(it.destination))) &&
      !keys.has(bindingKey(it)) &&
      !it.destination.startsWith(backExchangePrefix),
  )
  exactlyListed(others)
  if (others.length > 0) await journal.note(JSON.stringify(others))
  return [...noted, ...others]
}

async function areThere(wanted: readonly ExchangeDeclaration[], { open }: Workshop): Promise<boolean> {
  const there = new Map((await (await open.broker()).exchanges()).map((it) => [it.name, it]))
  return wanted.every(
    ({ name, durable, type }) => there.get(name)?.durable === durable && there.get(name)?.type === type,
  )
}

/** Bindings that are missing although both their ends exist. */
export async function missing(bindings: readonly Binding[], workshop: Pick<Workshop, 'open'>): Promise<Binding[]> {
  const there = await (await workshop.open.broker()).bindings()
  const [exactly, alike] = [new Set(there.map(bindingKey)), new Set(there.map(shownKey))]
  // records of a former version have no key
  const isThere = (it: Binding): boolean =>
    it.key === undefined ? alike.has(shownKey(it)) : exactly.has(bindingKey(it))
  return possible(
    bindings.filter((it) => !isThere(it)),
    workshop,
  )
}

/** Bindings whose ends both exist. */
export async function possible(bindings: readonly Binding[], { open }: Pick<Workshop, 'open'>): Promise<Binding[]> {
  const broker = await open.broker()
  const [queues, exchanges] = await Promise.all([broker.queues(), broker.exchanges()])
  const isQueue = new Set(queues.map(({ name }) => name))
  const isExchange = new Set(exchanges.map(({ name }) => name))
  const exists = (name: string): boolean => isExchange.has(name) || name.startsWith('amq.')
  return bindings.filter(
    ({ source, destination, destinationKind }) =>
      exists(source) && (destinationKind === 'queue' ? isQueue.has(destination) : exists(destination)),
  )
}

/** A key that is equal for equal bindings: arguments that look the same may have different types. */
function bindingKey(binding: Binding): string {
  return binding.key === undefined ? shownKey(binding) : JSON.stringify([...placeOf(binding), binding.key])
}

/** A key that is equal for bindings that lists show alike. */
function shownKey(binding: Binding): string {
  return JSON.stringify([...placeOf(binding), Object.entries(binding.arguments).sort(([a], [b]) => (a < b ? -1 : 1))])
}

function placeOf({ source, destination, destinationKind, routingKey }: Binding): string[] {
  return [source, destinationKind, destination, routingKey]
}

/**
 * Records bindings that were added since the plan was made, before their queue is deleted with them. Throws REFUSED if
 * one could not be restored.
 */
export async function noteBindings(
  queues: readonly string[],
  known: readonly Binding[],
  { open, journal }: Pick<Workshop, 'open' | 'journal'>,
): Promise<void> {
  const names = new Set(queues)
  const keys = new Set([...known, ...bindingsNoted(journal.ofRun())].map(bindingKey))
  const isOwn = ({ source, destination, destinationKind }: Binding): boolean =>
    destinationKind === 'queue' && names.has(destination) && !source.startsWith(backExchangePrefix)
  const others = (await (await open.broker()).bindings()).filter((it) => isOwn(it) && !keys.has(bindingKey(it)))
  exactlyListed(others)
  if (others.length > 0) await journal.note(JSON.stringify({ event: 'bound', bindings: others } satisfies Entry))
}

/** True if all of these exchanges that exist are bound to ours. */
export async function areKept(
  exchanges: readonly VanishingExchange[],
  workshop: Pick<Workshop, 'open'>,
): Promise<boolean> {
  if (exchanges.length === 0) return true
  const there = await liveExchanges(workshop)
  const wanted = exchanges.filter(({ name }) => there.has(name))
  if (wanted.length === 0) return true
  return there.has(keptExchange) && (await missing(wanted.map(keeping), workshop)).length === 0
}

/**
 * Keeps exchanges from vanishing with their last binding: binds them to an exchange of ours that leads to no queue. It
 * is removed with everything else that this program created.
 */
export async function keepExchanges(
  exchanges: readonly VanishingExchange[],
  workshop: Pick<Workshop, 'open' | 'control'>,
): Promise<void> {
  const there = await liveExchanges(workshop)
  const wanted = exchanges.filter(({ name }) => there.has(name))
  if (wanted.length === 0) return
  const broker = await workshop.control.broker()
  await broker.declareExchange(keeper)
  await broker.bind(wanted.map(keeping))
}

/** It must survive a restart of the broker. */
const keeper: ExchangeDeclaration = {
  name: keptExchange,
  type: 'fanout',
  durable: true,
  autoDelete: false,
  internal: false,
  arguments: {},
}

/** Returns what a user must be permitted for `keepExchanges`. */
export function keptBy(exchanges: readonly VanishingExchange[]): { own: ExchangeDeclaration[]; bindings: Binding[] } {
  return { own: exchanges.length === 0 ? [] : [keeper], bindings: exchanges.map(keeping) }
}

/** The binding to our exchange: only a fanout sends anything through it, and that reaches no queue. */
function keeping({ name, type }: VanishingExchange): Binding {
  const header = { 'x-match': 'all', [keptExchange]: true }
  return {
    source: name,
    destination: keptExchange,
    destinationKind: 'exchange',
    routingKey: keptExchange,
    arguments: type === 'headers' ? header : {},
  }
}
