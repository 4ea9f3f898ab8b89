import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { faultOfOptions, savedPlan } from '../../../src/cli/repair/saved-plan.ts'
import { isObject } from '../../../src/core/shape.ts'
import { faultOfPlan } from '../../../src/core/run-record.ts'
import type { Plan } from '../../../src/core/plan.ts'
import { makePlan } from '../../../src/engine/plan.ts'
import { hashOf } from '../../../src/engine/carry-out.ts'
import { planText } from '../../../src/output/plan.ts'
import { plainScreen } from '../../../src/output/paint.ts'
import { repairs } from '../../../src/repairs/index.ts'
import { openFakes } from '../../fakes/index.ts'
import { shown, shownAsJson } from '../reader.ts'
import type { Reader } from '../reader.ts'
import { plans } from './records.ts'

const deployment = {
  name: 'prod',
  platform: 'host',
  vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
  timeZone: 'UTC',
} as const

/** A plan that --dry-run --json saved, as `apply` reads it, shows it and makes it anew. */
export const plan: Reader = {
  name: 'plan',
  syntax: 'json',
  seeds: plans.map((it) =>
    JSON.stringify({ schemaVersion: 1, run: null, hash: hashOf(it), plan: it, applied: [], verification: {} }),
  ),
  async open(folder) {
    const file = join(folder, 'plan.json')
    const open = openFakes()
    return {
      async read(input) {
        await writeFile(file, signed(input))
        const read = await savedPlan(file, undefined)
        shown(planText(read, plainScreen))
        const made = await makePlan(repairs[read.repair], open, deployment, read.options)
        shown(planText(made, plainScreen))
        shownAsJson(made)
      },
    }
  },
}

/** Whoever changes a plan can change its hash with it, too. */
function signed(input: Buffer): Buffer | string {
  try {
    const document: unknown = JSON.parse(input.toString('utf8'))
    if (!isObject(document) || faultOfPlan(document['plan']) !== null) return input
    const { repair, options } = document['plan'] as Plan
    if (faultOfOptions(repair, options) !== null) return input
    return JSON.stringify({ ...document, hash: hashOf(document['plan'] as Plan) })
  } catch {
    return input
  }
}
