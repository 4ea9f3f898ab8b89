import type { GroupRule } from '../rule.ts'
import { collapseOf } from './collapse.ts'
import type { Difference } from './collapse.ts'
import { counted, listed, quoted } from './said.ts'

export const nameCollision: GroupRule = {
  id: 'name-collision',
  judge(group) {
    const collapse = collapseOf(group)
    if (collapse?.kind !== 'tests') return null
    const { by, values } = collapse
    const name = quoted(group[0]!.content.fullName!, 120)
    if (by === 'retries')
      return {
        message: `${counted(group.length, 'result')} of ${collapse.tests} different tests have the full name ${name}, judging by the numbers of their retries`,
        place: 'fullName',
      }
    if (by === 'passed')
      return {
        message: `${counted(collapse.tests, 'result')} have the full name ${name}. ${saidOfPassed(collapse.tests)}`,
        place: 'fullName',
      }
    const told = listed(
      values.map((value) => quoted(value, 80)),
      3,
    )
    return {
      message: `${counted(group.length, 'result')} of different tests have the full name ${name}; their ${words[by]} differ: ${told}`,
      place: 'fullName',
    }
  },
}

function saidOfPassed(count: number): string {
  return count === 2 ? 'Both passed, so neither is a retry of the other' : 'Each passed, so none is a retry of another'
}

const words: Readonly<Record<Difference, string>> = {
  name: 'names',
  testCaseId: 'test case ids (`testCaseId`)',
  titlePath: 'places (`titlePath`)',
  directory: 'directories',
  package: 'labels `package`',
  testClass: 'labels `testClass`',
  testMethod: 'labels `testMethod`',
  parentSuite: 'labels `parentSuite`',
  suite: 'labels `suite`',
  subSuite: 'labels `subSuite`',
}
