import type { SqlText } from '../../core/sql-text.ts'
import { defineCheck } from '../../core/check.ts'
import type { Outcome } from '../../core/check.ts'
import { curl, psql } from '../../domain/evidence.ts'
import { counted, span } from '../../core/format.ts'
import { had, tolerant } from '../../domain/wanted.ts'

/**
 * Milliseconds above which a simple call is slow. A page of the web interface makes dozens of calls, so people wait
 * for many seconds.
 */
const warningMs = 1000

export const apiLatency = defineCheck({
  id: 'api/latency',
  title: "service's API answers quickly",
  reads: ['api'],
  wants: ['database'],
  async run({ api, database }): Promise<Outcome> {
    const times = [...(await api.latencies())].sort((a, b) => a - b)
    const median = times[Math.floor(times.length / 2)]
    if (median === undefined)
      return {
        status: 'skipped',
        reason: `no call was timed: the service did not answer GET ${api.target}/api/management/health`,
      }
    const figures =
      `a simple API call takes ${span(median)} (median of ${counted(times.length, 'call')}, ${span(times[0]!)} to ` +
      `${span(times.at(-1)!)})`
    if (median <= warningMs) return { status: 'ok', detail: figures }
    const evidence = [
      curl(api.target, '/api/management/health', "-s -o /dev/null -w '%{time_total}\\n'"),
      times.map((time) => (time / 1000).toFixed(3)).join(' '),
    ]
    const main = had(database)?.[0]
    const user = main && (await tolerant(main.identity()))?.user
    const longest: SqlText =
      "SELECT pid, now() - query_start AS since, left(query, 80) FROM pg_stat_activity WHERE state <> 'idle' " +
      'ORDER BY 2 DESC NULLS LAST LIMIT 10'
    return {
      status: 'problem',
      severity: 'warning',
      findings: [{ message: `${api.target} is slow: ${figures}`, evidence }],
      remedy: {
        text: 'Check the load of the service and of its database, and the network from this machine to the service.',
        commands: [...(main ? [psql(main.target, user ?? null, longest)] : []), '{logs}'],
      },
    }
  },
})
