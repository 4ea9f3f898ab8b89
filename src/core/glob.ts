/** One sign of a pattern of names: any number of characters, or a test for one character. */
export type GlobSign = '*' | ((character: string) => boolean)

/**
 * Returns true if the whole name fits the pattern. Only the last `*` ever takes more, so that a name costs at most its
 * length times the pattern's. A regular expression of many `*` would take that to the power of their number.
 */
export function fitsGlob(signs: readonly GlobSign[], name: string): boolean {
  const characters = [...name]
  let sign = 0
  let at = 0
  let star: { sign: number; at: number } | null = null
  while (at < characters.length) {
    const next = signs[sign]
    if (next === '*') {
      star = { sign, at }
      sign += 1
    } else if (next?.(characters[at]!)) {
      sign += 1
      at += 1
    } else if (star) {
      star.at += 1
      at = star.at
      sign = star.sign + 1
    } else return false
  }
  return signs.slice(sign).every((it) => it === '*')
}

/** Returns the signs of a pattern in which only `*` and `?` are wildcards. */
export function plainGlob(pattern: string): GlobSign[] {
  return [...pattern].map((sign) =>
    sign === '*' ? '*' : sign === '?' ? () => true : (character) => character === sign,
  )
}
