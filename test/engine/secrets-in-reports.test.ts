import { expect, test } from 'vitest'
import { reportText } from '../../src/cli/doctor/print.ts'
import type { Check, DoctorReport, Result } from '../../src/core/check.ts'
import type { Deployment } from '../../src/core/deployment.ts'
import { AdminError } from '../../src/core/error.ts'
import { runError } from '../../src/engine/steps.ts'
import { reportCheck } from '../../src/engine/report.ts'
import { plainScreen } from '../../src/output/paint.ts'
import { leak, secretLines } from '../core/redaction/lines.ts'

const check: Check = {
  id: 'broker/reachable',
  title: 'broker answers',
  reads: [],
  run: async () => ({ status: 'ok', detail: '' }),
}

test.each(secretLines.map((line) => [line]))('whatever a source says: %s', (line) => {
  const remedy = { text: line, commands: [line], risk: line, undo: line }
  const results: readonly Result[] = [
    { status: 'ok', detail: line },
    { status: 'skipped', reason: line },
    {
      status: 'problem',
      severity: 'error',
      findings: [{ message: line, evidence: [line, JSON.stringify({ message: line })] }],
      remedy,
    },
    { status: 'unknown', error: new AdminError('FAILED', line, [line]) },
    { status: 'unknown', error: new Error(line) },
  ]
  const deployment = { name: 'prod', platform: 'host' } as unknown as Deployment
  const checks = results.map((result) => reportCheck({ check, result, durationMs: 1 }, deployment, null))
  const report: DoctorReport = {
    schemaVersion: 1,
    deployment: 'prod',
    found: line,
    platform: 'host',
    build: line,
    startedAt: new Date(0).toISOString(),
    durationMs: 1,
    summary: { ok: 1, warning: 0, error: 1, skipped: 1, unknown: 2 },
    rootCauses: ['broker/reachable'],
    checks,
  }
  expect(JSON.stringify(checks)).not.toMatch(leak)
  for (const format of ['table', 'short', 'json'] as const) {
    for (const verbose of [true, false])
      expect(reportText(report, format, { screen: plainScreen, exitCode: 1, verbose })).not.toMatch(leak)
  }
  expect(JSON.stringify([runError(new AdminError('FAILED', line, [line])), runError(new Error(line))])).not.toMatch(
    leak,
  )
})
