import { setTimeout as sleep } from 'node:timers/promises'
import { counted, listed } from '../../core/format.ts'
import { rabbitmqctl } from '../../domain/evidence.ts'
import { AdminError } from '../../core/error.ts'
import type { Risk } from '../../core/plan.ts'
import type { BrokerConnection, BrokerConsumer, BrokerSource } from '../../core/sources.ts'
import { ownConnectionName } from '../../knowledge/broker.ts'
import type { Suggestion } from '../../core/shell-command.ts'

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
      `${counted(others.size, 'other client')} in vhost ${broker.vhost} (${who}). While the service's queues are redeclared, messages that they publish are lost`,
      lists,
    )
  } catch (error) {
    if (!(error instanceof AdminError) || (error.code !== 'FORBIDDEN' && error.code !== 'UNAVAILABLE')) throw error
    return risk(
      `cannot tell whether other clients publish in vhost ${broker.vhost}: ${error.message}. While the service's queues are redeclared, messages that they publish are lost`,
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
    `clients other than the service read from ${counted(queues.length, 'queue')} (${listed(queues)}): ${who}`,
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
