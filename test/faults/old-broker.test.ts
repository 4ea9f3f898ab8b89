import { describe, test } from 'vitest'
import { faultRows } from '../../src/lab/fault-list.ts'
import { sharedLab } from '../lab/support/own-lab.ts'
import { breakLookMend, expectationOf, look, rowTimeoutMs } from './matrix.ts'
import { decisive } from '../support/campaign.ts'

const rows = faultRows()

const lab = sharedLab('--broker', '3')

test('the healthy lab on an older broker has nothing to report', async () => {
  await look(lab, { exitCode: 0, roots: [], allowedConsequences: [] })
})

describe('on an older broker, doctor judges', () => {
  test.each(rows.filter(({ needs }) => needs.broker === '3').map((row) => [row.name, row] as const))(
    '%s',
    (name, row) => breakLookMend(lab, [name], expectationOf(row)),
    rowTimeoutMs,
  )
})

/** Two at once: both causes are named, and neither hides the other, unless one really follows from the other. */
const pairs: readonly [first: string, second: string, exitCode: number, roots: readonly string[]][] = [
  ['live-lock', 'broker-down', 1, ['broker/reachable error']],
  ['stuck-lock/waiting', 'broker-down', 1, ['database/changelog-lock error', 'broker/reachable error']],
  // a clock that is off is why sessions are
  ['stale-sessions/ahead', 'clock-skew/far', 1, ['service/clocks error']],
  ['unknown-host', 'service-down', 1, ['integrations/reachable error', 'service/running error']],
  ['stale-sessions/ahead', 'cpu-without-v3', 1, ['sessions/clock error', 'service/cpu-level error']],
  ['unknown-host', 'bad-credentials/blank', 1, ['integrations/reachable error', 'integrations/credentials error']],
  ['database-down', 'sessions-down', 1, ['database/reachable error', 'sessions/reachable error']],
  ['token-refused', 'debug-left-on', 1, ['api/token error', 'integrations/debug-logging warning']],
  ['jvm-time-zone', 'stuck-lock/waiting', 1, ['database/changelog-lock error']],
  ['jvm-time-zone', 'live-lock', 0, []],
  ['jvm-time-zone', 'stale-sessions/ahead', 1, ['sessions/clock error']],
  ['foreign-queues/durable', 'durable-mismatch/setting-false', 1, ['broker/queues-durable error']],
  // exchanges the lab's broker for one that refuses transient queues, and back
  ['transient-refused', 'unknown-host', 1, ['broker/queues-durable error', 'integrations/reachable error']],
]

describe('doctor tells apart', () => {
  test.each(decisive(pairs, 2))(
    '%s and %s',
    async (first, second, exitCode, roots) => {
      const consequences = rows
        .filter(({ name }) => name === first || name === second)
        .flatMap(({ expected }) => expected.allowedConsequences)
      await breakLookMend(lab, [first, second], { exitCode, roots, allowedConsequences: consequences })
    },
    rowTimeoutMs,
  )
})
