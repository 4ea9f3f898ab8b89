import { afterAll, beforeAll, expect, test } from 'vitest'
import { tellLine } from '../../src/cli/write.ts'
import { doctorChanges, doctorShort, doctorTable } from '../../src/output/doctor/table.ts'
import { labDrillText, labStatusText } from '../../src/output/lab.ts'
import type { LabStatusDocument } from '../../src/output/lab.ts'
import { plainScreen as screen } from '../../src/output/paint.ts'
import { planText } from '../../src/output/plan.ts'
import { recordText } from '../../src/output/record.ts'
import { serviceText } from '../../src/output/service.ts'
import { history } from '../domain/foreign-run/records.ts'
import { planOf } from '../engine/repairing.ts'
import { changed, healthy, ok, problem, reportOf } from './reports.ts'

const zone = process.env['TZ']
beforeAll(() => {
  process.env['TZ'] = 'Asia/Tokyo'
})
afterAll(() => {
  process.env['TZ'] = zone
})

const iso = '2026-11-21T02:12:44.642Z'
const own = '2026-11-21 02:12:44Z'
const seen = problem('service/running', 'error', `it stopped at ${own}`, {
  findings: [{ message: `it stopped at ${own}`, evidence: [`process 7 since ${own}`] }],
})
const lab: LabStatusDocument = {
  schemaVersion: 1,
  phase: 'up',
  directory: '/lab',
  servers: [],
  service: null,
  configuration: null,
  broken: [{ name: 'stuck-lock', since: iso, state: 'broken' }],
  drill: { phase: 'running', startedAt: iso },
  operator: { command: 'lab up', pid: 7, since: iso },
  commands: [],
}

function told(sentence: string): string {
  let text = ''
  tellLine({ write: (it) => (text += it) }, sentence)
  return text
}

test.each<[name: string, text: () => string]>([
  ['doctor', () => doctorTable(reportOf([seen]), { screen, exitCode: 1, verbose: false })],
  [
    'doctor: what is ok',
    () => doctorTable(healthy, { screen: { ...screen, columns: 200 }, exitCode: 0, verbose: false }),
  ],
  ['doctor: what changed before', () => doctorTable(changed, { screen, exitCode: 1, verbose: false })],
  ['doctor --format short', () => doctorShort(reportOf([seen, ok('api/token', `until ${own}`)]), screen)],
  ['doctor --watch, into a file', () => doctorChanges(reportOf([seen]), null, screen)],
  ['lab status', () => labStatusText(lab, screen)],
  ['lab status while it starts', () => labStatusText({ ...lab, phase: 'starting' }, screen)],
  [
    'lab drill --history',
    () => {
      const past = { id: 'one', startedAt: iso, outcome: 'done', request: { faults: 1, seed: 7, only: null } } as const
      const rest = { faults: ['stuck-lock'], named: [], wrong: 0, seconds: 9, diagnosisSeconds: 1, healthySeconds: 9 }
      return labDrillText(
        { schemaVersion: 1, event: 'history', drills: [{ ...past, ...rest, isByClock: false }] },
        screen,
      )
    },
  ],
  [
    'service status',
    () =>
      serviceText(
        {
          schemaVersion: 1,
          deployment: 'prod',
          platform: 'host',
          state: 'running',
          detail: `active, since ${own}`,
          instances: [{ name: 'testops', host: 'app-1', pid: 7, startedAt: iso }],
          image: { name: null, tag: null, build: null, declaredIn: 'testops-admin.yaml' },
        },
        screen,
      ),
  ],
  ['the plan of a repair', () => planText(planOf({ evidence: [`process 7 since ${own}`] }), screen)],
  ['a record of another machine', () => recordText(history('unlock-changelog', { steps: [] }), screen)],
  ['a sentence, into a file', () => told(`Run r: begun ${own}.`)],
])('a time stands in UTC with that of this machine: %s', (_, text) => {
  const line = text().replaceAll(/\s+/g, ' ')
  expect(line).toMatch(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ \((?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\+09[,)]/)
  expect(line).not.toMatch(/\dT\d\d:\d\d|\d\d:\d\d:\d\dZ(?! \()/)
})
