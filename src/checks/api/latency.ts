import { defineCheck } from '../../core/check.ts'
import { curl } from '../support/evidence.ts'
import { span } from '../support/format.ts'

/** A page of the web interface makes dozens of calls, so people wait for many seconds where a small one takes this long. */
const warningMs = 1000

export const apiLatency = defineCheck({
  id: 'api/latency',
  title: "service's API answers at once",
  reads: ['api'],
  remedy: {
    text: 'Look at the load of the service and of its database, and at what lies between here and there.',
    commands: [
      '{logs}',
      "psql -c 'SELECT pid, now() - query_start, query FROM pg_stat_activity ORDER BY 2 DESC NULLS LAST LIMIT 10'",
    ],
  },
  async run({ api }) {
    const times = [...(await api.latencies())].sort((a, b) => a - b)
    const median = times[Math.floor(times.length / 2)]
    if (median === undefined) return { status: 'skipped', reason: 'no call was timed' }
    const figures = `a small call takes ${span(median)} in the middle of ${times.length} (${span(times[0]!)} to ${span(times.at(-1)!)})`
    if (median <= warningMs) return { status: 'ok', detail: figures }
    const evidence = [
      curl(api.target, '/api/management/health', "-s -o /dev/null -w '%{time_total}\\n'"),
      times.map((time) => (time / 1000).toFixed(3)).join(' '),
    ]
    return { status: 'problem', severity: 'warning', findings: [{ message: `${api.target} is slow: ${figures}`, evidence }] }
  },
})
