import { openLog } from '../../adapters/log-file.ts'
import type { LogText } from '../../adapters/log-file.ts'
import { AdminError } from '../../core/error.ts'
import type { AccessLogSource, LogsSource } from '../../core/sources.ts'
import { readAccessLog } from '../../logs/access-log.ts'
import { splitRecords } from '../../logs/records.ts'
import type { EndpointContext } from '../endpoints/context.ts'
import type { PartContext } from './part.ts'

/** The service as its platform shows it. */
export function servicePart({ share, platform, deployment, settings }: PartContext) {
  return {
    source: share(async () => platform.service()),
    control: share(async () => settings.watched(await platform.control())),
    /** Returns what runs it, by name; null if its platform has no such names */
    workload: share(async () => (await platform.workload?.()) ?? null),
    /** Returns its Helm release, source and control in one */
    release: share(async () => {
      if (platform.release) return settings.watched(await platform.release())
      throw new AdminError(
        'NOT_CONFIGURED',
        `\`${deployment.name}\` does not run in a cluster, so it has no Helm release`,
      )
    }),
  }
}

/** The service's log, and the access log of the proxy in front of it. */
export function logsPart({ share, platform, deployment, endpoint, options: { timeoutMs } }: PartContext) {
  return {
    source: share(async () => logsSource(await platform.log(), deployment.timeZone)),
    access: share(async () => accessLogSource(accessLogFile(endpoint), { timeoutMs })),
  }
}

/** Returns the records of a log. `timeZone`: the zone of times without an offset; null: they stay unknown. */
function logsSource(log: LogText, timeZone: string | null): LogsSource {
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

/** Returns the access log in a file. Opens nothing yet: files are rotated. Reading throws UNAVAILABLE, FORBIDDEN. */
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

function accessLogFile({ name, settings: { accessLog } }: EndpointContext): string {
  if (accessLog) return accessLog.file.path
  throw new AdminError('NOT_CONFIGURED', `no access log is configured for \`${name}\`: set \`accessLog.file\``)
}
