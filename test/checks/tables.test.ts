import { describe, expect, it } from 'vitest'
import { judged } from './table.ts'
import { tables } from './tables.ts'

for (const { check, cases } of tables) {
  describe(check.id, () => {
    it.each(cases)('$situation', async (one) => {
      const report = await judged(check, one)
      const { status, severity, because, findings, detail, reason, error, remedy } = report
      expect({ status, severity, because, code: error?.code }, JSON.stringify(report, null, 2)).toEqual({
        status: one.status,
        severity: one.severity,
        because: one.because,
        code: one.code ?? (one.status === 'unknown' ? error?.code : undefined),
      })
      const said = JSON.stringify({ findings, detail, reason, error, remedy })
      for (const part of one.says ?? []) expect(said).toMatch(part)
      for (const part of one.silentOn ?? []) expect(said).not.toMatch(part)
      for (const { evidence } of findings ?? []) expect(evidence.length).toBeGreaterThan(0)
      expect(said).not.toMatch(/undefined|NaN|\[object|Invalid Date/)
    })
  })
}
