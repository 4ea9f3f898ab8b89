import { howToMend, policyAgainst, settingOf } from '../../domain/queues/lossy-policies.ts'
import { tolerant } from '../../domain/wanted.ts'
import type { Move } from '../../core/action.ts'
import { AdminError } from '../../core/error.ts'
import type { BrokerPolicy } from '../../core/sources.ts'
import { isDropping } from '../../knowledge/broker.ts'
import { aheadOf } from '../../knowledge/held-queues.ts'
import type { Workshop } from '../handler.ts'
import { accountsOf } from './account.ts'

/** The policies of the vhost as they are now; null: this user may not see them, which the plan has named as a risk. */
async function livePolicies({ open }: Pick<Workshop, 'open'>): Promise<readonly BrokerPolicy[] | null> {
  return tolerant((await open.broker()).policies())
}

/**
 * Throws REFUSED where messages could not wait safely in the queues of these moves: a policy may have come since the
 * plan was made.
 */
export async function refuseUnsafeHolding(moves: readonly Move[], workshop: Pick<Workshop, 'open'>): Promise<void> {
  const policies = await livePolicies(workshop)
  const against = policyAgainst(moves.flatMap(placesOf), policies ?? [], await workshop.open.broker())
  if (against) throw against
}

/**
 * Throws REFUSED where a queue would drop what comes back to it, by a policy that it was not under when its messages
 * went aside: they wait, where that policy does not bear on them. Where it does, they are no safer there than in their
 * own queue, and it is told.
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
      `${settingOf(policy)} on queue ${move.queue}, and did not when its messages were moved aside`
    if (against) {
      throw new AdminError(
        'REFUSED',
        `${said(against)}: it could drop some, so they stay in ${move.holding}`,
        howToMend(against, move.queue, await open.broker()),
      )
    }
    for (const text of since.map((policy) => `${said(policy)}: it may drop some`)) {
      progress(text)
      result(text)
    }
  }
}

/** The policies by which one of these queues drops messages. */
export async function droppingOn(
  names: readonly string[],
  workshop: Pick<Workshop, 'open'>,
): Promise<readonly BrokerPolicy[]> {
  return ((await livePolicies(workshop)) ?? []).filter((it) => names.some((name) => isDropping(it, name)))
}

/** Marks of the policies by which one of these queues drops messages; null: they cannot be seen. */
export async function policiesOn(moves: readonly Move[], workshop: Pick<Workshop, 'open'>): Promise<string[] | null> {
  const policies = await livePolicies(workshop)
  return policies && policies.filter((it) => moves.some(({ queue }) => isDropping(it, queue))).map(markOf)
}

/** Changes with all that a policy does. */
function markOf({ name, isOperators, pattern, appliesTo, definition }: BrokerPolicy): string {
  return JSON.stringify({ name, isOperators, pattern, appliesTo, definition })
}

function placesOf({ holding }: Move): string[] {
  return [holding, aheadOf(holding)]
}
