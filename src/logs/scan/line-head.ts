import { headReader } from '../records.ts'

/** What is before a line's own text: which container or program it is from, and no more. */
interface Prefix {
  key: string
  length: number
  /** what is told by its look alone may be a part of the text, as in a table */
  isSure: boolean
}

export interface LineHead {
  /** the container or program; '' where nothing says it */
  key: string
  isKeySure: boolean
  /** the line begins a record */
  begins: boolean
  /** its date has a known form */
  isDated: boolean
  /** milliseconds; null: unknown */
  at: number | null
  /** where no date is known, it begins one by its look */
  looksFirst: boolean
}

/** so many bytes of a line are looked at */
export const headLength = 4096

const colours = /\x1b\[[0-9;]*[A-Za-z]/g
const date = /^\d{4}-\d/
/** `kubectl logs --prefix`; `docker compose logs`; journalctl's short form */
const pod = /^\[(pod\/[^\]\s]{1,300})\] /
const composed = /^([\w.-]{1,100}) +\| ?/
const journal = /^[A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} (\S{1,255} [^\s:[\]]{1,100}(?:\[\d{1,10}\])?): /
/** `kubectl logs --timestamps`: nanoseconds, of which zeros at the end are left out; Spring Boot writes three digits */
const stamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{4,9}(?:Z|[+-]\d{2}:\d{2}) /
const jsonTime = /(?<!\\)"(?:@timestamp|timestamp|time)"\s*:\s*(?:"([^"]{1,40})"|(\d{10}(?:\.\d{1,9})?|\d{13})(?=\s*[,}]))/
const continued = /^(?:\s|at |Caused by:|Suppressed:|\.\.\. \d+ |[)\]}]|$)/

/** Reads how a line begins, from its first bytes as Latin-1, without its end. */
export function lineHeadReader(timeZone: string | null): (line: string) => LineHead {
  const headOf = headReader(timeZone)
  return (line) => {
    const plain = line.includes('\x1b') ? line.replace(colours, '') : line
    const { key, length, isSure } = prefixOf(plain)
    const text = plain.slice(length).replace(stamp, '')
    const own = text.startsWith('{') ? jsonHead(text, headOf) : plainHead(text, headOf)
    return { key, isKeySure: isSure || own !== null, begins: own !== null, isDated: own?.isDated ?? false, at: own?.at?.getTime() ?? null, looksFirst: !continued.test(text) }
  }
}

function prefixOf(line: string): Prefix {
  // by far most lines that are looked at begin with their date
  if (date.test(line)) return { key: '', length: 0, isSure: true }
  const sure = pod.exec(line) ?? journal.exec(line)
  if (sure) return { key: sure[1]!, length: sure[0].length, isSure: true }
  const looks = composed.exec(line)
  return looks ? { key: looks[1]!, length: looks[0].length, isSure: false } : { key: '', length: 0, isSure: true }
}

interface OwnHead {
  at: Date | null
  isDated: boolean
}

function plainHead(text: string, headOf: ReturnType<typeof headReader>): OwnHead | null {
  const head = headOf(text)
  return head && { at: head.at, isDated: head.length > 0 }
}

/** One object a line, with its time as text, or as seconds or milliseconds since 1970. */
function jsonHead(text: string, headOf: ReturnType<typeof headReader>): OwnHead | null {
  const [, written, number] = jsonTime.exec(text) ?? []
  if (written !== undefined) return plainHead(written, headOf) ?? { at: null, isDated: false }
  if (number === undefined) return null
  return { at: new Date(Number(number) * (/^\d{13}$/.test(number) ? 1 : 1000)), isDated: true }
}
