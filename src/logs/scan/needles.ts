/** A literal that is in each match of a pattern. */
export interface Needle {
  text: string
  ignoreCase: boolean
  /** True if the pattern matches wherever the literal is */
  isWhole: boolean
}

/**
 * Returns literals, at least one of which is in every match: the longest of each alternative. Throws an error if an
 * alternative has none of 4 characters.
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

/** Returns the parts between the bars that are in no group and no class. */
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

/** Returns the stretches of an alternative that are in each of its matches as they are. */
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
