import { AdminError } from '../../core/error.ts'
import { onDatabase } from '../access/database.ts'
import { importResults, moveTestCase } from '../control.ts'
import type { Fault } from '../fault.ts'

const tests = ['org.example.shop.CartTest.adds', 'org.example.shop.CartTest.removes']
const [projectA, projectB] = [1, 2] as const

export const duplicateMove: Fault = {
  id: 'duplicate-move',
  kind: 'fault',
  title: 'a test case is moved to a project that holds an identical one',
  repair: 'leave the duplicate where it is: testops-admin explain duplicate-move',
  cases: [
    {
      variant: null,
      made: `results imported into project ${projectA} make two test cases; the second is moved to project ${projectB}, the same results are imported again, which makes a third, and the second is moved back: 409`,
      // a refusal that harms nothing: only whoever moved the test case is told
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      needs: { serving: true },
      async apply(lab) {
        const second = (await importResults(lab, projectA, tests))[1]!
        await moveTestCase(lab, second, projectB)
        await importResults(lab, projectA, tests)
        if ((await moveTestCase(lab, second, projectA)) === null)
          throw new AdminError('FAILED', `test case ${second} was to be refused, and has been moved`)
      },
      revert: (lab) => onDatabase(lab, async (sql) => void (await sql('TRUNCATE test_case RESTART IDENTITY'))),
    },
  ],
}
