import { openLog } from '../adapters/log-file.ts'
import type { AccessLogSource } from '../core/sources.ts'
import { readAccessLog } from '../logs/access-log.ts'

/** The access log in that file. Opens nothing yet: such files are rotated. Reading throws UNAVAILABLE, FORBIDDEN. */
export function accessLogSource(file: string, { timeoutMs }: { timeoutMs: number }): AccessLogSource {
  const log = openLog({ file }, { timeoutMs })
  return {
    target: file,
    async recent(options) {
      const { complete, text } = await log.newest(options)
      return { complete, ...readAccessLog(text) }
    },
  }
}
