import type { VanishingExchange } from '../../core/action.ts'
import { keptExchange } from '../../knowledge/broker.ts'
import type { Workshop } from '../handler.ts'
import { liveExchanges } from './queues.ts'
import { missing } from './switch-exchanges.ts'
import type { Binding } from '../../core/topology.ts'

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
  // it must survive a restart of the broker
  await broker.declareExchange({
    name: keptExchange,
    type: 'fanout',
    durable: true,
    autoDelete: false,
    internal: false,
    arguments: {},
  })
  await broker.bind(wanted.map(keeping))
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
