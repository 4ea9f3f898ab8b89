import { rabbitmqctl } from '../../domain/evidence.ts'
import { listed } from '../../core/format.ts'
import { policyAgainst } from '../../domain/queues/lossy-policies.ts'
import { tolerant } from '../../domain/wanted.ts'
import { AdminError } from '../../core/error.ts'
import type { BrokerPolicy, BrokerSource } from '../../core/sources.ts'
import { exchangeArguments, queueArguments, shownBytes } from '../../knowledge/broker.ts'

/**
 * Throws REFUSED if messages could not wait safely in the queues `holding`, or if the broker accepts none. `there`:
 * queues of the vhost.
 */
export async function refuseUnlessHeldSafely(
  broker: BrokerSource,
  holding: readonly string[],
  { policies, there }: { policies: readonly BrokerPolicy[]; there: readonly { name: string }[] },
): Promise<void> {
  // a user who may not see nodes finds out when the broker accepts no messages
  const alarmed = ((await tolerant(broker.nodes())) ?? []).filter(
    ({ memoryAlarm, diskAlarm }) => memoryAlarm || diskAlarm,
  )
  if (alarmed.length > 0) {
    throw new AdminError(
      'REFUSED',
      `the broker has an alarm on ${listed(alarmed.map(({ name }) => name))} and accepts no messages, so none can be moved`,
      ['testops-admin doctor -d {deployment} --only broker/alarms'],
    )
  }
  const policy = policyAgainst(holding, policies, broker)
  if (policy) throw policy
  const left = new Set(there.map(({ name }) => name))
  const counts = await broker.counts(holding.filter((name) => left.has(name)))
  const full = [...counts].find(([, it]) => it !== null && it.ready > 0)
  if (full) {
    throw new AdminError('REFUSED', `queue ${full[0]} still has messages from an earlier repair`, [
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
 * Throws REFUSED if the list does not show an argument that the broker compares: redeclared with another value, the
 * queue would be refused to the service.
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
    `the broker does not show the exact value of ${listed(all)} (text that is not UTF-8, or a number above 2^53), so it could not be redeclared unchanged`,
    ['rabbitmqctl list_queues name arguments   # on the broker', 'have the service declare it with another value'],
  )
}

function isTold(value: unknown): boolean {
  return typeof value === 'number'
    ? Number.isSafeInteger(value)
    : !(typeof value === 'string' && shownBytes(value) !== null)
}

/** Throws REFUSED if the setting would change although some transient queues stay as they are. */
export function refuseToLeave(leftOut: readonly string[], setting: string): void {
  if (leftOut.length === 0) return
  throw new AdminError(
    'REFUSED',
    `--queue leaves out ${listed(leftOut)}. With ${setting}=true, the broker would refuse the service's declaration of ${leftOut.length === 1 ? 'that queue' : 'those queues'}`,
    ['testops-admin reset-queues -d {deployment}   # without --queue: all of them'],
  )
}
