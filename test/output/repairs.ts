import type { Plan } from '../../src/core/plan.ts'
import type { RepairDocument } from '../../src/core/repair-document.ts'
import { documentOf } from '../../src/engine/perform.ts'
import type { HistoryDocument } from '../../src/output/history.ts'
import { planOf, run } from '../engine/repairing.ts'
import { runState } from '../fakes/index.ts'

export const riskyPlan: Plan = planOf({
  evidence: ['psql -h db.example.org -U testops testops -c \'SELECT id, locked, lockgranted, lockedby FROM public.databasechangeloglock\'', '1 | t | 2026-11-20 23:00:00 | testops-1 (10.0.0.7)'],
  notes: ['testops-1 (10.0.0.7) holds it since 2026-11-20 23:00:00', 'the deployment can keep no copy of the journal, so `resume` works from this machine only: no broker is configured'],
  risks: [{ name: 'live-holder', message: 'the holder lives: pid 7 at work. To take its lock away lets a second migration run beside it.', proof: ['wait until it has ended; `testops-admin doctor -d prod --only database` shows it'] }],
  steps: planOf().steps.map((step, index) => (index === 1 ? { ...step, loses: 'what the holder was about to write' } : step)),
})

const error = { code: 'REFUSED' as const, message: 'the lock in public.databasechangeloglock has changed hands', suggestions: [`testops-admin resume ${run} -d prod`] }
const applied = [0, 1, 2].map((step) => ({ step, status: 'done' as const, durationMs: 1234 }))
const begun = (of: Partial<RepairDocument>): RepairDocument => ({ ...documentOf(planOf(), { outcome: 'done' }), run, applied, ...of })

/** Each way in which a repair can end. */
export const documents: Readonly<Record<string, RepairDocument>> = {
  planned: documentOf(riskyPlan, { outcome: 'planned' }),
  'planned-before': documentOf(planOf({ expectedMs: [12_400, 300, null] }), { outcome: 'planned' }),
  'planned-known': documentOf(planOf({ expectedMs: [12_400, 300, 21_000] }), { outcome: 'planned' }),
  'nothing-to-do': documentOf(planOf({ steps: [], notes: ['public.databasechangeloglock is free'] }), { outcome: 'nothing-to-do' }),
  'not-confirmed': documentOf(planOf(), { outcome: 'refused', error: { ...error, message: 'that is not `prod`: nothing was changed' } }),
  'interrupted-before': documentOf(planOf(), { outcome: 'interrupted', error: { code: 'INTERRUPTED', message: 'interrupted by SIGINT', suggestions: [] } }),
  done: begun({ verification: { 'database/changelog-lock': 'ok', 'service/running': 'ok', 'api/reachable': 'unknown' } }),
  'done-with-results': begun({ applied: [applied[0]!, { ...applied[1]!, results: ['10,412 messages back, contents compared'] }], verification: { 'service/running': 'ok' } }),
  'not-content': begun({ outcome: 'failed', verification: { 'database/changelog-lock': 'error', 'api/reachable': 'warning' } }),
  'half-done': begun({ outcome: 'interrupted', applied: [applied[0]!, { step: 1, status: 'failed', durationMs: 7 }], error }),
  'taken-back': begun({ applied: [{ step: 1, status: 'undone', durationMs: 7 }, { step: 0, status: 'undone', durationMs: 7 }] }),
  'taken-back-untouched': begun({ applied: [] }),
}

export const histories: Readonly<Record<string, HistoryDocument>> = {
  none: { schemaVersion: 1, deployment: 'my prod', runs: [], unreadable: [] },
  several: {
    schemaVersion: 1,
    deployment: 'my prod',
    runs: [
      { ...runState({ run: '20261120T021244Z-unlock-changelog-0001', state: 'done', done: 3, within: null }), where: 'here' },
      { ...runState({ run: '20261120T031244Z-unlock-changelog-0002', state: 'undone', done: 1, within: null }), where: 'here' },
      { ...runState(), where: 'here', copyGone: true },
      { ...runState({ run: '20261121T041244Z-unlock-changelog-0003', by: 'op@else\u001b[31mwhere' }), where: 'deployment' },
    ],
    unreadable: [{ run: '20261121T051244Z-unlock-changelog-0004', reason: 'the journal of run 20261121T051244Z-unlock-changelog-0004 is damaged: line 3: it holds no event' }],
  },
}
