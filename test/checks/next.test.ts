import { describe, expect, it } from 'vitest'
import { judged } from './table.ts'
import { tables } from './tables.ts'

/** Words for which an operator would have to know a value; a variable that the command itself asks for is none. */
const placeholder = /\b(?:FILE|NAME|SECONDS|RELEASE|CHART|VALUES|PID|RUN|URL|DIRECTORY)\b|…|\$\w+/
/** They tell more, and change nothing: whoever follows them comes back to the same place. */
const leadsNowhere =
  /^testops-admin (?:explain|scan-logs|history)\b|^testops-admin doctor\b(?!.* --wait\b|.* --timeout\b)/

const problems = tables.flatMap(({ check, cases }) =>
  cases
    .filter(({ status }) => status === 'problem')
    .map((one) => ({ name: `${check.id}: ${one.situation}`, check, one })),
)

describe('the first command of a repair gets on', () => {
  it.each(problems)('$name', async ({ check, one }) => {
    const { remedy, because } = await judged(check, one)
    if (because !== undefined) return
    const [first = '(none)'] = remedy?.commands ?? []
    const asksFor = [...first.matchAll(/\bread -rs? (\w+)/g)].map(([, variable]) => variable!)
    const typed = first
      .replace(/ {3}# .*/, '')
      .replaceAll(new RegExp(`\\$(?:${['-', ...asksFor].join('|')})\\b|\\bread -rs? \\w+`, 'g'), '')
    expect(first).toMatch(/^(?:testops-admin|sudo|[a-z][\w-]*|\$\{EDITOR:-vi\}) ?/)
    expect(first).not.toMatch(leadsNowhere)
    expect(typed).not.toMatch(placeholder)
  })
})
