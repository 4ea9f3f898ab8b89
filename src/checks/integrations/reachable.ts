import { currentTime } from '../../core/local-time.ts'
import { defineCheck } from '../../core/check.ts'
import type { Finding, Outcome, Severity } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import type { LogRecord, LogsSource, NetworkSource, ServiceSource } from '../../core/sources.ts'
import { unknownHosts } from '../../knowledge/log-signatures.ts'
import { asFarAsRead, grepLog } from '../../domain/evidence.ts'
import { counted, firstLine, timesOf } from '../../core/format.ts'
import { recentMs, withoutQueries } from '../../domain/integrations/calls.ts'
import { ownParts } from '../../domain/integrations/addresses.ts'
import { logBytes } from '../../core/sources/logs.ts'
import { had, wanted } from '../../domain/wanted.ts'
import { command } from '../../core/shell-command.ts'

/** What the log and name resolution say about one host. */
interface Host {
  name: string
  /** How often the log names it, and when */
  times: string
  last: Date | null
  record: LogRecord
  here: boolean
  /** True if it resolves where the service runs; null if that cannot be checked */
  there: boolean | null
  /** Why it cannot be checked; null if unknown */
  why: string | null
}

export const integrationsReachable = defineCheck({
  id: 'integrations/reachable',
  title: 'hosts of integrations have addresses',
  reads: ['logs', 'network'],
  wants: ['service'],
  async run({ logs, network, service }): Promise<Outcome> {
    const log = await logs.recent({ maxBytes: logBytes })
    const { records } = log
    const platform = had(service)
    const parts = platform ? await ownParts(platform) : new Set()
    const names = [...new Set(records.flatMap(({ text }) => unknownHosts(text)))].filter((name) => !parts.has(name))
    if (names.length === 0)
      return asFarAsRead(
        { status: 'ok', detail: `no unknown-host error in ${counted(records.length, 'record')} of ${logs.target}` },
        log,
      )
    const now = currentTime()
    const hosts = await Promise.all(names.slice(0, 50).map(async (name) => lookUp(name, records, network, platform)))
    const judged = hosts.flatMap((host) => {
      const severity = severityOf(host, now)
      return severity === null ? [] : [{ name: host.name, severity, finding: findingFor(host, logs) }]
    })
    const [first, ...others] = judged
    if (!first)
      return asFarAsRead(
        {
          status: 'ok',
          detail:
            `${hosts.length === 1 ? 'this name resolves' : 'these names resolve'} again: ` +
            `${hosts.map(({ name }) => name).join(', ')}`,
        },
        log,
      )
    const severity = judged.some((it) => it.severity === 'error') ? 'error' : 'warning'
    return asFarAsRead(
      {
        status: 'problem',
        severity,
        findings: [first.finding, ...others.map(({ finding }) => finding)],
        remedy: {
          text: "Correct the host in the integration's settings, or make its name resolve where the service runs.",
          commands: [
            ...judged.slice(0, 5).map(({ name }) => command`getent hosts ${name}   # run it where the service runs`),
            'testops-admin check-integration -d {deployment}   # checks name, connection and certificate of ' +
              'every external system in the log',
            'testops-admin doctor -d {deployment} --only integrations/reachable',
          ],
        },
      },
      log,
    )
  },
})

/** A recent failure counts even if the name resolves now; an old one is over once the name resolves. */
function severityOf({ last, here, there }: Host, now: number): Severity | null {
  const isRecent = last !== null && now - last.getTime() <= recentMs
  if (there === false || isRecent) return 'error'
  return (there ?? here) ? null : 'warning'
}

async function lookUp(
  name: string,
  records: readonly LogRecord[],
  network: NetworkSource,
  service: ServiceSource | null,
): Promise<Host> {
  const telling = records.filter(({ text }) => unknownHosts(text).includes(name))
  const [here, asked] = await Promise.all([
    network.resolve(name),
    service ? wanted(async () => service.resolve(name)) : null,
  ])
  return {
    name,
    times: timesOf(telling),
    last: telling.findLast(({ at }) => at !== null)?.at ?? null,
    record: telling.at(-1)!,
    here,
    there: asked instanceof AdminError ? null : asked,
    why: asked instanceof AdminError ? asked.message : null,
  }
}

function findingFor({ name, times, record, here, there, why }: Host, logs: LogsSource): Finding {
  const where =
    there === null
      ? `could not be looked up where the service runs${why === null ? '' : `: ${why}`}`
      : `${there ? 'resolves' : 'does not resolve'} where the service runs`
  const message =
    `${name}: java.net.UnknownHostException ${times}; this name ${here ? 'resolves' : 'does not resolve'} on ` +
    `this machine and ${where}`
  const line = record.text.split('\n').find((it) => unknownHosts(it).includes(name)) ?? record.text
  return {
    message,
    evidence: [
      grepLog(logs, /UnknownHostException:\s*[^\s:,;()]+/.exec(line)?.[0] ?? name),
      firstLine(withoutQueries(line).trim(), 300),
      command`getent hosts ${name}`,
      here ? '(an address)' : '(nothing)',
    ],
  }
}
