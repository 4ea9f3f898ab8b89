import { own } from '../lookup.ts'

/**
 * A text with its escapes undone. Each of its characters knows its place in the original, and how deep it was escaped.
 */
export interface View {
  readonly text: string
  /** Returns where the character at `at` begins in the original; at the end, the original's length */
  readonly from: (at: number) => number
  /** Returns where the character at `at` ends in the original */
  readonly to: (at: number) => number
  /**
   * For a quotation mark: how often it was escaped, to tell it from those around it; for others: how often it was
   * percent-encoded
   */
  readonly depth: (at: number) => number
}

/** Maximum number of escapes within escapes that are undone */
const mostPasses = 4

/**
 * Undoes backslashes (`\"`, `\n`, `\u0022`, also doubled), percent signs (`%3D`, `%253D`) and HTML entities. The same
 * patterns then find secrets in text that was written as JSON, sent in an address or shown on a page.
 */
export function viewOf(original: string): View {
  let view: View = { text: original, from: (at) => at, to: (at) => at + 1, depth: () => 0 }
  for (let pass = 0; pass < mostPasses; pass++) {
    const next = undone(view)
    if (next === null) break
    view = next
  }
  return view
}

const escapes = new RegExp(
  [
    '\\\\+(?:u(?:([\\da-f]{4})|\\{([\\da-f]{1,6})\\})|x([\\da-f]{2})|(["\'`/nrtbf]))?',
    String.raw`(%(?:25)*[c-f][\da-f](?:%(?:25)*[89ab][\da-f]){1,3}|%(?:25)*[\da-f]{2})`,
    String.raw`&(?:amp;)*(?:(quot|amp|lt|gt|apos|nbsp)|#(\d{1,7})|#x([\da-f]{1,6}));`,
  ].join('|'),
  'gi',
)
const mayHoldEscapes = /[\\%&]/
const letters: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: ' ',
  f: ' ',
  quot: '"',
  amp: '&',
  lt: '<',
  gt: '>',
  apos: "'",
  nbsp: ' ',
}

/** Undoes one level of escapes; null: there is nothing to undo. */
function undone(before: View): View | null {
  const { text } = before
  if (!mayHoldEscapes.test(text)) return null
  const parts: string[] = []
  let length = 0
  let end = 0
  let isOther = false
  // one entry per character of the new text
  const [starts, ends] = [new Uint32Array(text.length + 1), new Uint32Array(text.length + 1)]
  const depths = new Uint8Array(text.length + 1)
  const add = (part: string, start: number, stop: number, depth: number): void => {
    parts.push(part)
    for (let index = 0; index < part.length; index++, length++) {
      starts[length] = before.from(start)
      ends[length] = before.to(stop - 1)
      depths[length] = Math.min(255, depth)
    }
  }
  const addMark = (part: string, start: number, stop: number, depth: number): void =>
    add(part, start, stop, /["'`]/.test(part) ? depth : 0)
  const copy = (to: number): void => {
    if (to > end) parts.push(text.slice(end, to))
    for (; end < to; end++, length++) {
      starts[length] = before.from(end)
      ends[length] = before.to(end)
      depths[length] = before.depth(end)
    }
  }
  for (const match of text.matchAll(escapes)) {
    const [all, unicode, braced, hex, letter, percents, entity, decimal, hexadecimal] = match
    const [start, stop] = [match.index, match.index + all.length]
    copy(start)
    end = stop
    const point = unicode ?? braced ?? hex ?? hexadecimal
    if (percents !== undefined)
      for (const it of decoded(percents)) add(it.text, start + it.start, start + it.end, it.depth)
    else if (point !== undefined) addMark(character(Number.parseInt(point, 16)), start, stop, 1)
    else if (decimal !== undefined) addMark(character(Number(decimal)), start, stop, 1)
    else if (entity !== undefined) addMark(own(letters, entity.toLowerCase()) ?? all, start, stop, 1)
    else if (letter !== undefined)
      addMark(own(letters, letter.toLowerCase()) ?? letter, start, stop, all.length - 1 + before.depth(stop - 1))
    // a run of backslashes leaves one, which no later pass finds changed again
    else add('\\', start, stop, 0)
    isOther ||= all !== '\\'
  }
  if (!isOther) return null
  copy(text.length)
  const whole = parts.join('')
  const last = before.from(text.length)
  return {
    text: whole,
    from: (at) => (at < length ? starts[at]! : last),
    to: (at) => (at < length ? ends[at]! : last),
    depth: (at) => depths[at] ?? 0,
  }
}

/** Returns the character of a code point, never longer than its escape */
function character(code: number): string {
  return code > 0x10ffff ? ' ' : String.fromCodePoint(code)
}

interface Decoded {
  text: string
  start: number
  end: number
  depth: number
}

const percent = /%((?:25)*)([\da-f]{2})/gi

/** Decodes bytes as UTF-8, or as Latin-1 if they are not UTF-8. */
function decoded(percents: string): Decoded[] {
  const bytes = [...percents.matchAll(percent)].map((match) => ({
    byte: Number.parseInt(match[2]!, 16),
    start: match.index,
    end: match.index + match[0].length,
    depth: 1 + match[1]!.length / 2,
  }))
  const all: Decoded[] = []
  for (let at = 0; at < bytes.length; ) {
    const { byte, start, depth } = bytes[at]!
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1
    const group = bytes.slice(at, at + size)
    const isCharacter = size > 1 && group.length === size && group.slice(1).every((it) => it.byte >> 6 === 2)
    const used = isCharacter ? group : group.slice(0, 1)
    const text = isCharacter ? Buffer.from(used.map((it) => it.byte)).toString() : String.fromCharCode(byte)
    all.push({ text, start, end: used.at(-1)!.end, depth })
    at += used.length
  }
  return all
}
