import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { AdminError, messageOf } from '../../core/error.ts'
import type { Plan } from '../../core/plan.ts'
import type { RepairDocument } from '../../core/repair-document.ts'
import { faultOfPlan } from '../../core/run-record.ts'
import { typed } from '../../core/typed.ts'
import { hashOf } from '../../engine/perform.ts'

/** The plan of a document that --dry-run --json printed. Throws USAGE where it is none, REFUSED where it is not as it was printed. */
export async function savedPlan(file: string, deployment: string | undefined): Promise<Plan> {
  const document = parse(await textOf(file), file)
  const { plan, hash } = document
  const fault = document.schemaVersion !== 1 ? 'it has another schemaVersion than 1' : typeof hash !== 'string' ? 'its hash is missing' : faultOfPlan(plan)
  if (fault !== null || plan === undefined) {
    throw new AdminError('USAGE', `${nameOf(file)} holds no plan that this version knows: ${fault}`, how)
  }
  if (hashOf(plan) !== hash) throw new AdminError('REFUSED', `the plan in ${nameOf(file)} has been changed since it was made`, how)
  if (deployment !== undefined && deployment !== plan.deployment) {
    throw new AdminError('USAGE', `the plan in ${nameOf(file)} is for deployment \`${plan.deployment}\`, not for \`${deployment}\``, [
      typed(['testops-admin', 'apply', file, '-d', plan.deployment]),
    ])
  }
  return plan
}

const how = ['testops-admin unlock-changelog --dry-run --json > plan.json   # for instance']

async function textOf(file: string): Promise<string> {
  try {
    return file === '-' ? await text(process.stdin) : await readFile(file, 'utf8')
  } catch (error) {
    throw new AdminError('USAGE', `${nameOf(file)} cannot be read: ${messageOf(error)}`, how, { cause: error })
  }
}

function parse(read: string, file: string): Partial<RepairDocument> {
  try {
    const value = JSON.parse(read) as Partial<RepairDocument> | null
    if (typeof value === 'object' && value !== null) return value
  } catch (error) {
    throw new AdminError('USAGE', `${nameOf(file)} is no JSON document: ${messageOf(error)}`, how, { cause: error })
  }
  throw new AdminError('USAGE', `${nameOf(file)} holds no plan`, how)
}

function nameOf(file: string): string {
  return file === '-' ? 'standard input' : file
}
