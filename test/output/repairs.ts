import type { Plan } from '../../src/core/plan.ts'
import type { RepairDocument } from '../../src/core/repair.ts'
import { documentOf } from '../../src/engine/carry-out.ts'
import type { HistoryDocument } from '../../src/output/history.ts'
import { planOf, run } from '../engine/repairing.ts'
import { runState } from '../fakes/index.ts'

export const riskyPlan: Plan = planOf({
  evidence: [
    "psql -h db.example.org -U testops testops -c 'SELECT id, locked, lockgranted, lockedby FROM " +
      "public.databasechangeloglock'",
    '1 | t | 2026-11-20 23:00:00 | testops-1 (10.0.0.7)',
  ],
  notes: [
    'testops-1 (10.0.0.7) holds it since 2026-11-20 23:00:00',
    "`resume` works only on this machine, because the deployment cannot keep a copy of the run's record: no " +
      'broker is configured',
  ],
  risks: [
    {
      name: 'live-holder',
      message: 'the holder is alive: pid 7 at work. Without its lock, a second migration can start beside it',
      proof: ['wait until it has ended; `testops-admin doctor -d prod --only database` shows it'],
    },
  ],
  steps: planOf().steps.map((step, index) =>
    index === 1 ? { ...step, loses: 'what the holder was about to write' } : step,
  ),
})

const error = {
  code: 'REFUSED' as const,
  message: 'the lock in public.databasechangeloglock has changed hands',
  suggestions: [`testops-admin resume ${run} -d prod`],
}
const applied = [0, 1, 2].map((step) => ({ step, status: 'done' as const, durationMs: 1234 }))
const begun = (of: Partial<RepairDocument>): RepairDocument => ({
  ...documentOf(planOf(), { outcome: 'done' }),
  run,
  applied,
  ...of,
})

const treesPlan: Plan = planOf({
  repair: 'migrate-trees',
  target: { service: 'https://testops.example.org, build 524u02' },
  impact: { projects: 2, trees: 3, calls: 3 },
  evidence: ['project 2 Billing: tree 21 Features', 'project 1 Web shop: trees 12 Suites, 13 Features'],
  steps: [
    {
      title: 'ask the service to load all trees of 1 project and 2 trees anew, 4 calls at a time',
      action: {
        kind: 'migrate-trees',
        api: 'https://testops.example.org',
        items: [
          { project: 2, tree: null },
          { project: 1, tree: 12 },
          { project: 1, tree: 13 },
        ],
        concurrency: 4,
      },
      interrupts: true,
      loses: 'there is no undo: trees are cleared and loaded anew',
    },
  ],
})
const treesBegun = (of: Partial<RepairDocument>): RepairDocument => ({
  ...documentOf(treesPlan, { outcome: 'done' }),
  run,
  applied: [applied[0]!],
  verification: { 'trees/migrated': 'ok' },
  ...of,
})

