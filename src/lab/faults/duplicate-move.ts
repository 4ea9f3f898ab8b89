import { AdminError } from '../../core/error.ts'
import { onDatabase } from '../access/database.ts'
import { importResults, moveTestCase } from '../control.ts'
import type { Fault } from '../fault.ts'

const tests = ['org.example.shop.CartTest.adds', 'org.example.shop.CartTest.removes']
const [projectA, projectB] = [1, 2] as const

export const duplicateMove: Fault = {
  id: 'duplicate-move',
  kind: 'fault',
  title: 'a test case is moved to a project that already has an identical one',
  repair: 'leave the duplicate where it is: testops-admin explain duplicate-move',
  cases: [
    {
      variant: null,
      made: `a test case is moved from project ${projectA} to ${projectB}, the same results are imported again, and the move back fails with 409`,
      // a harmless refusal: only the user who moved the test case sees it
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      needs: { serving: true },
      async apply(lab) {
        const second = (await importResults(lab, projectA, tests))[1]!
        await moveTestCase(lab, second, projectB)
        await importResults(lab, projectA, tests)
        if ((await moveTestCase(lab, second, projectA)) === null)
          throw new AdminError('FAILED', `test case ${second} was moved, but the service should have refused that`)
      },
      revert: (lab) => onDatabase(lab, async (sql) => void (await sql('TRUNCATE test_case RESTART IDENTITY'))),
    },
  ],
}
