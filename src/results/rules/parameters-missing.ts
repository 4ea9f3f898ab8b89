import type { GroupRule } from '../rule.ts'
import { collapseOf } from './collapse.ts'
import { counted, listed, quoted } from './said.ts'

/** Finds runs of one test that nothing tells apart. Retries until a pass are no such runs (`collapseOf`). */
export const parametersMissing: GroupRule = {
  id: 'parameters-missing',
  judge(group) {
    const collapse = collapseOf(group)
    if (collapse?.kind !== 'runs') return null
    const excluded = group.some(({ content }) => content.parameters?.length)
      ? 'all their parameters are excluded'
      : 'they have no parameters'
    const values = listed(
      collapse.values.map((value) => quoted(value, 80)),
      4,
    )
    const how = {
      name: `Their names show different data: ${values}`,
      status: `Their outcomes differ (${values}), and they do not look like retries of one test`,
      passed: 'All passed, and a test is retried only after it failed: they are not retries',
    }[collapse.by]
    return {
      message:
        `${counted(group.length, 'run')} of the test ${quoted(group[0]!.content.fullName!, 120)} cannot be told ` +
        `apart, because ${excluded}. ${how}`,
      place: 'parameters',
    }
  },
}
