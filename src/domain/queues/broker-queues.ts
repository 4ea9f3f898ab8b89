import type { Wanted } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import { counted, listed } from '../../core/format.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { sentence } from '../../core/shell-command.ts'
import type {
  BrokerExchange,
  BrokerPolicy,
  BrokerQueue,
  BrokerSource,
  LogRecord,
  LogsSource,
  ServiceSource,
} from '../../core/sources.ts'
import {
  alwaysDurable,
  deniesTransientQueues,
  isBuiltIn,
  isLossy,
  lossyKeys,
  transientQueues,
} from '../../knowledge/broker.ts'
import { declaredQueues, durableConflicts, logSignatures } from '../../knowledge/log-signatures.ts'
import { parseBoolean, settingDefaults, springSettings } from '../../knowledge/settings.ts'
import { rabbitmqctl } from '../evidence.ts'
import { readSettings, recentRecords, sinceStart } from '../service.ts'
import { isLogAhead } from '../../core/sources/logs.ts'
import { tolerant } from '../wanted.ts'

/** The service's queues and exchanges in the broker, and how the service wants them. */
export interface QueueSituation {
  version: string
  /** Whether the service's settings ask for durable queues, and how they say so */
  setting: { name: string; durable: boolean; shown: string }
  /** Whether the broker refuses transient queues, and how that is known */
  refusal: { denied: boolean; why: string }
  /** All queues of the vhost except exclusive ones, which vanish with their connection */
  all: readonly BrokerQueue[]
  /** Queues that exist now and are provably the service's own */
  queues: readonly OwnQueue[]
  /** Why no queue could be proven the service's although some differ from what it wants; otherwise null */
  untold: string | null
  /** Existing exchanges of the service that differ from what it wants */
  exchanges: readonly { exchange: BrokerExchange; wanted: boolean; record: LogRecord }[]
  /** Missing queues that the service's log says it declares */
  missing: readonly string[]
  /** Last log record since the service started on a refused declaration; null if none, or the start is unknown */
  refused: { transient: LogRecord | null; conflict: LogRecord | null }
}

interface OwnQueue {
  queue: BrokerQueue
  /** How it is known that the queue is the service's */
  proof: string
  /** True if the service wants it durable */
  wanted: boolean
  /** True if the service's log says that it declares this queue */
  isTold: boolean
  /** True if a connection of the service reads from it now */
  consumed: boolean
}

/**
 * Finds the service's own queues in the vhost: those that its log says it declares, and those that its user reads from.
 * Old log lines prove only a name: everything else is what the broker shows now.
 */
export async function queueSituation(
  broker: BrokerSource,
  service: ServiceSource,
  logs: Wanted<LogsSource>,
  deployment: Deployment,
): Promise<QueueSituation> {
  const [settings, status, records, queues, exchanges, consumers, identity, feature] = await Promise.all([
    readSettings(service, deployment),
    tolerant(service.status()),
    recentRecords(logs),
    broker.queues(),
    broker.exchanges(),
    broker.consumers(),
    broker.identity(),
    broker.deprecatedFeature(transientQueues.feature),
  ])
  const name = settings.names.rabbitDurable
  const written = settings.value(name)
  const durable = (written === null ? null : parseBoolean(written)) ?? settingDefaults.rabbitDurable
  const shown = written === null ? `${name} is not set (default: ${String(durable)})` : `${name}=${written}`

  // a refusal from before its settings changed no longer counts
  const current = isLogAhead(records) ? null : sinceStart(records, status)
  const told = toldIn(records, broker.vhost)
  const toldNow = current === null ? null : toldIn(current, broker.vhost)
  const user = settings.value(springSettings.rabbitUsername) ?? broker.user
  const readers = new Set(
    consumers.filter((it) => it.vhost === broker.vhost && it.user === user).map(({ queue }) => queue),
  )

  const all = queues.filter((it) => it.vhost === broker.vhost && !isBuiltIn(it.name) && !it.exclusive)
  const own = all
    .filter((queue) => told.queues.has(queue.name) || readers.has(queue.name))
    .map((queue) => ({
      queue,
      proof: told.queues.has(queue.name) ? "named in the service's log" : `read by the service's user ${user}`,
      isTold: told.queues.has(queue.name),
      wanted: toldNow?.queues.get(queue.name) ?? durable,
      consumed: readers.has(queue.name),
    }))
  const wrong = [...(toldNow ?? told).exchanges].flatMap(([exchangeName, { wanted, record }]) => {
    const exchange = exchanges.find((it) => it.vhost === broker.vhost && it.name === exchangeName)
    const isCurrent = toldNow !== null || wanted === durable
    return exchange && exchange.durable !== wanted && isCurrent ? [{ exchange, wanted, record }] : []
  })
  const refused = {
    transient: current?.findLast(({ text }) => logSignatures.transientRefused.test(text)) ?? null,
    conflict: current?.findLast(({ text }) => durableConflicts(text).length > 0) ?? null,
  }
  return {
    version: identity.version,
    setting: { name, durable, shown },
    refusal: refusalOf(feature, identity.version, refused.transient !== null),
    all,
    queues: own,
    untold:
      own.length === 0 &&
      told.queues.size === 0 &&
      all.some((queue) => queue.durable !== durable && !alwaysDurable.includes(queue.type))
        ? `cannot tell which of the ${counted(all.length, 'queue')} in vhost ${broker.vhost} are the service's: ` +
          `its log names no queue, and user ${user} reads from no queue. If the service has just started, check ` +
          'again in a few seconds'
        : null,
    exchanges: wrong,
    missing: [...told.queues.keys()].filter((queue) => !all.some((it) => it.name === queue)),
    refused,
  }
}

