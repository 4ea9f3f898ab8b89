import { expect, test } from 'vitest'
import { plainScreen } from '../../src/output/paint.ts'
import { differenceText, madeText, shownText } from '../../src/output/report.ts'
import type { ReportManifest } from '../../src/output/report.ts'

const manifest: ReportManifest = {
  schemaVersion: 1,
  kind: 'testops-admin report',
  version: '0.1.0',
  createdAt: '2026-11-28T02:33:00.000Z',
  deployment: 'prod',
  platform: 'kubernetes',
  build: '527u01',
  summary: { ok: 25, warning: 1, error: 2, skipped: 4, unknown: 1 },
  rootCauses: ['database/changelog-lock', 'api/latency'],
  exitCode: 1,
  gaps: [{ what: 'broker', why: 'mq:5672 refuses the connection' }],
  secrets: 2,
  files: [
    { name: 'doctor.json', bytes: 9004 },
    { name: 'answers.json', bytes: 39_000 },
  ],
}

test('says what was written, what is missing and what to do with it', () => {
  expect(madeText({ ...manifest, file: '/tmp/a b.tar.gz', bytes: 9100, places: 7 }, plainScreen)).toBe(`\
Wrote /tmp/a b.tar.gz: 4 files, 9.1 kB. Only this user can read it.

Diagnosis: 2 errors, 1 warning, 1 check without a result. Causes:
database/changelog-lock, api/latency. Exit code of doctor: 1.
2 secrets removed, in 7 places (removed.json lists them).
Host names, user names and log lines are still in it: look through it before you
send it on.

Missing in it:
  - broker: mq:5672 refuses the connection

Next:
  testops-admin report show '/tmp/a b.tar.gz'
  testops-admin doctor --from '/tmp/a b.tar.gz'
`)
})

test('lists what is in it', () => {
  const removed = [{ mark: '[secret-1]', where: ['a.json:1', 'a.json:7', 'b.txt:2', 'b.txt:9'], count: 12 }]
  expect(shownText({ ...manifest, file: 'a.tar.gz', removed }, plainScreen)).toBe(`\
a.tar.gz: report of prod (kubernetes, build 527u01)
Made 2026-11-28 02:33:00Z by testops-admin 0.1.0
Diagnosis: 2 errors, 1 warning, 1 check without a result. Causes:
database/changelog-lock, api/latency. Exit code of doctor: 1.

Missing in it:
  - broker: mq:5672 refuses the connection

Files:
  doctor.json   9 kB
  answers.json  39 kB

Removed secrets:
  [secret-1]  a.json:1, a.json:7, b.txt:2, … (12 places)
`)
})

test.each([
  [{ ok: 3, skipped: 30 }, 'healthy'],
  [{ ok: 0, skipped: 33, suppressed: 1 }, 'healthy, 1 suppressed'],
  [{ ok: 30, error: 1, warning: 1, skipped: 2, suppressed: 2 }, '1 error, 1 warning, 2 suppressed'],
  [{ ok: 0, skipped: 33, suppressed: 0 }, 'nothing was examined'],
])('says of %j: %s', (some, said) => {
  const summary = { warning: 0, error: 0, unknown: 0, ...some }
  const shown = { ...manifest, summary, rootCauses: [], exitCode: 0, file: 'a.tar.gz', removed: [] }
  expect(shownText(shown, plainScreen)).toContain(`\nDiagnosis: ${said}. Exit code of doctor: 0.\n`)
})

const side = (file: string) => ({ file, deployment: 'prod', createdAt: '2026-11-28T02:33:00.000Z' })

test('shows what changed, part by part', () => {
  const changes = [
    { part: 'checks', name: 'broker/queues-durable', from: 'ok', to: 'error' },
    { part: 'settings', name: 'TZ', from: 'UTC', to: null },
    { part: 'settings', name: 'X', from: null, to: '' },
  ]
  const document = {
    schemaVersion: 1 as const,
    from: side('a'),
    to: side('b'),
    changes,
    notCompared: ['queues', 'settings: A', 'settings: B'],
  }
  expect(differenceText(document, plainScreen)).toBe(`\
from a (prod, 2026-11-28 02:33:00Z)
to   b (prod, 2026-11-28 02:33:00Z)

checks:
  broker/queues-durable: ok → error

settings:
  TZ: UTC → missing
  X: missing → (empty)

Not compared: queues; settings A, B

3 differences.
`)
  expect(differenceText({ ...document, changes: [], notCompared: [] }, plainScreen)).toMatch(
    /\n\nNo difference was found\.\n$/,
  )
})
