import type { Stored } from './resources.ts'

/** Whether labels fit a selector: `a=b`, `a!=b`, `a`, `!a`, `a in (b,c)`, `a notin (b,c)`, joined by commas. */
export function matchesLabels({ metadata }: Stored, selector: string | null): boolean {
  const labels = metadata.labels ?? {}
  const terms = selector === null ? [] : (selector.match(/[^,(]+(?:\([^)]*\))?/g) ?? [])
  return terms.every((term) => {
    const [, key = '', not, values = ''] = /^\s*([^\s!=]+)\s+(not)?in\s+\(([^)]*)\)\s*$/.exec(term) ?? []
    if (key !== '') return values.split(',').some((it) => it.trim() === labels[key]) !== (not === 'not')
    const [, name = '', operator, value = ''] = /^\s*([^!=\s]+)\s*(!=|==?)\s*(.*?)\s*$/.exec(term) ?? []
    if (name !== '') return (labels[name] === value) !== (operator === '!=')
    const bare = term.trim()
    return bare.startsWith('!') ? !(bare.slice(1) in labels) : bare in labels
  })
}

/** Whether fields fit a selector such as `metadata.name=testops,status.phase!=Running`. */
export function matchesFields(object: Stored, selector: string | null): boolean {
  return (selector ?? '')
    .split(',')
    .filter((term) => term !== '')
    .every((term) => {
      const [, path = '', operator, value = ''] = /^([^!=]+)(!=|==?)(.*)$/.exec(term) ?? []
      const found = path
        .split('.')
        .reduce<unknown>((it, key) => (it as Record<string, unknown> | undefined)?.[key], object)
      return ((typeof found === 'string' ? found : '') === value) !== (operator === '!=')
    })
}
