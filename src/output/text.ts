import { harmless, withoutBuildCommands, harmlessJson, jsonWithoutBuildCommands } from '../core/harmless.ts'

/**
 * Returns text from outside (names of queues, log lines, messages of servers) for one line of an output: harmless to a
 * terminal and to a build server.
 */
export function printable(text: string): string {
  return withoutBuildCommands(harmless(text))
}

/** Returns the columns that a text takes. Combining marks take none, East Asian wide characters and emoji two. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of text) {
    if (/\p{Mark}/u.test(character)) continue
    width += isWide(character.codePointAt(0) ?? 0) ? 2 : 1
  }
  return width
}

function isWide(code: number): boolean {
  return (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0x1f300 && code <= 0x1faff)
  )
}

/** Fills a text with blanks up to a width. Makes foreign text harmless, as all layout functions here do. */
export function pad(text: string, width: number): string {
  const shown = harmless(text)
  return shown + ' '.repeat(Math.max(0, width - widthOf(shown)))
}

/** Cuts a text that is too wide, and shows that it was cut. */
export function clip(foreign: string, width: number): string {
  const text = harmless(foreign)
  if (widthOf(text) <= width) return text
  let kept = ''
  let taken = 0
  for (const character of text) {
    taken += widthOf(character)
    if (taken > width - 1) break
    kept += character
  }
  return `${kept.trimEnd()}…`
}

const anyMoment = /\b(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,9})?)(?:Z| UTC)\b( \()?/g
const ownMoment = /\b(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)Z\b( \()?/g

/**
 * Writes the time of this machine's clock after each time in UTC: `2026-11-21 02:12:44Z (05:12:44+03)`, with its date
 * if that is another; what stands there in brackets follows it. Where clocks show UTC, the text stays as it is.
 */
export function withTimesHere(text: string): string {
  return withZoneHere(text, anyMoment)
}

/** Does the same for times as this program writes them, and leaves what a line quotes of another program as it is. */
export function withOwnTimesHere(text: string): string {
  return withZoneHere(text, ownMoment)
}

function withZoneHere(text: string, moments: RegExp): string {
  return text.replace(moments, (shown: string, utc: string, note: string | undefined) => {
    const at = new Date(`${utc.replace(' ', 'T')}Z`)
    const minutes = -at.getTimezoneOffset()
    if (Number.isNaN(minutes) || minutes === 0) return shown
    const here = new Date(at.getTime() + minutes * 60_000).toISOString()
    const two = (count: number): string => String(count).padStart(2, '0')
    const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
    const offset = `${minutes < 0 ? '-' : '+'}${two(hours)}${rest === 0 ? '' : `:${two(rest)}`}`
    const day = here.slice(0, 10)
    const told = `${utc.startsWith(day) ? '' : `${day} `}${here.slice(11, 19)}${offset}`
    return note === undefined ? `${shown} (${told})` : `${shown}${told}, `
  })
}

/**
 * Breaks a text at blanks into lines of at most `width` columns, with each time in this machine's zone beside UTC. A
 * word that is wider stays whole on a line of its own, so that an address or a command can still be copied.
 */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  let taken = 0
  for (const word of withTimesHere(harmless(text)).split(/ +/)) {
    const more = widthOf(word)
    if (line && taken + 1 + more > width) {
      lines.push(line)
      line = word
      taken = more
    } else {
      taken += line ? 1 + more : more
      line = line ? `${line} ${word}` : word
    }
  }
  lines.push(line)
  return lines
}

/** Columns beside `first` below which a text stands under it instead */
const leastWidth = 20
const narrowMargin = 4

/**
 * Wraps a text. Its first line begins with `first`, the others with as many blanks; on a narrow screen it stands below
 * `first`.
 */
export function hang(first: string, text: string, columns: number): string[] {
  const width = widthOf(first)
  // a word that fits the screen is not broken at its edge just to keep the margin
  const below = (line: string, margin: number): string =>
    ' '.repeat(Math.max(0, Math.min(margin, columns - widthOf(line)))) + line
  if (columns - width < leastWidth) {
    const head = first.trimEnd() === '' ? [] : [first.trimEnd()]
    const margin = (head.length === 0 ? 0 : first.search(/\S/)) + narrowMargin
    return [...head, ...wrap(text, columns - margin).map((line) => below(line, margin))]
  }
  return wrap(text, columns - width).map((line, index) => (index === 0 ? first + line : below(line, width)))
}

/** Returns a number with its noun: `1 problem`, `2 problems`. */
export function countOf(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`
}

/**
 * Yields one JSON document in pieces, so that a large one is never one text. It is as `JSON.stringify(value, null, 2)`
 * writes it, except for what `harmlessJson` escapes. Each value deeper than `depth` lists and objects is one piece.
 * `value` must be plain data. A build server finds no command in it.
 */
export function* jsonPieces(value: unknown, depth: number, indent = ''): Generator<string> {
  if (depth === 0 || typeof value !== 'object' || value === null) {
    yield jsonWithoutBuildCommands(harmlessJson(JSON.stringify(value, null, 2))).replaceAll('\n', `\n${indent}`)
    return
  }
  const isList = Array.isArray(value)
  const [open, close] = isList ? '[]' : '{}'
  const inner = `${indent}  `
  let before = `${open}\n`
  for (const [key, item] of Object.entries(value as Record<string, unknown>)) {
    if (item === undefined) continue
    yield `${before}${inner}${isList ? '' : `${jsonWithoutBuildCommands(harmlessJson(JSON.stringify(key)))}: `}`
    yield* jsonPieces(item, depth - 1, inner)
    before = ',\n'
  }
  yield before === ',\n' ? `\n${indent}${close}` : `${open}${close}`
}
