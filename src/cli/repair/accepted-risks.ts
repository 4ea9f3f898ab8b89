import { AdminError } from '../../core/error.ts'
import { nearestNames } from '../../core/nearest.ts'
import { risksOf } from '../../core/plan.ts'
import type { Plan } from '../../core/plan.ts'
import { typed } from '../../core/typed.ts'

/** Throws USAGE where a risk is accepted that no repair knows. One that this plan lacks is fine: a runbook may name it. */
export function refuseUnknownRisks(accepted: readonly string[]): void {
  const known = [...new Set(Object.values(risksOf).flat())].sort()
  const unknown = accepted.find((name) => !known.includes(name))
  if (unknown === undefined) return
  const nearest = nearestNames(unknown, known)
  throw new AdminError(
    'USAGE',
    `there is no risk \`${unknown}\`; those that can be accepted are ${known.join(', ')}`,
    nearest.map((name) => `--accept-risk ${name}`),
  )
}

/** Throws REFUSED where the plan names a risk that was not accepted. */
export function refuseRisks({ risks }: Plan, accepted: readonly string[], words: readonly string[]): void {
  const open = risks.filter(({ name }) => !accepted.includes(name))
  if (open.length === 0) return
  const command = typed(['testops-admin', ...words, ...open.flatMap(({ name }) => ['--accept-risk', name])])
  throw new AdminError('REFUSED', open.map(({ message }) => message).join('; '), [
    ...open.flatMap(({ proof }) => proof),
    `${command}   # only when you are sure`,
  ])
}
