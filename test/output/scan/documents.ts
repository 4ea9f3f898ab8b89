import type { ScanDocument, ScanMatch } from '../../../src/output/scan/document.ts'

const match = (of: Pick<ScanMatch, 'signature' | 'title' | 'severity' | 'count'> & Partial<ScanMatch>): ScanMatch => ({
  check: null,
  records: of.count,
  untimed: 0,
  samples: [],
  rate: { seconds: 1, counts: [] },
  remedy: null,
  explain: `testops-admin explain ${of.signature}`,
  ...of,
})

/** Of a deployment with two pods, of which one could not be read. */
export const several: ScanDocument = {
  schemaVersion: 1,
  deployment: 'prod',
  timeZone: 'UTC',
  lines: 1_204_331,
  bytes: 180_000_000,
  from: '2026-11-22T09:00:00.000Z',
  to: '2026-11-22T12:00:00.000Z',
  matches: [
    match({
      signature: 'unknown-host',
      title: 'a host name does not resolve',
      check: 'integrations/reachable',
      severity: 'error',
      count: 412,
      records: 206,
      untimed: 2,
      first: '2026-11-22T09:12:44.100Z',
      last: '2026-11-22T11:59:00.000Z',
      hosts: { 'tracker.example.org': 200, 'git.example.org': 6 },
      samples: ['2026-11-22 09:12:44.100 ERROR 1 --- [main] a.B : java.net.UnknownHostException: tracker.example.org'],
      rate: {
        seconds: 1024,
        counts: [
          ['09:00:00', 10],
          ['10:00:00', 100],
          ['10:30:00', 202],
          ['11:59:00', 100],
        ].map(([at, lines]) => ({ at: `2026-11-22T${at}.000Z`, lines: Number(lines) })),
      },
      explain: 'testops-admin explain integrations/reachable',
    }),
    match({
      signature: 'precondition-failed',
      title: 'a queue or exchange exists with different properties than the service requests',
      check: 'broker/queues-durable',
      severity: 'error',
      count: 1,
      first: '2026-11-22T09:30:00.000Z',
      last: '2026-11-22T09:30:00.000Z',
      conflicts: [{ kind: 'queue', name: 'q1', vhost: '/', argument: 'durable', wanted: "'true'", current: "'false'" }],
      remedy: 'testops-admin reset-queues -d prod',
      explain: 'testops-admin explain broker/queues-durable',
    }),
    match({
      signature: 'conflict',
      title: 'a test case was not moved, because the new project already has an identical one',
      severity: 'warning',
      count: 2,
      untimed: 2,
    }),
    match({
      signature: 'lock-waiting',
      title: 'the service waits for the change-log lock',
      check: 'database/changelog-lock',
      severity: 'info',
      count: 2,
      first: '2026-11-22T09:00:00.000Z',
      last: '2026-11-22T09:00:10.000Z',
      overBy: '2026-11-22T09:00:20.000Z',
    }),
    match({
      signature: 'agent-counts',
      title: 'an agent reports what it uploaded',
      severity: 'info',
      count: 1,
      untimed: 1,
      agents: [{ indexed: 17, processed: 17, errors: null }],
    }),
  ],
  timeline: [
    { at: '2026-11-22T09:00:00.000Z', signature: 'lock-waiting' },
    { at: '2026-11-22T09:12:44.100Z', signature: 'unknown-host' },
    { at: '2026-11-22T09:30:00.000Z', signature: 'precondition-failed' },
  ],
  files: [
    { name: 'testops-1 (previous run)', lines: 331, bytes: 40_000, counts: { 'lock-waiting': 2 } },
    {
      name: 'testops-1',
      lines: 1_204_000,
      bytes: 179_960_000,
      counts: { 'unknown-host': 400, 'precondition-failed': 1, conflict: 2, 'agent-counts': 1 },
    },
    { name: 'testops-2', lines: 0, bytes: 0, counts: { 'unknown-host': 12 } },
  ],
  unread: [
    {
      name: 'testops-3',
      code: 'FORBIDDEN',
      message: 'user tester may not get pods/log `testops-3` in namespace `testops` of the cluster of context `prod`',
      suggestions: ['kubectl --context prod auth can-i get pods/testops-3 --subresource=log -n testops'],
    },
  ],
  notes: [
    {
      kind: 'clock',
      message:
        'the times in the log jump back once: "first" and "last" are the earliest and the latest time in the log',
      isGap: false,
    },
  ],
}

/** Of one file in which nothing is known. */
export const nothing: ScanDocument = {
  schemaVersion: 1,
  timeZone: 'UTC',
  lines: 1,
  bytes: 1500,
  from: '2026-11-22T09:00:00.000Z',
  to: '2026-11-22T09:00:00.000Z',
  matches: [],
  timeline: [],
  files: [{ name: 'app.log', lines: 1, bytes: 1500, counts: {} }],
  unread: [],
  notes: [],
}

/** What holds what a terminal would take for its own. */
export const hostile: ScanDocument = {
  ...nothing,
  matches: [{ ...several.matches[0]!, samples: ['\u001b[2Jgone\u0007'], hosts: { 'evil\u202ehost\nx': 1 } }],
  files: [{ name: 'a\u001b[31m.log', lines: 1, bytes: 1, counts: { 'unknown-host': 1 } }],
}
