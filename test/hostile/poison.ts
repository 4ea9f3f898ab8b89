import { AdminError } from '../../src/core/error.ts'
import { spread } from '../support/campaign.ts'

/** What steers a terminal, hides, turns the direction of writing, or begins a line of its own. */
export const poison =
  '~\u001b[2J\u001b[31m\u001b]8;;https://evil.example\u0007\u009b1A\u0000\u0008\u007f\u0085\r\nFORGED\rFORGED' +
  '\u202e\u2066\u200e\u061c\u200b\u2060\ufeff\u00ad\u2028FORGED\u2029\ud800\u{e0041}\u00a0\u3000' +
  '\u0301\u0301\u0301\u0301\u0301\u0301~'

/** Written anew, not taken from the program: each of these in an output is a fault. */
const harmful = new RegExp(
  String.raw`[\u0000-\u0009\u000b-\u001f\u007f-\u00a0\u00ad\u061c\u1680\u180e` +
    String.raw`\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\ufffb]|` +
    String.raw`\p{Cs}|[\u{e0000}-\u{e007f}]|\u0301{5}`,
  'u',
)
const ownColours = /\u001b\[(?:1|2|22|3[1235]|39)m/g

/**
 * What of a printed text could harm whoever reads it; null: nothing. `colour`: it may hold colours of this program's
 * own.
 */
export function harmIn(text: string, colour = false): string | null {
  const plain = colour ? text.replace(ownColours, '') : text
  const at = plain.search(harmful)
  if (at >= 0) return `${JSON.stringify(plain[at])} in ${JSON.stringify(plain.slice(Math.max(0, at - 60), at + 20))}`
  return /^FORGED/m.test(plain) ? `a forged line in ${JSON.stringify(plain.slice(0, 2000))}` : null
}

/** Which of the texts, in the order in which they are met, are poisoned. */
export interface Poisoning {
  /** one of them; -1: none; 'all' */
  which: number | 'all'
  /** how many were met */
  met: number
}

/** The value with the poison in its texts: of plain data, lists, maps and errors, and of what their methods give. */
export function poisoned<T>(value: T, poisoning: Poisoning): T {
  const text = (it: string): string => {
    const index = poisoning.met++
    return poisoning.which === 'all' || poisoning.which === index ? `${it}${poison}` : it
  }
  const walk = (it: unknown): unknown => {
    if (typeof it === 'string') return text(it)
    if (typeof it === 'function') {
      const method = it as (...given: unknown[]) => unknown
      return (...given: unknown[]) => {
        const taken = given.map((one) =>
          typeof one === 'function'
            ? (...told: unknown[]) => (one as (...told: unknown[]) => unknown)(...told.map(walk))
            : one,
        )
        const result = method(...taken)
        return result instanceof Promise
          ? result.then(walk, (error: unknown) => Promise.reject(walk(error) as Error))
          : walk(result)
      }
    }
    if (Array.isArray(it)) return it.map(walk)
    if (it instanceof AdminError)
      return new AdminError(it.code, text(it.message), it.suggestions.map(text), {
        cause: it.cause,
        obstacle: it.obstacle,
      })
    if (it instanceof Map)
      return new Map([...(it as Map<unknown, unknown>)].map(([key, one]) => [walk(key), walk(one)]))
    if (it instanceof Set) return new Set([...(it as Set<unknown>)].map(walk))
    const isPlain = typeof it === 'object' && it !== null && Object.getPrototypeOf(it) === Object.prototype
    return isPlain ? Object.fromEntries(Object.entries(it).map(([key, one]) => [key, walk(one)])) : it
  }
  return walk(value) as T
}

/** Which screens a printing is looked at on: the wide one and one of the narrow ones by turns, or all. */
export type Turn = number | 'all'

/**
 * Yields the value with the poison in each of its texts, one after the other, then in all. Outside a campaign, only
 * every third text is poisoned alone, from `place` on.
 */
export function* eachPoisoned<T>(value: T, place: number): Generator<{ hostile: T; turn: Turn }> {
  const counted: Poisoning = { which: -1, met: 0 }
  poisoned(value, counted)
  const singly = spread([...Array(counted.met).keys()], 3, place % 3)
  for (const [turn, which] of singly.entries()) yield { hostile: poisoned(value, { which, met: 0 }), turn }
  yield { hostile: poisoned(value, { which: 'all', met: 0 }), turn: 'all' }
}

/** Screens on which no line is broken, and on which many are. */
const screens = [
  { columns: 1_000_000, colour: false },
  { columns: 40, colour: false },
  { columns: 80, colour: true },
] as const

/**
 * Throws if a printing could harm. A forged line is looked for where the program itself breaks none. In a campaign,
 * every printing is looked at on all screens.
 */
export function assertHarmless(what: string, turn: Turn, print: (screen: (typeof screens)[number]) => string): void {
  const [wide, ...narrow] = screens
  for (const screen of [wide, ...(turn === 'all' ? narrow : spread(narrow, narrow.length, turn % narrow.length))]) {
    const text = print(screen)
    const harm = harmIn(screen.columns > 1000 ? text : text.replaceAll('FORGED', 'forged'), screen.colour)
    if (harm !== null) throw new Error(`${what}, ${screen.columns} columns: ${harm}`)
  }
}

/** Throws where a JSON document could harm, or says something else than the value. */
export function assertHarmlessJson(what: string, json: string, value: unknown): void {
  const harm = harmIn(json)
  if (harm !== null) throw new Error(`${what} as JSON: ${harm}`)
  if (JSON.stringify(JSON.parse(json)) !== JSON.stringify(value))
    throw new Error(`${what}: JSON that says something else`)
}
