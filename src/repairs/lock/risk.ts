import type { LockHolding } from '../../domain/lock/holder.ts'
import { stepsByHand } from '../../domain/lock/steps.ts'
import type { Deployment } from '../../core/deployment.ts'
import type { Risk } from '../../core/plan.ts'
import type { ChangelogLockRow, DatabaseIdentity, DatabaseSource } from '../../core/sources.ts'

/** Where a lock is held: deployment, database and database user. */
export interface HeldAt {
  deployment: Deployment
  database: Pick<DatabaseSource, 'target'>
  identity: Pick<DatabaseIdentity, 'user'>
}

/** Returns why a lock is not simply released, and what would prove that it may be; null if its holder is dead. */
export function riskOf(
  holding: LockHolding,
  { lockedBy }: ChangelogLockRow,
  { deployment, database: { target }, identity: { user } }: HeldAt,
): Risk | null {
  switch (holding.holder) {
    case 'dead':
      return null
    case 'live':
      return {
        name: 'live-holder',
        message: `the holder is alive: ${holding.who}. Without its lock, a second migration can start beside it, and together they can break the database`,
        proof: [
          'Wait until the holder has ended. This shows whether it has:',
          'testops-admin doctor -d {deployment} --only database/changelog-lock',
        ],
      }
    case 'unproven':
      return {
        name: 'unproven-holder',
        message: `cannot tell whether the holder is alive: ${holding.why.join('; ')}`,
        proof: stepsByHand(holding.lacks, {
          deployment,
          target,
          user,
          lockedBy,
        }).flatMap(({ text, command }) => [text, command]),
      }
  }
}
