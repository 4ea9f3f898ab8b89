import type { BrokerSource } from '../../core/sources.ts'

/** What the broker does not show over AMQP. */
export type BrokerLists = Pick<
  BrokerSource,
  | 'queues'
  | 'exchanges'
  | 'consumers'
  | 'deprecatedFeature'
  | 'nodes'
  | 'bindings'
  | 'policies'
  | 'connections'
  | 'connectionsOf'
  | 'tags'
>

/** The nameless exchange and `amq.*` belong to the broker; nobody can declare them. */
export function isPredeclared(exchange: string): boolean {
  return exchange === '' || exchange.startsWith('amq.')
}

/**
 * FIELD-NOTES.md 3: listed from 3.13 on; the state is missing in 4.0, where the phase alone shows what the default is.
 */
export function deprecatedState(state: unknown, phase: unknown): 'permitted' | 'denied' | 'unknown' {
  if (state === 'permitted' || state === 'denied') return state
  return phase === 'removed' || phase === 'disconnected' ? 'denied' : 'unknown'
}
