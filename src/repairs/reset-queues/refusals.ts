import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../../core/error.ts'
import { counted, listed } from '../../core/format.ts'
import type { Risk } from '../../core/plan.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import type { BrokerConnection, BrokerConsumer, BrokerPolicy, BrokerSource } from '../../core/sources.ts'
import { rabbitmqctl } from '../../domain/evidence.ts'
import { policyAgainst } from '../../domain/queues/broker-queues.ts'
import { tolerant } from '../../domain/wanted.ts'
import { exchangeArguments, ownConnectionName, queueArguments, shownBytes } from '../../knowledge/broker.ts'

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
      `the broker has an alarm on ${listed(alarmed.map(({ name }) => name))} and accepts no messages, so the ` +
        'repair cannot move messages',
      ['testops-admin doctor -d {deployment} --only broker/alarms'],
    )
  }
  const policy = policyAgainst(holding, policies, broker)
  if (policy) throw policy
  const left = new Set(there.map(({ name }) => name))
  const counts = await broker.counts(holding.filter((name) => left.has(name)))
  const full = [...counts].find(([, it]) => it !== null && it.ready > 0)
  if (full) {
    throw new AdminError('REFUSED', `temporary queue ${full[0]} still contains messages from an earlier repair`, [
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
    `the broker does not show the exact value of ${listed(all)} (text that is not UTF-8, or a number above ` +
      '2^53), so the repair cannot redeclare the queue or exchange unchanged',
    ['rabbitmqctl list_queues name arguments   # on the broker', 'change this argument where the service declares it'],
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
    `--queue leaves out ${listed(leftOut)}. With ${setting}=true, the service would declare ` +
      `${leftOut.length === 1 ? 'this queue' : 'these queues'} as durable, and the broker would refuse this`,
    ['testops-admin reset-queues -d {deployment}   # without --queue, this covers all queues of the service'],
  )
}

/** how long the broker's lists lag at most (FIELD-NOTES.md 3) */
const lagMs = 7000
const pollMs = 500

/**
 * Other clients in the service's vhost, which may publish to its queues during the repair; null: there are none. Throws
 * REFUSED if one reads from these queues.
 */
export async function foreignClients(
  broker: BrokerSource,
  user: string,
  queues: readonly string[],
): Promise<Risk | null> {
  const risk = (message: string, proof: readonly Suggestion[]): Risk => ({ name: 'foreign-clients', message, proof })
  const lists = [
    rabbitmqctl(broker, 'list_consumers'),
    rabbitmqctl(broker, 'list_connections name user client_properties'),
  ]
  const consumers = (await listedConsumers(broker, queues)).filter(
    (it) => it.vhost === broker.vhost && it.user !== user,
  )
  refuseReaders(
    consumers.filter(({ queue }) => queues.includes(queue)),
    lists,
  )
  try {
    // any client may use the name of this program's connection
    const isOurs = (it: BrokerConnection): boolean => it.clientName === ownConnectionName && it.user === broker.user
    const connections = (await broker.connections()).filter((it) => it.user !== '' && it.user !== user && !isOurs(it))
    const others = new Map([
      ...consumers.map((it) => [it.connection, it.user] as const),
      ...connections.map((it) => [it.clientName ?? it.name, it.user] as const),
    ])
    if (others.size === 0) return null
    const who = listed([...others].map(([name, its]) => `${name} as ${its}`))
    return risk(
      `vhost ${broker.vhost} has ${counted(others.size, 'other client')} (${who}). If other clients publish ` +
        'while the repair redeclares the queues, their messages are lost',
      lists,
    )
  } catch (error) {
    if (!(error instanceof AdminError) || (error.code !== 'FORBIDDEN' && error.code !== 'UNAVAILABLE')) throw error
    return risk(
      `cannot tell whether other clients publish in vhost ${broker.vhost}: ${error.message}. If other clients ` +
        'publish while the repair redeclares the queues, their messages are lost',
      [...error.suggestions, ...lists],
    )
  }
}

/**
 * Throws REFUSED if another client reads from a queue: its messages cannot be moved or deleted safely, so this is no
 * risk to accept.
 */
function refuseReaders(readers: readonly BrokerConsumer[], lists: readonly Suggestion[]): void {
  if (readers.length === 0) return
  const queues = [...new Set(readers.map(({ queue }) => queue))]
  const who = listed([...new Set(readers.map((it) => `${it.connection} as ${it.user}`))])
  throw new AdminError(
    'REFUSED',
    `other clients read from ${counted(queues.length, 'queue')} (${listed(queues)}): ${who}`,
    [...lists, 'stop the other clients'],
  )
}

/**
 * The broker's consumers. Its list lags by a few seconds, but its counts do not: asks again while fewer are listed than
 * counted.
 */
async function listedConsumers(broker: BrokerSource, queues: readonly string[]): Promise<readonly BrokerConsumer[]> {
  const end = performance.now() + lagMs
  for (;;) {
    const [known, counts] = await Promise.all([broker.consumers(), broker.counts(queues)])
    const read = [...counts.values()].reduce((sum, it) => sum + (it?.consumers ?? 0), 0)
    // one that has only just come is listed without its user at first
    const isWhole = known.filter(({ queue }) => counts.has(queue)).length >= read && known.every((it) => it.user !== '')
    if (isWhole || performance.now() > end) return known
    await sleep(pollMs)
  }
}
