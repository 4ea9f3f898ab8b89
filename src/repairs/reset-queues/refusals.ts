import { rabbitmqctl } from '../../domain/evidence.ts'
import { listed } from '../../core/format.ts'
import { policyAgainst } from '../../domain/queues/lossy-policies.ts'
import { tolerant } from '../../domain/wanted.ts'
import { AdminError } from '../../core/error.ts'
import type { BrokerPolicy, BrokerSource } from '../../core/sources.ts'
import { exchangeArguments, queueArguments, shownBytes } from '../../knowledge/broker.ts'

/**
 * Throws REFUSED where messages could not wait in the queues `holding`, or the broker takes none. `there`: queues of
 * the vhost.
 */
export async function refuseUnlessHeldSafely(
  broker: BrokerSource,
  holding: readonly string[],
  { policies, there }: { policies: readonly BrokerPolicy[]; there: readonly { name: string }[] },
): Promise<void> {
  // who may not see nodes learns of an alarm when the broker takes nothing
  const alarmed = ((await tolerant(broker.nodes())) ?? []).filter(
    ({ memoryAlarm, diskAlarm }) => memoryAlarm || diskAlarm,
  )
  if (alarmed.length > 0) {
    throw new AdminError(
      'REFUSED',
      `an alarm stands on ${listed(alarmed.map(({ name }) => name))}: the broker takes no messages, so none can be moved`,
      ['testops-admin doctor -d {deployment} --only broker/alarms'],
    )
  }
  const policy = policyAgainst(holding, policies, broker)
  if (policy) throw policy
  const left = new Set(there.map(({ name }) => name))
  const counts = await broker.counts(holding.filter((name) => left.has(name)))
  const full = [...counts].find(([, it]) => it !== null && it.ready > 0)
  if (full) {
    throw new AdminError('REFUSED', `queue ${full[0]} holds messages of an earlier repair already`, [
      'testops-admin history -d {deployment}',
      rabbitmqctl(broker, 'list_queues name messages'),
    ])
  }
}

interface Declared {
  name: string
  arguments: Readonly<Record<string, unknown>>
}

/**
 * Throws REFUSED where the list does not tell an argument that the broker compares: declared again otherwise, it would
 * be refused to the service.
 */
export function refuseUntold(queues: readonly Declared[], exchanges: readonly Declared[]): void {
  const untold = (kind: string, all: readonly Declared[], known: ReadonlySet<string>): string[] =>
    all.flatMap(({ name, arguments: values }) =>
      Object.keys(values)
        .filter((key) => known.has(key) && !isTold(values[key]))
        .map((key) => `${key} of ${kind} ${name}`),
    )
  const all = [...untold('queue', queues, queueArguments), ...untold('exchange', exchanges, exchangeArguments)]
  if (all.length === 0) return
  throw new AdminError(
    'REFUSED',
    `the broker's list does not tell ${listed(all)} exactly (a text that is not UTF-8, or a number above 2^53), so it could not be declared again as it is`,
    ['rabbitmqctl list_queues name arguments   # on the broker', 'have the service declare it with another value'],
  )
}

function isTold(value: unknown): boolean {
  return typeof value === 'number'
    ? Number.isSafeInteger(value)
    : !(typeof value === 'string' && shownBytes(value) !== null)
}

/** Throws REFUSED where the setting would change under transient queues that are left as they are. */
export function refuseToLeave(leftOut: readonly string[], setting: string): void {
  if (leftOut.length === 0) return
  throw new AdminError(
    'REFUSED',
    `--queue leaves out ${listed(leftOut)}: once ${setting}=true, the broker refuses the service those`,
    ['testops-admin reset-queues -d {deployment}   # without --queue: all of them'],
  )
}
