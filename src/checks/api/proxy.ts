import { defineCheck } from '../../core/check.ts'
import type { Finding, Outcome, Wanted } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import type { AccessLogSource, LoggedRequest, ProxySettings, ServiceSource } from '../../core/sources.ts'
import { proxyAnswers, saysNothing } from '../../knowledge/proxy.ts'
import { inAccessLog, lastDay, over, senderOf } from '../support/access-log.ts'
import type { Day } from '../support/access-log.ts'
import { bytes, counted, span } from '../../core/format.ts'
import { had, notConfigured, wanted } from '../../domain/wanted.ts'
import { command } from '../../core/shell-command.ts'
import { limits } from '../../knowledge/limits.ts'
import type { Suggestion } from '../../core/shell-command.ts'

const { tooLarge, tooLate, unusable, away } = proxyAnswers

/** What a proxy cuts, how often within a day makes it a problem, and what to do about it. */
const cuts = [
  {
    ...tooLarge,
    // what is too large once is too large each time
    least: 1,
    message: 'refused by the proxy as too large',
    remedy:
      'Make the proxy let larger requests through ' + `(nginx: \`${tooLarge.setting}\`, by default ${tooLarge.usual}).`,
  },
  {
    ...tooLate,
    least: 3,
    message: 'cut off by the proxy while the service was still working on them',
    remedy:
      `Let the proxy wait longer for an answer (nginx: \`${tooLate.setting}\`, by default ${tooLate.usual}). ` +
      'Find out why these requests take so long.',
  },
  {
    ...unusable,
    least: 3,
    message: 'the proxy got no usable response from the service',
    remedy:
      "Read the proxy's error log for the reason. Either the service closes connections that the proxy still uses, " +
      `or its response headers are too large (nginx: \`${unusable.setting}\`).`,
  },
] as const

export const apiProxy = defineCheck({
  id: 'api/proxy',
  title: 'proxy lets large and slow requests through',
  reads: [],
  wants: ['accessLog', 'service'],
  async run({ accessLog: log, service }): Promise<Outcome> {
    const { findings: limits, detail, isOpen, commands: changes, refused } = await proxyLimits(service)
    // a log that is not configured is no fault
    if (log instanceof AdminError && !notConfigured(log)) throw log
    const seen = await cutsIn(log)
    const cutAway = 'found' in seen ? seen.found : []
    const [first, ...others] = [...limits, ...cutAway.map(({ finding }) => finding)]
    if (!first) {
      if (refused) throw refused
      if ('found' in seen) return { status: 'ok', detail: [detail, seen.detail].filter(Boolean).join('; ') }
      if (detail === null) return { status: 'skipped', reason: seen.reason }
      return isOpen ? { status: 'skipped', reason: `${detail}; ${seen.reason}` } : { status: 'ok', detail }
    }
    const settings = cutAway.map(({ cut }) => cut.setting).join('|')
    const raise =
      limits.length > 0
        ? [
            'Let larger and slower requests through: raise the limits both in the running proxy and in the values ' +
              'file that configures it.',
          ]
        : cutAway.map(({ cut }) => cut.remedy)
    return {
      status: 'problem',
      severity: 'warning',
      findings: [first, ...others],
      remedy: {
        text:
          `${raise.join(' ')} Otherwise results can be missing after an upload. Routers and firewalls can have ` +
          'the same limits.',
        commands: [
          ...(limits.length > 0
            ? changes
            : [command`sudo nginx -T | grep -nE ${settings}   # on the machine where the proxy runs`]),
          'testops-admin doctor -d {deployment} --only api/proxy',
        ],
      },
    }
  },
})

/** Returns what the proxy's log shows that it cut; else why nothing can be said. */
async function cutsIn(
  log: Wanted<AccessLogSource>,
): Promise<{ found: { cut: (typeof cuts)[number]; finding: Finding }[]; detail: string } | { reason: string }> {
  if (log instanceof AdminError) return { reason: log.message }
  const day = await lastDay(log)
  if ('reason' in day) return day
  const requests = withoutOutages(day.requests)
  const found = cuts.flatMap((cut) => {
    const those = requests.filter(({ status }) => status === cut.status)
    return those.length >= cut.least ? [{ cut, finding: findingFor(those, cut, day, log) }] : []
  })
  const few = requests.filter(({ status }) => cuts.some((cut) => cut.status === status)).length
  return {
    found,
    detail:
      `the proxy cut off ${few === 0 ? 'none' : `only ${few}`} of ` +
      `${counted(requests.length, 'request')} in ${day.where}`,
  }
}

function findingFor(
  requests: readonly LoggedRequest[],
  { status, message }: (typeof cuts)[number],
  day: Day,
  log: AccessLogSource,
): Finding {
  const last = requests.at(-1)!
  return {
    message: `${over(requests, 'request')}: ${message} (${status}); last sender: ${senderOf(last)}`,
    // after the request in a line of text, under its key in JSON
    evidence: inAccessLog(log, day, `("|":"?) ?${status}[ ,"}]`, (it) => it.status === status, requests),
  }
}

/**
 * Leaves out what a proxy answers while the service is stopped, starts or hangs: then nothing comes through for a
 * while. A request that takes too long fails between others that succeed, or repeatedly by itself.
 */
function withoutOutages(requests: readonly LoggedRequest[]): readonly LoggedRequest[] {
  const left = new Set<LoggedRequest>()
  let failing: LoggedRequest[] = []
  const settle = (): void => {
    if (isOutage(failing)) for (const request of failing) left.add(request)
    failing = []
  }
  for (const request of requests) {
    if (isAway(request)) failing.push(request)
    else if (comesFromService(request)) settle()
  }
  settle()
  return requests.filter((request) => !left.has(request))
}

/** True if the service answered an API call. Pages and pictures may come from the proxy itself. */
function comesFromService({ path, status }: LoggedRequest): boolean {
  return path.includes('/api/') && !saysNothing(status)
}

function isOutage(failing: readonly LoggedRequest[]): boolean {
  if (failing.length < 3) return false
  return failing.some(({ status }) => status !== tooLate.status) || new Set(failing.map(({ path }) => path)).size > 1
}

function isAway({ status }: LoggedRequest): boolean {
  return (away as readonly number[]).includes(status)
}

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
async function proxyLimits(service: Wanted<ServiceSource>): Promise<Limits> {
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
