import type { BrokerEndpoint } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import { ctlLists } from './ctl/index.ts'
import { ctlProgram } from './ctl/program.ts'
import type { CtlCommand } from './ctl/program.ts'
import type { BrokerLists } from './lists.ts'
import { managementLists } from './management-lists.ts'
import { managementApi } from './management.ts'

export interface ListOptions {
  timeoutMs: number
  /** Returns the second way, when it is needed; null if there is none */
  rabbitmqctl?: (() => Promise<CtlCommand | null>) | undefined
}

/**
 * Reads lists from the management API, or from `rabbitmqctl` on the broker's machine if the API is missing or
 * unreachable from here. Throws UNAVAILABLE with both reasons if neither works.
 */
export function brokerLists(
  given: BrokerEndpoint,
  clusterName: string | null,
  { timeoutMs, rabbitmqctl }: ListOptions,
): { lists: BrokerLists; close: () => Promise<void> } {
  const endpoint = { ...given, managementUrl: given.managementUrl?.replace(/(?<!\/)\/+$/, '') ?? null }
  const management = managementApi(endpoint, timeoutMs)
  const first = managementLists(management, endpoint.vhost)
  let second: Promise<BrokerLists | null> | null = null
  let silence: AdminError | null = null
  const secondWay = async (): Promise<BrokerLists | null> => {
    second ??= (async () => {
      const command = await rabbitmqctl?.()
      return command ? ctlLists(ctlProgram(command, endpoint, clusterName, timeoutMs), endpoint) : null
    })()
    return second
  }

  const either = async <T>(ask: (lists: BrokerLists) => Promise<T>): Promise<T> => {
    const answer = silence === null ? await ask(first).then((given) => ({ given }), unreached) : silence
    if ('given' in answer) return answer.given
    const other = await secondWay().catch((why: unknown) => {
      // asked again next time: it may be ready soon
      second = null
      throw neither(answer, why)
    })
    if (other === null) throw answer
    // after one timeout, it is not asked again
    if (answer.code === 'TIMED_OUT') silence = answer
    return ask(other).catch((why: unknown) => {
      throw neither(answer, why)
    })
  }
  return {
    lists: {
      queues: async () => either(async (lists) => lists.queues()),
      exchanges: async () => either(async (lists) => lists.exchanges()),
      consumers: async () => either(async (lists) => lists.consumers()),
      bindings: async () => either(async (lists) => lists.bindings()),
      policies: async () => either(async (lists) => lists.policies()),
      connections: async () => either(async (lists) => lists.connections()),
      connectionsOf: async (user) => either(async (lists) => lists.connectionsOf(user)),
      tags: async () => either(async (lists) => lists.tags()),
      deprecatedFeature: async (name) => either(async (lists) => lists.deprecatedFeature(name)),
      nodes: async () => either(async (lists) => lists.nodes()),
    },
    close: async () => management.close(),
  }
}

/** Returns the error if the API was not reached. Throws any other. */
function unreached(error: unknown): AdminError {
  if (error instanceof AdminError && ['UNAVAILABLE', 'UNREACHABLE', 'TIMED_OUT'].includes(error.code)) return error
  throw error
}

function neither(management: AdminError, why: unknown): AdminError {
  if (!(why instanceof AdminError)) throw why
  return new AdminError(
    'UNAVAILABLE',
    `${management.message}. rabbitmqctl cannot be used instead: ${why.message}`,
    [...management.suggestions, ...why.suggestions],
    { cause: why },
  )
}