/** Describes the queues that were checked, for people. */
export function lookedAt({ all, queues }: QueueSituation, vhost: string): string {
  if (all.length === 0) return `vhost ${vhost} has no queues`
  if (queues.length > 0) return `${counted(queues.length, 'queue')} of the service`
  return `${counted(all.length, 'queue')} in vhost ${vhost}`
}

/** Lists transient queues that are not known to be the service's, for people; empty if there are none. */
export function besides({ all, queues }: QueueSituation): string {
  const names = all.filter((it) => !it.durable && !queues.some(({ queue }) => queue === it)).map(({ name }) => name)
  return names.length > 0 ? `; transient queues that may not be the service's: ${listed(names)}` : ''
}

/** Returns the service's queues and exchanges in log records, each with the `durable` that was last asked for. */
function toldIn(
  records: readonly LogRecord[],
  vhost: string,
): {
  queues: Map<string, boolean>
  exchanges: Map<string, { wanted: boolean; record: LogRecord }>
} {
  const queues = new Map<string, boolean>()
  const exchanges = new Map<string, { wanted: boolean; record: LogRecord }>()
  for (const record of records) {
    for (const { name, durable, exclusive } of declaredQueues(record.text))
      if (exclusive !== true) queues.set(name, durable)
    for (const conflict of durableConflicts(record.text)) {
      if (conflict.vhost !== vhost) continue
      if (conflict.kind === 'queue') queues.set(conflict.name, conflict.wanted)
      else exchanges.set(conflict.name, { wanted: conflict.wanted, record })
    }
  }
  return { queues, exchanges }
}

/** Returns whether the broker refuses transient queues now, as far as it says so without being tried. */
export async function refusesTransientQueues(broker: BrokerSource): Promise<QueueSituation['refusal']> {
  const [feature, { version }] = await Promise.all([
    broker.deprecatedFeature(transientQueues.feature),
    broker.identity(),
  ])
  return refusalOf(feature, version, false)
}

function refusalOf(
  feature: Awaited<ReturnType<BrokerSource['deprecatedFeature']>>,
  version: string,
  seen: boolean,
): QueueSituation['refusal'] {
  if (feature?.state === 'denied')
    return { denied: true, why: 'RabbitMQ lists transient queues as a deprecated feature that is not permitted' }
  if (feature?.state === 'permitted')
    return { denied: false, why: 'RabbitMQ lists transient queues as a deprecated feature that is still permitted' }
  if (feature !== null && feature.used === true) return { denied: false, why: 'transient queues exist' }
  if (deniesTransientQueues(version) === true)
    return { denied: true, why: `RabbitMQ refuses transient queues since ${transientQueues.firstDenied}` }
  if (seen) return { denied: true, why: "the service's log shows that the broker refused a transient queue" }
  return { denied: false, why: `RabbitMQ ${version} permits transient queues by default` }
}

/**
 * Returns a refusal that names the first policy by which one of the queues `holding` would lose messages; null if there
 * is no such policy.
 */
export function policyAgainst(
  holding: readonly string[],
  policies: readonly BrokerPolicy[],
  broker: Pick<BrokerSource, 'target' | 'vhost'>,
): AdminError | null {
  const policy = policies.find((it) => holding.some((queue) => isLossy(it, queue)))
  if (!policy) return null
  return new AdminError(
    'REFUSED',
    `${settingOf(policy)} on the temporary queues that hold the messages during the repair, so messages could be lost`,
    howToMend(policy, holding[0]!, broker),
  )
}

/** Describes a policy: 'policy short (pattern .*) sets message-ttl'. */
export function settingOf({ name, isOperators, pattern, definition }: BrokerPolicy): string {
  const keys = lossyKeys.filter((key) => key in definition)
  return `${isOperators ? 'operator policy' : 'policy'} ${name} (pattern ${pattern}) sets ${listed(keys)}`
}

/** Returns commands that keep the policy from applying to that queue. */
export function howToMend(
  { isOperators }: BrokerPolicy,
  queue: string,
  broker: Pick<BrokerSource, 'target' | 'vhost'>,
): Suggestion[] {
  return [
    rabbitmqctl(broker, isOperators ? 'list_operator_policies' : 'list_policies'),
    sentence`change the policy's pattern so that it does not match queue ${queue}`,
  ]
}
