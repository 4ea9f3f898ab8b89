import { exactlyListed } from '../../domain/queues/exact-bindings.ts'
import { bindingsNoted } from '../../core/queue-notes.ts'
import type { Entry } from '../../core/queue-notes.ts'
import type { Binding } from '../../core/topology.ts'
import { backExchangePrefix } from '../../knowledge/broker.ts'
import type { Workshop } from '../handler.ts'
import { bindingKey } from './switch-exchanges.ts'

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
