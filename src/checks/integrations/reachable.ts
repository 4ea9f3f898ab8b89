import { defineCheck } from '../../core/check.ts'
import type { Finding, Outcome, Severity } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import type { LogRecord, LogsSource, NetworkSource, ServiceSource } from '../../core/sources.ts'
import { unknownHosts } from '../../knowledge/log-signatures.ts'
import { springSettings } from '../../knowledge/settings.ts'
import { grepLog, word } from '../support/evidence.ts'
import { firstLine, grouped, moment } from '../support/format.ts'
import { logBytes } from '../support/service.ts'
import { had, tolerant, wanted } from '../support/wanted.ts'

const recentMs = 15 * 60_000

/** What the log and name resolution say about one host. */
interface Host {
  name: string
  count: number
  first: Date | null
  last: Date | null
  record: LogRecord
  here: boolean
  /** where the service runs; null: cannot be asked */
  there: boolean | null
  /** why it cannot; null: that is not known */
  why: string | null
}

export const integrationsReachable = defineCheck({
  id: 'integrations/reachable',
  title: 'hosts of integrations have addresses',
  reads: ['logs', 'network'],
  wants: ['service'],
  async run({ logs, network, service }): Promise<Outcome> {
    const { records } = await logs.recent({ maxBytes: logBytes })
    const platform = had(service)
    const parts = platform ? await ownParts(platform) : new Set()
    const names = [...new Set(records.flatMap(({ text }) => unknownHosts(text)))].filter((name) => !parts.has(name))
    if (names.length === 0)
      return { status: 'ok', detail: `no unknown host in ${grouped(records.length)} records of ${logs.target}` }
    const now = Date.now()
    const hosts = await Promise.all(names.slice(0, 50).map(async (name) => lookUp(name, records, network, platform)))
    const judged = hosts.flatMap((host) => {
      const severity = severityOf(host, now)
      return severity === null ? [] : [{ name: host.name, severity, finding: findingFor(host, logs) }]
    })
    const [first, ...others] = judged
    if (!first) return { status: 'ok', detail: `${names.join(', ')} resolved again` }
    const severity = judged.some((it) => it.severity === 'error') ? 'error' : 'warning'
    return {
      status: 'problem',
      severity,
      findings: [first.finding, ...others.map(({ finding }) => finding)],
      remedy: {
        text: "Correct the host in the integration's settings, or make its name resolve where the service runs.",
        commands: [
          ...judged.slice(0, 5).map(({ name }) => `getent hosts ${word(name)}   # where the service runs`),
          'testops-admin doctor -d {deployment} --only integrations/reachable',
        ],
      },
    }
  },
})

/** What was seen just now counts whatever resolves now; an old exception of a host that resolves again is over. */
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
  const times = telling.flatMap(({ at }) => at ?? [])
  const [here, asked] = await Promise.all([network.resolve(name), service ? wanted(async () => service.resolve(name)) : null])
  return {
    name,
    count: telling.length,
    first: times[0] ?? null,
    last: times.at(-1) ?? null,
    record: telling.at(-1)!,
    here,
    there: asked instanceof AdminError ? null : asked,
    why: asked instanceof AdminError ? asked.message : null,
  }
}

function findingFor({ name, count, first, last, record, here, there, why }: Host, logs: LogsSource): Finding {
  const times = first && last ? `, first ${moment(first)}, last ${moment(last)}` : ''
  const where =
    there === null
      ? `whether it resolves where the service runs cannot be asked${why === null ? '' : `: ${why}`}`
      : `${there ? 'resolves' : 'does not resolve'} where the service runs`
  const message = `${name}: java.net.UnknownHostException ${count === 1 ? 'once' : `${count} times`}${times}; it ${here ? 'resolves' : 'does not resolve'} here and ${where}`
  const line = record.text.split('\n').find((it) => unknownHosts(it).includes(name)) ?? record.text
  return {
    message,
    evidence: [
      grepLog(logs, /UnknownHostException:\s*[^\s:,;()]+/.exec(line)?.[0] ?? name),
      firstLine(line.trim(), 300),
      `getent hosts ${word(name)}`,
      here ? '(an address)' : '(nothing)',
    ],
  }
}

/** Hosts of the service's own parts, which have checks of their own. */
async function ownParts(service: ServiceSource): Promise<ReadonlySet<string>> {
  const environment = await tolerant(service.environment())
  const { datasourceUrl, rabbitAddresses, rabbitHost, redisHost } = springSettings
  const addresses = [datasourceUrl, rabbitAddresses, rabbitHost, redisHost].map((name) => environment?.get(name))
  const texts = addresses.filter((value) => typeof value === 'string')
  return new Set(texts.flatMap((text) => text.toLowerCase().split(/[^a-z0-9._-]+/)))
}
