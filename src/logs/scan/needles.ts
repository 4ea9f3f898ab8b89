/** A literal that stands in each match of a pattern. */
export interface Needle {
  text: string
  ignoreCase: boolean
  /** the pattern matches wherever the literal stands */
  isWhole: boolean
}

/**
 * Literals of which every match holds one at least: the longest of each alternative. Throws where one of them has none.
 */
export function needlesOf({ source, ignoreCase }: RegExp): Needle[] {
  const texts = alternatives(source).map((alternative) => {
    const runs = literalRuns(alternative)
    const text = runs.reduce((longest, run) => (run.length > longest.length ? run : longest), '')
    if (text.length < 4) throw new Error(`no match of ${source} can be told by a literal`)
    return { text, ignoreCase, isWhole: runs.length === 1 && text.length === unescaped(alternative).length }
  })
  return texts.filter(({ text }, index) => texts.findIndex((it) => it.text === text) === index)
}

function unescaped(source: string): string {
  return source.replace(/\\(.)/g, '$1')
}

/** What stands between the bars that are in no group and no class. */
function alternatives(source: string): string[] {
  const parts = source.match(/\\.|\[(?:\\.|[^\]\\])*\]?|[^]/g) ?? []
  const result = ['']
  let depth = 0
  for (const part of parts) {
    if (part === '(') depth += 1
    if (part === ')') depth -= 1
    if (part === '|' && depth === 0) result.push('')
    else result[result.length - 1] += part
  }
  return result
}

/** Stretches of an alternative that stand in each of its matches as they are. */
function literalRuns(source: string): string[] {
  const parts = source.match(/\\.|\[(?:\\.|[^\]\\])*\]?|\{[^}]*\}?|[^]/g) ?? []
  const runs = ['']
  let depth = 0
  for (const part of parts) {
    if (part === '(') depth += 1
    if (part === ')') depth -= 1
    const isOptional = part === '*' || part === '?' || part.startsWith('{')
    // what may be missing or repeated ends the run before it
    if (isOptional && depth === 0) runs[runs.length - 1] = runs.at(-1)!.slice(0, -1)
    if (depth > 0 || isOptional || /^(?:[()[.+^$]|\[.*)$/s.test(part)) runs.push('')
    else runs[runs.length - 1] += unescaped(part)
  }
  return runs.filter((run) => run !== '')
}
