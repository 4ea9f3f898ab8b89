import { AdminError } from '../../core/error.ts'
import { sentence } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import type { BrokerPolicy, BrokerSource } from '../../core/sources.ts'
import { isLossy, lossyKeys } from '../../knowledge/broker.ts'
import { rabbitmqctl } from '../evidence.ts'
import { listed } from '../../core/format.ts'

/**
 * Why messages cannot wait in the queues `holding`: the first policy that would make one of them lose some. Null: there
 * is none.
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
    `${settingOf(policy)} on the queues in which messages would wait: some could be lost`,
    howToMend(policy, holding[0]!, broker),
  )
}

/** 'policy short (pattern .*) sets message-ttl' */
export function settingOf({ name, isOperators, pattern, definition }: BrokerPolicy): string {
  const keys = lossyKeys.filter((key) => key in definition)
  return `${isOperators ? 'operator policy' : 'policy'} ${name} (pattern ${pattern}) sets ${listed(keys)}`
}

/** What to type so that the policy does not bear on that queue. */
export function howToMend(
  { isOperators }: BrokerPolicy,
  queue: string,
  broker: Pick<BrokerSource, 'target' | 'vhost'>,
): Suggestion[] {
  return [
    rabbitmqctl(broker, isOperators ? 'list_operator_policies' : 'list_policies'),
    sentence`change its pattern so that it does not match ${queue}`,
  ]
}
