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
 * Others than the service in its vhost, who may publish to its queues meanwhile; null: there are none. Throws REFUSED
 * where one reads from them.
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
    // anybody may call himself as this program does
    const isOurs = (it: BrokerConnection): boolean => it.clientName === ownConnectionName && it.user === broker.user
    const connections = (await broker.connections()).filter((it) => it.user !== '' && it.user !== user && !isOurs(it))
    const others = new Map([
      ...consumers.map((it) => [it.connection, it.user] as const),
      ...connections.map((it) => [it.clientName ?? it.name, it.user] as const),
    ])
    if (others.size === 0) return null
    const who = listed([...others].map(([name, its]) => `${name} as ${its}`))
    return risk(
      `${counted(others.size, 'other client')} in vhost ${broker.vhost} (${who}): what they publish to the service's queues while those are declared anew is lost`,
      lists,
    )
  } catch (error) {
    if (!(error instanceof AdminError) || (error.code !== 'FORBIDDEN' && error.code !== 'UNAVAILABLE')) throw error
    return risk(
      `whether other clients publish in vhost ${broker.vhost} is not shown: ${error.message}. What they publish to the service's queues while those are declared anew is lost`,
      [...error.suggestions, ...lists],
    )
  }
}

/** Nobody can accept that: what somebody else reads cannot be moved, nor deleted, under his hands. Throws REFUSED. */
function refuseReaders(readers: readonly BrokerConsumer[], lists: readonly Suggestion[]): void {
  if (readers.length === 0) return
  const queues = [...new Set(readers.map(({ queue }) => queue))]
  const who = listed([...new Set(readers.map((it) => `${it.connection} as ${it.user}`))])
  throw new AdminError(
    'REFUSED',
    `${counted(queues.length, 'queue')} (${listed(queues)}) ${queues.length === 1 ? 'is' : 'are'} read from by others than the service: ${who}`,
    [...lists, 'stop what that is'],
  )
}

/**
 * A list lags by some seconds, where a count does not: as long as more read from the queues than are listed, it is
 * asked again.
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
