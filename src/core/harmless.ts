/**
 * Characters that foreign text must not bring to an output: controls (C0, DEL, C1), format characters (marks of
 * direction, zero width, tags), lone surrogates, unassigned and private-use characters, line separators, unusual
 * blanks, and characters that show nothing.
 */
const unsafe = new RegExp(
  String.raw`[\p{C}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u034f\u115f\u1160\u17b4\u17b5` +
    String.raw`\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0d\u{e0100}-\u{e01ef}]`,
  'gu',
)
/** Marks that pile up on one letter and leave its line */
const piledMarks = /(\p{M}{4})(\p{M}+)/gu
const plainLine = /^[\x20-\x7e]*$/
const plainLines = /^[\n\x20-\x7e]*$/

/** Maximum length, in characters, of a foreign text that is shown whole */
const mostShown = 20_000

/**
 * Returns foreign text as one line for any output. Shows what could steer a terminal, or hide, as `\x1b` or `\u202e`,
 * and line ends as `⏎`. The one place for it; `src/cli/write.ts` is the last defence behind it.
 */
export function harmless(text: string): string {
  const shown = text.length > mostShown ? `${text.slice(0, mostShown)}…` : text
  if (plainLine.test(shown)) return shown
  return shown
    .replace(/(?<![^\S\r\n])[^\S\r\n]*(?:\r\n|\r|\n)\s*/g, ' ⏎ ')
    .replaceAll('\t', ' ')
    .replace(piledMarks, '$1…')
    .replace(unsafe, escaped)
}

/** Does the same for a text with lines of its own, which it keeps. */
export function harmlessLines(text: string): string {
  if (plainLines.test(text)) return text
  return eachLine(text.replaceAll('\r\n', '\n'), (line) =>
    line.replaceAll('\t', ' ').replace(piledMarks, '$1…').replace(unsafe, escaped),
  )
}

/** Escapes in a JSON document all that `harmless` would not let pass; parsed, the document is equal. */
export function harmlessJson(json: string): string {
  if (plainLines.test(json)) return json
  return eachLine(json, (line) =>
    line.replace(piledMarks, (_, kept: string, piled: string) => kept + inUnits(piled)).replace(unsafe, inUnits),
  )
}

/** Converts only lines that hold more than ASCII: mostly a few of a long text. */
function eachLine(text: string, made: (line: string) => string): string {
  return text
    .split('\n')
    .map((line) => (plainLine.test(line) ? line : made(line)))
    .join('\n')
}

function inUnits(text: string): string {
  return text
    .split('')
    .map((unit) => `\\u${hex(unit.charCodeAt(0), 4)}`)
    .join('')
}

function escaped(character: string): string {
  const code = character.codePointAt(0)!
  if (code <= 0xff) return `\\x${hex(code, 2)}`
  return code <= 0xffff ? `\\u${hex(code, 4)}` : `\\u{${hex(code, 5)}}`
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}

/** Returns the same document with each text made harmless, for one whose texts are one line each. */
export function harmlessIn<T>(document: T): T {
  return made(document) as T
}

function made(value: unknown): unknown {
  if (typeof value === 'string') return harmless(value)
  if (Array.isArray(value)) return value.map(made)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, made(it)]))
}

/**
 * Commands that build servers obey in a program's output. `##vso[…]`, `##[…]` (Azure Pipelines, GitHub Actions) and
 * `##teamcity[…]` count anywhere in a line, in any case. `::error …::` (GitHub Actions) counts after blanks at the
 * start of a line. So do marks of sections (GitLab, Travis CI). The line breaks are not known here, so every word
 * counts as the start of a line.
 */
const inLine = /##(?=\w{0,40}\[)/g
const sections = /(section|travis)_(?=(?:start|end|fold|time):)/gi
const firstWord = /(^|\s)::(?=\p{L})(?!(?:[\da-f]{1,4}:){0,7}[\da-f]{1,4}(?![\w:-]))/giu

/**
 * Returns foreign text in which no build server finds a command: inserts `''`, as in `#''#vso[` or `:'':error`. The
 * insertion is visible, and means nothing in a word quoted for a shell. Leaves IPv6 addresses unchanged.
 */
export function withoutBuildCommands(text: string): string {
  if (!mayHold(text)) return text
  return text.replace(inLine, "#''#").replace(sections, "$1''_").replace(firstWord, "$1:'':")
}

/** Returns the text of a JSON document in which no build server finds a command; it parses to the same value. */
export function jsonWithoutBuildCommands(json: string): string {
  if (!mayHold(json)) return json
  return json.replace(inLine, '#\\u0023').replace(sections, '$1\\u005f')
}

function mayHold(text: string): boolean {
  return text.includes('##') || text.includes('::') || /(?:section|travis)_/i.test(text)
}
