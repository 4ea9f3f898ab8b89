import type { LogText } from '../adapters/log-file.ts'
import type { LogsSource } from '../core/sources.ts'
import { splitRecords } from '../logs/records.ts'

/** The records of a log. `timeZone`: of its times without an offset; null: they stay unknown. */
export function logsSource(log: LogText, timeZone: string | null): LogsSource {
  return {
    target: log.target,
    prints: log.prints,
    async recent(options) {
      const { text, ...rest } = await log.newest(options)
      return { ...rest, records: splitRecords(text, timeZone) }
    },
    follow: (options) => log.follow(options),
    parts: (options) => log.parts(options),
  }
}
