import type { RecordHead } from './head.ts'

/**
 * Keys under which encoders write the time of a record: Logback's own, logstash-logback-encoder and Spring Boot (`ecs`,
 * `gelf`, `logstash`); Log4j (`instant` holds `epochSecond`; `timeMillis`, GcpLayout); collectors (`ts`, `date`);
 * `journalctl -o json`.
 */
const time =
  /(?<!\\)"(@timestamp|timestamp|time|timeMillis|epochSecond|timestampSeconds|ts|date|__REALTIME_TIMESTAMP)"\s*:\s*(?:"([^"]{1,60})"|(\d[\d.E]{9,24})(?=\s*[,}]))/g
/** Seconds since 1970, perhaps as Java prints a double; then milli-, micro- and nanoseconds */
const seconds = /^(?:\d{10}(?:\.\d{1,9})?|\d\.\d{1,15}E9)$/
const fine = /^(?:\d{13}(?:\.\d{1,6})?|\d{16}|\d{19})$/
/** `ZonedDateTime` adds its zone to the offset */
const zone = /\[[^[\]]*\]$/

/** Reads the time of a JSON object, which may be cut; null if it shows none. `headOf` reads dates. */
export function jsonHead(text: string, headOf: (line: string) => RecordHead | null): RecordHead | null {
  const found = [...text.matchAll(time)].map(([, key, written, number]) => ({
    key,
    at: momentOf(written ?? number!, headOf),
  }))
  const known = found.filter(({ at }) => at !== undefined)
  const [first] = [...known.filter(({ key }) => key === '@timestamp'), ...known]
  if (first) return { at: first.at ?? null, length: 1 }
  return found.length === 0 ? null : { at: null, length: 0 }
}

/** Returns a moment; undefined if the text is no time, null if its zone is unknown. */
function momentOf(written: string, headOf: (line: string) => RecordHead | null): Date | null | undefined {
  if (seconds.test(written)) return new Date(Math.floor(Number(written) * 1000))
  if (fine.test(written))
    return new Date(Math.floor(Number(written) / 10 ** (Math.floor(Number(written)).toString().length - 13)))
  return headOf(written.replace(zone, ''))?.at
}
