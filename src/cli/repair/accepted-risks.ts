import { AdminError } from '../../core/error.ts'
import { nearestNames } from '../../core/nearest.ts'
import { risksOf, runRisks } from '../../core/plan.ts'
import type { Plan } from '../../core/plan.ts'
import { typed } from '../../core/typed.ts'
import { command, nested } from '../../core/shell-command.ts'

/** Throws USAGE if no repair knows an accepted risk. A risk that this plan lacks is fine: a runbook may name it. */
export function refuseUnknownRisks(accepted: readonly string[]): void {
  const known = [...new Set([...Object.values(risksOf).flat(), ...runRisks])].sort()
  const unknown = accepted.find((name) => !known.includes(name))
  if (unknown === undefined) return
  const nearest = nearestNames(unknown, known)
  throw new AdminError(
    'USAGE',
    `unknown risk \`${unknown}\`; the known risks are ${known.join(', ')}`,
    nearest.map((name) => command`--accept-risk ${name}`),
  )
}

/** Throws REFUSED if the plan names a risk that was not accepted. */
export function refuseRisks(
  { risks }: Pick<Plan, 'risks'>,
  accepted: readonly string[],
  words: readonly string[],
): void {
  const open = risks.filter(({ name }) => !accepted.includes(name))
  if (open.length === 0) return
  const again = typed(['testops-admin', ...words, ...open.flatMap(({ name }) => ['--accept-risk', name])])
  throw new AdminError('REFUSED', open.map(({ message }) => message).join('; '), [
    ...open.flatMap(({ proof }) => proof),
    command`${nested(again)}   # only when you are sure`,
  ])
}
