import { AdminError, messageOf } from '../../core/error.ts'
import type { Plan } from '../../core/plan.ts'
import type { RepairDocument } from '../../core/repair.ts'
import { faultOfOptions } from '../../core/plan-options.ts'
import { faultOfPlan } from '../../core/run-record.ts'
import { onDeployment } from '../../core/typed.ts'
import { hashOf } from '../../engine/carry-out.ts'
import { asPath, command, nested } from '../../core/shell-command.ts'
import { inputName, readInput } from '../../runtime/read-input.ts'
import type { Suggestion } from '../../core/shell-command.ts'

/**
 * Reads the plan of a document that --dry-run --json printed. Throws USAGE if it is none, or one for another
 * deployment, and REFUSED if it has changed since.
 */
export async function savedPlan(file: string, deployment: string | undefined): Promise<Plan> {
  const document = parse(await readInput(file, { mostBytes: 50_000_000, next: how }), file)
  const { plan, hash } = document
  const fault =
    document.schemaVersion !== 1
      ? '`schemaVersion` is not 1'
      : typeof hash !== 'string'
        ? '`hash` is missing'
        : faultOfPlan(plan)
  if (fault !== null || plan === undefined) {
    throw new AdminError(
      'USAGE',
      `${inputName(file)} is not a plan that this version of testops-admin can read: ${String(fault)}`,
      how,
    )
  }
  const unknown = faultOfOptions(plan.repair, plan.options)
  if (unknown !== null)
    throw new AdminError(
      'USAGE',
      `${inputName(file)} is not a plan that this version of testops-admin can read: ${unknown.toString()}`,
      how,
    )
  if (hashOf(plan) !== hash)
    throw new AdminError('REFUSED', `the plan in ${inputName(file)} was edited after it was made`, how)
  if (deployment !== undefined && deployment !== plan.deployment) {
    throw new AdminError(
      'USAGE',
      `the plan in ${inputName(file)} is for deployment \`${plan.deployment}\`, not for \`${deployment}\``,
      [command`testops-admin apply ${asPath(file)} ${nested(onDeployment(plan.deployment))}`],
    )
  }
  return plan
}

const how: readonly Suggestion[] = [
  'testops-admin unlock-changelog --dry-run --json > plan.json   # for example, saves the plan of unlock-changelog',
]

function parse(read: string, file: string): Partial<RepairDocument> {
  try {
    const value = JSON.parse(read) as Partial<RepairDocument> | null
    if (typeof value === 'object' && value !== null) return value
  } catch (error) {
    throw new AdminError('USAGE', `${inputName(file)} is not a JSON document: ${messageOf(error)}`, how, {
      cause: error,
    })
  }
  throw new AdminError('USAGE', `${inputName(file)} is not a plan`, how)
}
