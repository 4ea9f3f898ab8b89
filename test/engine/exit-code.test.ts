import { expect, it } from 'vitest'
import { exitCodeOf } from '../../src/engine/report.ts'

it.each([
  // error, unknown, warning: as it is, --fail-on error, --fail-on unknown
  [0, 0, 0, 0, 0, 0],
  [0, 0, 1, 2, 0, 2],
  [0, 1, 0, 3, 0, 1],
  [0, 1, 1, 3, 0, 1],
  [1, 0, 0, 1, 1, 1],
  [1, 1, 1, 1, 1, 1],
])('%i errors, %i unknown, %i warnings', (error, unknown, warning, normal, onError, onUnknown) => {
  const report = { summary: { ok: 3, skipped: 2, error, unknown, warning } }
  expect([
    exitCodeOf(report),
    exitCodeOf(report, 'warning'),
    exitCodeOf(report, 'error'),
    exitCodeOf(report, 'unknown'),
  ]).toEqual([normal, normal, onError, onUnknown])
})
