import { currentTime } from '../../core/local-time.ts'
import type { SqlText } from '../../core/sql-text.ts'
import { defineCheck } from '../../core/check.ts'
import type { Finding, Outcome, Severity } from '../../core/check.ts'
import type { DatabaseSource, LogRecord, LogsSource } from '../../core/sources.ts'
import { durableConflicts } from '../../knowledge/log-signatures.ts'
import { signatures } from '../../knowledge/signatures.ts'
import type { SignatureId } from '../../knowledge/signatures.ts'
import { asFarAsRead, grepLog, psql } from '../../domain/evidence.ts'
import { counted, firstLine, timesOf } from '../../core/format.ts'
import { recentMs } from '../../domain/integrations/calls.ts'
import { masked } from '../../domain/last-words.ts'
import { sinceStart } from '../../domain/service.ts'
import { logBytes } from '../../core/sources/logs.ts'
import { had, tolerant } from '../../domain/wanted.ts'
import { command } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'

/**
 * Signatures that another check judges, since it sees the thing itself: the lock, the queues, the sessions, the
 * processor, the calls of integrations. The others are no fault of the service: a refused login, and a test case moved
 * to where one like it exists, are reported to the user at once. Agents keep logs of their own.
 */
const toldElsewhere: readonly SignatureId[] = [
  'unknown-host',
  'http-failed',
  'bad-request',
  'lock-waiting',
  'lock-refused',
  'transient-refused',
  'cpu-level',
  'csrf',
  'conflict',
  'token-refused',
  'agent-counts',
  'agent-nothing-indexed',
]

export const serviceLogErrors = defineCheck({
  id: 'service/log-errors',
  title: "service's log shows no other known fault",
  reads: ['logs'],
  wants: ['service', 'database'],
  async run({ logs, service, database: databases }): Promise<Outcome> {
    const platform = had(service)
    const [log, status, environment] = await Promise.all([
      logs.recent({ maxBytes: logBytes }),
      platform && tolerant(platform.status()),
      platform && tolerant(platform.environment()),
    ])
    // what was before the last start is over
    const records = (status && sinceStart(log.records, status)) ?? log.records
    const told = signatures.flatMap((signature) => {
      if (signature.severity === 'info' || toldElsewhere.includes(signature.id)) return []
      const found = records.filter(
        (record) => signature.pattern.test(record.text) && !isToldByQueues(signature.id, record),
      )
      return found.length === 0 ? [] : [{ signature, found, severity: severityOf(signature.severity, found) }]
    })
    const findings = told.map(({ signature, found }) =>
      findingFor(signature, found, logs, (line) => masked(line, environment)),
    )
    const [first, ...others] = findings
    const database = had(databases)?.[0] ?? null
    const user = (database && (await tolerant(database.identity()))?.user) ?? null
    if (!first)
      return asFarAsRead(
        {
          status: 'ok',
          detail:
            `none of the faults that only this check looks for, in ${counted(records.length, 'record')} of ` +
            logs.target,
        },
        log,
      )
    return asFarAsRead(
      {
        status: 'problem',
        severity: told.some(({ severity }) => severity === 'error') ? 'error' : 'warning',
        findings: [first, ...others],
        remedy: {
          text:
            told.length === 1
              ? 'Read what this fault means, why it happens and what to do.'
              : 'Read what each fault means, why it happens and what to do.',
          commands: [
            ...new Set([
              ...told.flatMap(({ signature }) => nextFor(signature, { database, user })),
              ...told.map(({ signature }) => command`testops-admin explain ${signature.explain}`),
            ]),
            'testops-admin scan-logs -d {deployment}   # every known fault in the log',
          ],
        },
      },
      log,
    )
  },
})

/** Query for what is held in transactions, for how long, and who waits for whom. */
const transactions: SqlText =
  'SELECT pid, usename, state, now() - xact_start AS open, pg_blocking_pids(pid) AS waits_for, left(query, 60) ' +
  'AS query FROM pg_stat_activity WHERE xact_start IS NOT NULL ORDER BY xact_start'

/** Returns where to begin: with what held the connections, with the service's memory, or with the log. */
function nextFor(
  { id }: (typeof signatures)[number],
  { database, user }: { database: DatabaseSource | null; user: string | null },
): Suggestion[] {
  if (id === 'pool-exhausted' && database) return [psql(database.target, user, transactions)]
  return [id === 'out-of-memory' ? '{edit}' : '{logs}']
}

/**
 * True for a refused `durable`, which the queues' own check reports. The broker refuses other things in the same words.
 */
function isToldByQueues(id: SignatureId, { text }: LogRecord): boolean {
  return id === 'precondition-failed' && durableConflicts(text).length > 0
}

/** Returns the severity of a signature if it was seen lately, since it probably goes on; else a warning. */
function severityOf(severity: Severity, found: readonly LogRecord[]): Severity {
  const at = found.at(-1)?.at ?? null
  return at !== null && currentTime() - at.getTime() <= recentMs ? severity : 'warning'
}

function findingFor(
  { title, pattern }: (typeof signatures)[number],
  found: readonly LogRecord[],
  logs: LogsSource,
  hide: (line: string) => string,
): Finding {
  const last = found.at(-1)!
  const line = last.text.split('\n').find((it) => pattern.test(it)) ?? last.text
  return {
    message: `${title}: ${timesOf(found)}`,
    evidence: [grepLog(logs, pattern.exec(line)?.[0] ?? ''), firstLine(hide(line).trim(), 300)],
  }
}
