import { headReader, jsonHead } from '../records.ts'

/** What is before a line's own text: only the container or program that it is from. */
interface Prefix {
  key: string
  length: number
  /** False if only its look suggests a prefix: it may be part of the text, as in a table */
  isSure: boolean
  /** When a journal received the line */
  noted?: string
}

export interface LineHead {
  /** The container or program; '' if nothing names it */
  key: string
  isKeySure: boolean
  /** True if the line begins a record */
  begins: boolean
  /** True if its date has a known form */
  isDated: boolean
  /** Milliseconds since 1970: its own time, else when it was printed if that is noted beside it; null if unknown */
  at: number | null
  /** True if its look begins a record, for logs without a known date */
  looksFirst: boolean
}

/** Bytes of a line that are read */
export const headLength = 4096

/** The mark that some programs put before UTF-8, as Latin-1 */
const mark = '\xef\xbb\xbf'
const colours = /\x1b\[[0-9;]*[A-Za-z]/g
const date = /^\d{4}-\d/
/** Prefixes of `kubectl logs --prefix`, `docker compose logs`, and journalctl's short form */
const pod = /^\[(pod\/[^\]\s]{1,300})\] /
const composed = /^([\w.-]{1,100}) +\| ?/
const journal = /^[A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} (\S{1,255} [^\s:[\]]{1,100}(?:\[\d{1,10}\])?): /
/** journalctl's short-iso form, which rsyslog writes too */
const isoJournal = new RegExp(
  String.raw`^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})) ` +
    String.raw`(\S{1,255} [^\s:[\]]{1,100}\[\d{1,10}\]): `,
)
/**
 * Time of `kubectl logs --timestamps`: nanoseconds without zeros at the end, while Spring Boot writes three digits.
 * Files on a node add the stream, and whether the line is whole (Kubernetes, "CRI logging format").
 */
const stamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{4,9}(?:Z|[+-]\d{2}:\d{2}) (?:std(?:out|err) [FP] )?/
/** The start of a line in the files of Docker's json-file driver */
const dockerStart = '{"log":"'
const dockerTime = /","stream":"std(?:out|err)".{0,1000}?,"time":"(\d[^"]{1,40})"\}$/
const escapedColours = /\\u001b\[[0-9;]*[A-Za-z]/g
const continued = /^(?:\s|at |Caused by:|Suppressed:|\.\.\. \d+ |[)\]}]|$)/

/** Returns a reader of how a line begins, from its first bytes as Latin-1, without its end. */
export function lineHeadReader(timeZone: string | null): (line: string) => LineHead {
  const headOf = headReader(timeZone)
  return (line) => {
    const marked = line.startsWith(mark) ? line.slice(mark.length) : line
    const plain = marked.includes('\x1b') ? marked.replace(colours, '') : marked
    const { key, length, isSure, noted } = prefixOf(plain)
    const { text, printed } = unwrapped(plain.slice(length))
    const own = text.startsWith('{') ? jsonHead(text, headOf) : headOf(text)
    return {
      key,
      isKeySure: isSure || own !== null,
      begins: own !== null,
      isDated: own !== null && own.length > 0,
      at: own?.at?.getTime() ?? printed ?? momentOf(noted),
      looksFirst: !continued.test(text),
    }
  }
}

/** Returns the characters of the engine's time before a line that shows its own time or needs none; else 0. */
export function needlessStamp(line: string): number {
  const { length } = stamp.exec(line)?.[0] ?? ''
  const text = line.slice(length)
  return date.test(text) || continued.test(text) ? length : 0
}

function prefixOf(line: string): Prefix {
  // by far most lines that are read begin with their date
  if (date.test(line)) {
    const [prefix = '', noted, key = ''] = isoJournal.exec(line) ?? []
    return { key, length: prefix.length, isSure: true, ...(noted !== undefined && { noted }) }
  }
  const sure = pod.exec(line) ?? journal.exec(line)
  if (sure) return { key: sure[1]!, length: sure[0].length, isSure: true }
  const looks = composed.exec(line)
  return looks ? { key: looks[1]!, length: looks[0].length, isSure: false } : { key: '', length: 0, isSure: true }
}

/** Returns a line as its program wrote it, and when the engine received it if that is noted around it. */
function unwrapped(line: string): { text: string; printed: number | null } {
  const [note] = stamp.exec(line) ?? []
  if (note !== undefined) return { text: line.slice(note.length), printed: momentOf(note.split(' ', 1)[0]) }
  const time = line.startsWith(dockerStart) ? dockerTime.exec(line)?.[1] : undefined
  // the end of a long line may be missing
  if (!line.startsWith(dockerStart) || (time === undefined && line.endsWith('}'))) return { text: line, printed: null }
  const text = line
    .slice(dockerStart.length)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll(String.raw`\t`, '\t')
    .replaceAll(escapedColours, '')
  return { text, printed: momentOf(time) }
}

function momentOf(written = ''): number | null {
  return Date.parse(written) || null
}