/** Each way in which a repair can end. */
export const documents: Readonly<Record<string, RepairDocument>> = {
  planned: documentOf(riskyPlan, { outcome: 'planned' }),
  'planned-before': documentOf(planOf({ expectedMs: [12_400, 300, null] }), { outcome: 'planned' }),
  'planned-known': documentOf(planOf({ expectedMs: [12_400, 300, 21_000] }), { outcome: 'planned' }),
  'nothing-to-do': documentOf(planOf({ steps: [], notes: ['public.databasechangeloglock is free'] }), {
    outcome: 'nothing-to-do',
  }),
  'not-confirmed': documentOf(planOf(), {
    outcome: 'refused',
    error: { ...error, message: 'Nothing changed: the answer is not `prod`' },
  }),
  'interrupted-before': documentOf(planOf(), {
    outcome: 'interrupted',
    error: { code: 'INTERRUPTED', message: 'interrupted by SIGINT', suggestions: [] },
  }),
  done: begun({
    verification: { 'database/changelog-lock': 'ok', 'service/running': 'ok', 'api/reachable': 'unknown' },
  }),
  'done-with-results': begun({
    applied: [applied[0]!, { ...applied[1]!, results: ['10,412 messages moved back, with the same contents'] }],
    verification: { 'service/running': 'ok' },
  }),
  'not-content': begun({
    outcome: 'failed',
    verification: { 'database/changelog-lock': 'error', 'api/reachable': 'warning' },
  }),
  forbidden: begun({
    outcome: 'failed',
    applied: [],
    error: {
      code: 'FORBIDDEN',
      message: 'user op may not patch deployments/scale `testops-testops`',
      suggestions: ['kubectl auth can-i patch deployments --subresource=scale'],
    },
  }),
  'half-done': begun({
    outcome: 'interrupted',
    applied: [applied[0]!, { step: 1, status: 'failed', durationMs: 7 }],
    error,
  }),
  'trees-planned': documentOf(treesPlan, { outcome: 'planned' }),
  'trees-done': treesBegun({ accepted: 3, skipped: 0, failed: [] }),
  'trees-failed': treesBegun({
    outcome: 'failed',
    accepted: 1,
    skipped: 0,
    failed: [
      {
        project: 2,
        status: 403,
        message:
          "HTTP 403, 'Forbidden: Access is denied'; it takes the project role `Владелец проекта` or the global " +
          'role `Администратор`',
      },
      {
        project: 1,
        tree: 12,
        status: 404,
        message: "there is no project 1, or no tree 12 in it: HTTP 404, 'Not Found: Tree 12 not found'",
      },
    ],
    error: {
      code: 'FAILED',
      message: '2 of 3 calls failed',
      suggestions: [
        'testops-admin migrate-trees -d prod --project 2 --tree 1/12   # run this once the cause of the ' +
          'failures is gone',
      ],
    },
  }),
  'trees-stopped': treesBegun({
    outcome: 'interrupted',
    applied: [{ step: 0, status: 'failed', durationMs: 7 }],
    verification: {},
    requested: 3000,
    accepted: 2000,
    skipped: 988,
    failed: Array.from({ length: 12 }, (_, index) => ({
      project: 1,
      tree: 2000 + index,
      status: 500,
      message: "HTTP 500, 'Internal Server Error'",
    })),
    error: {
      ...error,
      code: 'INTERRUPTED',
      message: "stopped after 5 failures in a row; last failure: HTTP 500, 'Internal Server Error'",
    },
  }),
  'taken-back': begun({
    applied: [
      { step: 1, status: 'undone', durationMs: 7 },
      { step: 0, status: 'undone', durationMs: 7 },
    ],
  }),
  'taken-back-untouched': begun({ applied: [] }),
}

export const histories: Readonly<Record<string, HistoryDocument>> = {
  none: { schemaVersion: 1, deployment: 'my prod', runs: [], unreadable: [] },
  several: {
    schemaVersion: 1,
    deployment: 'my prod',
    runs: [
      {
        ...runState({ run: '20261120T021244Z-unlock-changelog-0001', state: 'done', done: 3, within: null }),
        where: 'here',
      },
      {
        ...runState({ run: '20261120T031244Z-unlock-changelog-0002', state: 'undone', done: 1, within: null }),
        where: 'here',
      },
      { ...runState(), where: 'here', copyGone: true },
      {
        ...runState({ run: '20261121T041244Z-unlock-changelog-0003', by: 'op@else\u001b[31mwhere' }),
        where: 'deployment',
      },
      {
        ...runState({
          run: '20261121T044244Z-migrate-trees-0005',
          repair: 'migrate-trees',
          done: 0,
          steps: 1,
          within: 'ask the service',
          onlyCloses: true,
        }),
        where: 'here',
      },
    ],
    unreadable: [
      {
        run: '20261121T051244Z-unlock-changelog-0004',
        reason: 'the journal of run 20261121T051244Z-unlock-changelog-0004 is damaged: line 3: it contains no event',
      },
    ],
  },
}
