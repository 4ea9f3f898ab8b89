import type { VanishingExchange } from '../../core/action.ts'
import { keptExchange } from '../../knowledge/broker.ts'
import type { Workshop } from '../handler.ts'
import { liveExchanges } from './queues.ts'
import { missing } from './switch-exchanges.ts'
import type { Binding } from '../../core/topology.ts'

/** Whether those of them that are there have a binding of ours. */
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
 * Binds them to one of ours, which no queue is bound to: an exchange that vanishes with its last binding stays so. It
 * goes with what else this program made.
 */
export async function keepExchanges(
  exchanges: readonly VanishingExchange[],
  workshop: Pick<Workshop, 'open' | 'control'>,
): Promise<void> {
  const there = await liveExchanges(workshop)
  const wanted = exchanges.filter(({ name }) => there.has(name))
  if (wanted.length === 0) return
  const broker = await workshop.control.broker()
  // a broker that is started again must find it
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

/** By which only a fanout sends anything, and that to no queue. */
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
