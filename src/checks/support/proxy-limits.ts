import type { Finding, Wanted } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import type { ProxySettings, ServiceSource } from '../../core/sources.ts'
import { limits } from '../../knowledge/limits.ts'
import { bytes, span } from '../../core/format.ts'
import { had, wanted } from '../../domain/wanted.ts'
import type { Suggestion } from '../../core/shell-command.ts'

interface Limits {
  findings: Finding[]
  /** Commands that raise what is too low */
  commands: Suggestion[]
  /** The limits in words; null if there is no proxy */
  detail: string | null
  /** True if one of them leaves the size to its controller, whose own settings are not read */
  isOpen: boolean
  /** FORBIDDEN if the proxies may not be looked at, else null */
  refused: AdminError | null
}

/** Returns what proxies before the service lack by their own settings. */
export async function proxyLimits(service: Wanted<ServiceSource>): Promise<Limits> {
  const source = had(service)
  const asked = source === null ? [] : await wanted(async () => source.proxies())
  const proxies = had(asked) ?? []
  const lacking = proxies.flatMap(findingsOn)
  return {
    findings: lacking.map(({ finding }) => finding),
    commands: [...new Set(lacking.flatMap(({ change }) => change ?? []))],
    detail: proxies.length === 0 ? null : proxies.map(inWords).join('; '),
    isOpen: proxies.some(({ maxBodyBytes }) => maxBodyBytes === null),
    refused: asked instanceof AdminError && asked.code === 'FORBIDDEN' ? asked : null,
  }
}

function findingsOn({
  name,
  maxBodyBytes,
  readTimeoutMs,
  evidence,
  change,
}: ProxySettings): { finding: Finding; change: Suggestion | null }[] {
  return [
    ...(maxBodyBytes !== null && maxBodyBytes < limits.resultFileBytes
      ? [
          {
            finding: {
              message:
                `${name} rejects requests above ${bytes(maxBodyBytes)}, but a result file may be up to ` +
                `${bytes(limits.resultFileBytes)}, and an attachment may be larger`,
              evidence,
            },
            change: change.maxBody,
          },
        ]
      : []),
    ...(readTimeoutMs !== null && readTimeoutMs < limits.proxyReadTimeoutMs
      ? [
          {
            finding: {
              message:
                `${name} waits only ${span(readTimeoutMs)} for an answer; proxies usually wait ` +
                `${span(limits.proxyReadTimeoutMs)}`,
              evidence,
            },
            change: change.readTimeout,
          },
        ]
      : []),
  ]
}

function inWords({ name, maxBodyBytes, readTimeoutMs }: ProxySettings): string {
  const size =
    maxBodyBytes === null
      ? "sets no size limit for requests, so its controller's settings apply (ingress-nginx: `proxy-body-size` " +
        'in its ConfigMap, 1 MB unless set)'
      : maxBodyBytes === Number.POSITIVE_INFINITY
        ? 'lets requests of any size through'
        : `lets requests of up to ${bytes(maxBodyBytes)} through`
  return `${name} ${size}${readTimeoutMs === null ? '' : `, and waits ${span(readTimeoutMs)} for an answer`}`
}
