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
        message:
          `${counted(group.length, 'result')} share the full name ${name}, but their retry numbers show that they ` +
          `belong to ${collapse.tests} different tests`,
        place: 'fullName',
      }
    if (by === 'passed')
      return {
        message: `${counted(collapse.tests, 'result')} share the full name ${name}. ${saidOfPassed(collapse.tests)}`,
        place: 'fullName',
      }
    const told = listed(
      values.map((value) => quoted(value, 80)),
      3,
    )
    return {
      message:
        `${counted(group.length, 'result')} of different tests share the full name ${name}; their ${words[by]} ` +
        `differ: ${told}`,
      place: 'fullName',
    }
  },
}

function saidOfPassed(count: number): string {
  return count === 2
    ? 'Both passed, and a test is retried only after it failed: they are not retries'
    : 'All passed, and a test is retried only after it failed: they are not retries'
}

const words: Readonly<Record<Difference, string>> = {
  name: 'names',
  testCaseId: 'test case IDs (`testCaseId`)',
  titlePath: 'places (`titlePath`)',
  directory: 'directories',
  package: '`package` labels',
  testClass: '`testClass` labels',
  testMethod: '`testMethod` labels',
  parentSuite: '`parentSuite` labels',
  suite: '`suite` labels',
  subSuite: '`subSuite` labels',
}
