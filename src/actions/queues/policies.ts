import { howToMend, policyAgainst, settingOf } from '../../domain/queues/broker-queues.ts'
import { tolerant } from '../../domain/wanted.ts'
import type { Move } from '../../core/action.ts'
import { AdminError } from '../../core/error.ts'
import type { BrokerPolicy } from '../../core/sources.ts'
import { aheadOf, isDropping } from '../../knowledge/broker.ts'
import type { Workshop } from '../handler.ts'
import { accountsOf } from './account.ts'

/** The vhost's current policies; null: this user may not see them, which the plan names as a risk. */
async function livePolicies({ open }: Pick<Workshop, 'open'>): Promise<readonly BrokerPolicy[] | null> {
  return tolerant((await open.broker()).policies())
}

/**
 * Throws REFUSED if messages could not wait safely in the holding queues of these moves: a policy may have been added
 * since the plan was made.
 */
export async function refuseUnsafeHolding(moves: readonly Move[], workshop: Pick<Workshop, 'open'>): Promise<void> {
  const policies = await livePolicies(workshop)
  const against = policyAgainst(moves.flatMap(placesOf), policies ?? [], await workshop.open.broker())
  if (against) throw against
}

/**
 * Throws REFUSED if a queue would drop returned messages because of a policy that did not apply when they were moved
 * aside: they stay in the holding queue. If the policy applies there too, they are no safer there, so it only reports
 * that.
 */
export async function refuseUnsafeReturn(
  moves: readonly Move[],
  { open, journal, progress, result }: Pick<Workshop, 'open' | 'journal' | 'progress' | 'result'>,
): Promise<void> {
  const policies = (await livePolicies({ open })) ?? []
  const { policiesOf } = accountsOf(journal.ofRun())
  for (const move of moves) {
    const former = policiesOf(move.queue)
    const since =
      former === null ? [] : policies.filter((it) => isDropping(it, move.queue) && !former.includes(markOf(it)))
    const against = since.find((it) => !placesOf(move).some((name) => isDropping(it, name)))
    const said = (policy: BrokerPolicy): string =>
      `${settingOf(policy)}, added or changed after the messages were moved aside`
    if (against) {
      throw new AdminError(
        'REFUSED',
        `the messages stay in queue ${move.holding}, because queue ${move.queue} could drop them: ${said(against)}`,
        howToMend(against, move.queue, await open.broker()),
      )
    }
    for (const text of since.map((policy) => `queue ${move.queue} may drop messages: ${said(policy)}`)) {
      progress(text)
      result(text)
    }
  }
}

/** The policies that make one of these queues drop messages. */
export async function droppingOn(
  names: readonly string[],
  workshop: Pick<Workshop, 'open'>,
): Promise<readonly BrokerPolicy[]> {
  return ((await livePolicies(workshop)) ?? []).filter((it) => names.some((name) => isDropping(it, name)))
}

/** Marks of the policies that make one of these queues drop messages; null: they cannot be seen. */
export async function policiesOn(moves: readonly Move[], workshop: Pick<Workshop, 'open'>): Promise<string[] | null> {
  const policies = await livePolicies(workshop)
  return policies && policies.filter((it) => moves.some(({ queue }) => isDropping(it, queue))).map(markOf)
}

/** A text that changes whenever anything in the policy does. */
function markOf({ name, isOperators, pattern, appliesTo, definition }: BrokerPolicy): string {
  return JSON.stringify({ name, isOperators, pattern, appliesTo, definition })
}

function placesOf({ holding }: Move): string[] {
  return [holding, aheadOf(holding)]
}
