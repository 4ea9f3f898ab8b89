import { AdminError } from '../../core/error.ts'
import { sentence } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import type { BrokerPolicy, BrokerSource } from '../../core/sources.ts'
import { isLossy, lossyKeys } from '../../knowledge/broker.ts'
import { rabbitmqctl } from '../evidence.ts'
import { listed } from '../../core/format.ts'

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
    `${settingOf(policy)} on the holding queues: messages could be lost`,
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
    sentence`change its pattern so that it does not match ${queue}`,
  ]
}
