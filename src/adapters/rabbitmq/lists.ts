import type { BrokerSource } from '../../core/sources.ts'

/** The lists that the broker does not show over AMQP. */
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

/** True for the nameless exchange and `amq.*`: they belong to the broker, and nobody can declare them. */
export function isPredeclared(exchange: string): boolean {
  return exchange === '' || exchange.startsWith('amq.')
}

/**
 * Returns the state of a deprecated feature, listed since 3.13 (FIELD-NOTES.md 3). 4.0 leaves the state out, so that
 * only the phase shows the default.
 */
export function deprecatedState(state: unknown, phase: unknown): 'permitted' | 'denied' | 'unknown' {
  if (state === 'permitted' || state === 'denied') return state
  return phase === 'removed' || phase === 'disconnected' ? 'denied' : 'unknown'
}
