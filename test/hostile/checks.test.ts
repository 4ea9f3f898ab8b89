import { expect, test } from 'vitest'
import { checks } from '../../src/checks/index.ts'
import { jsonText } from '../../src/cli/write.ts'
import type { CheckReport } from '../../src/core/check.ts'
import { doctorChanges, doctorShort, doctorTable } from '../../src/output/doctor/table.ts'
import { judged } from '../checks/table.ts'
import type { Case } from '../checks/table.ts'
import { tables } from '../checks/tables.ts'
import { openFakes } from '../fakes/index.ts'
import { reportOf } from '../output/reports.ts'
import { assertHarmless, assertHarmlessJson, poisoned } from './poison.ts'
import type { Poisoning } from './poison.ts'
import { isCampaign } from '../support/campaign.ts'

/** so many texts of a situation are poisoned one by one, spread over all of them; and then all at once */
const mostSingly = isCampaign ? 12 : 5

/**
 * The report of that situation with poison in what its parts say; null: the poisoned value is one that no adapter can
 * give.
 */
async function report(check: (typeof checks)[number], one: Case, poisoning: Poisoning): Promise<CheckReport | null> {
  const open = openFakes(one.sources)
  const names = Object.keys(open) as (keyof typeof open)[]
  const sources = Object.fromEntries(
    await Promise.all(
      names.map(
        async (name) => [name, poisoned(await open[name]().catch((error: unknown) => error), poisoning)] as const,
      ),
    ),
  )
  const deployment = one.deployment ?? {}
  try {
    return await judged(check, { sources: sources, deployment })
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return null
    throw error
  }
}

test('every check has its situations here', () => {
  expect(tables.map(({ check }) => check.id)).toEqual(checks.map(({ id }) => id))
})

test.each(tables)(
  '$check.id: nothing that a part says steers what is printed',
  async ({ check, cases }) => {
    let [told, impossible, grown] = [0, 0, 0]
    for (const one of cases) {
      const count: Poisoning = { which: -1, met: 0 }
      const healthy = JSON.stringify(await report(check, one, count))
      const step = Math.max(1, Math.floor(count.met / mostSingly))
      const singly = Array.from({ length: Math.ceil(count.met / step) }, (_, index) => index * step)
      for (const [index, which] of [...singly, 'all' as const].entries()) {
        const turn = which === 'all' ? which : index
        const made = await report(check, one, { which, met: 0 })
        if (made === null) {
          impossible += 1
          continue
        }
        told += 1
        if (JSON.stringify(made) !== healthy) grown += 1
        const whole = reportOf([made])
        const what = `${check.id}: ${one.situation}, text ${which}`
        for (const verbose of [false, true])
          assertHarmless(what, turn, (screen) => doctorTable(whole, { screen, exitCode: 1, verbose }))
        assertHarmless(what, turn, (screen) => doctorShort(whole, screen))
        assertHarmless(what, turn, (screen) => doctorChanges(whole, null, screen))
        assertHarmlessJson(what, jsonText(whole), whole)
      }
    }
    expect(told).toBeGreaterThan(impossible * 3)
    // some of it comes into what is said
    expect(grown).toBeGreaterThan(0)
  },
  120_000,
)
