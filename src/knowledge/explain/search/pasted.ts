/** What an operator typed or pasted, in forms that can be compared. */
export interface Pasted {
  /** Without heads of log lines, colours and odd characters */
  lines: readonly string[]
  /** The same as one line, in lower case */
  flat: string
  /** True if it is a piece of a log */
  isLog: boolean
}

export function pasted(query: string): Pasted {
  const raw = plain(query).split(/\r?\n/)
  const lines = raw.map(withoutHead)
  const isLog = raw.some((line) => [frame, json, counts, ...heads].some((sign) => sign.test(line)))
  return { lines, flat: lines.join(' ').toLowerCase().replace(/\s+/g, ' ').trim(), isLog }
}

/** Joins lines that a terminal has broken, even in the middle of a word. */
export function unbroken({ lines, isLog }: Pasted): Pasted {
  return { lines, flat: lines.join('').toLowerCase().replace(/\s+/g, ' ').trim(), isLog }
}

/** Returns one form for what looks the same: quotes, blanks, dots, ё. Removes what cannot be seen. */
export function plain(text: string): string {
  return text
    .replace(colours, '')
    .normalize('NFKC')
    .replace(unseen, '')
    .replace(doubleQuotes, '"')
    .replace(singleQuotes, "'")
    .replaceAll('ё', 'е')
    .replaceAll('Ё', 'Е')
}

const colours = /\u001b\[[0-9;]{0,20}m/g
// an expression with non-ASCII letters must be made from a text: the bundle is loaded as Latin-1
const doubleQuotes = new RegExp('[“”„«»]', 'g')
const singleQuotes = new RegExp('[‘’‚]', 'g')
const unseen = /[\u0000\u00ad\u200b-\u200f\u2060\ufeff]/g

/** A line of a stack trace that names a method, or leaves some out. */
export const frame = /^\s{0,20}(?:at [\w.$<>/@-]{1,300}\(|\.\.\. \d{1,6} (?:more|common frames))/

/** A record as JSON. */
const json = /^\s{0,9}\{\s?"(?:@timestamp|timestamp|time|ts|level|log)"/

/** A line that counts what was done, and how long it took. */
const counts = /(?:\s\d{1,9}\b[^\d]{1,200}){2}\s\d{1,9} ?m?s\b/

/**
 * Heads of log lines, each before the next: a quotation, what prints several logs, a time, a unit of the journal, a
 * level with process and logger.
 */
const heads = [
  /^(?:> ?){1,9}/,
  /^\[pod\/[^\]]{1,200}\] /i,
  /^[\w.-]{1,100} {1,20}\| /,
  /^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,:+Z-]{0,20}\]?\s{1,10}/i,
  /^[A-Z][a-z]{2} [ \d]?\d \d\d:\d\d:\d\d \S{1,100} [^\s:]{1,100}: /i,
  new RegExp(
    String.raw`^\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\]?\s{1,10}` +
      String.raw`(?:\d{1,10} --- (?:\[[^\]]{0,100}\] ?){0,3}[\w.$/[\]-]{1,200} {0,60}: |(?:\[[^\]]{0,100}\] ?){1,3})?`,
    'i',
  ),
]

function withoutHead(line: string): string {
  // a journal puts its own time before that of the program
  return [...heads, ...heads].reduce((rest, head) => rest.replace(head, ''), line.replace(/[ \t]+/g, ' '))
}
