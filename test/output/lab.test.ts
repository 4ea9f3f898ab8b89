import { describe, expect, test } from 'vitest'
import * as lab from '../../src/output/lab.ts'
import { plainScreen } from '../../src/output/paint.ts'
import { faultsOf } from './schemas.ts'

const absent: lab.LabStatusDocument = {
  schemaVersion: 1,
  phase: 'absent',
  directory: '/home/me/.local/state/testops-admin/lab',
  servers: [],
  service: null,
  configuration: null,
  broken: [],
  drill: null,
  operator: null,
  commands: [],
}
const up: lab.LabUpDocument = {
  ...absent,
  phase: 'up',
  servers: [
    { kind: 'postgres', version: '15.14', way: 'programs', address: '127.0.0.1:40001', running: true },
    { kind: 'rabbitmq', version: '4.3.6', way: 'packages', address: '127.0.0.1:40002', running: false },
    { kind: 'redis', version: '7.0.15', way: 'docker', address: '127.0.0.1:40003', running: true },
  ],
  service: {
    url: 'http://127.0.0.1:40004',
    state: 'running',
    detail: 'active',
    log: '/home/me/lab/service/service.log',
  },
  configuration: '/home/me/lab/testops-admin.yaml',
  broken: [{ name: 'stuck-lock', since: '2026-11-21T04:00:00.000Z', state: 'broken' }],
  commands: ['testops-admin doctor -d lab'],
  already: false,
  started: ['postgres', 'rabbitmq', 'redis', 'service'],
}
const { already: _already, started: _started, ...status } = up
const broken: lab.LabBreakDocument = {
  schemaVersion: 1,
  made: [{ name: 'stuck-lock', made: 'the service is killed while it holds the lock', repair: 'unlock-changelog' }],
  already: ['unknown-host'],
  expectedExitCode: 1,
}
const mended: lab.LabMendDocument = { schemaVersion: 1, mended: ['stuck-lock'], remaining: [], healthy: true }
const standing = {
  startedAt: '2026-11-21T04:00:00.000Z',
  seconds: 64,
  isByClock: false,
  faults: 1,
  named: [],
  wrong: 1,
  doctor: 1,
  stopped: [],
}
const past: lab.LabPastDrill = {
  id: 'one',
  startedAt: '2026-11-21T04:00:00.000Z',
  outcome: 'done',
  request: { faults: 1, seed: 7, only: null },
  faults: ['stuck-lock/waiting'],
  named: [{ fault: 'stuck-lock/waiting', check: 'database/changelog-lock', seconds: 40 }],
  wrong: 1,
  seconds: 192,
  diagnosisSeconds: 40,
  healthySeconds: 190,
  isByClock: false,
}
const pastOfTwo: lab.LabPastDrill = {
  ...past,
  id: 'two',
  outcome: 'mended',
  request: { faults: 2, seed: 8, only: 'database' },
  faults: ['stuck-lock/waiting', 'debug-left-on'],
  diagnosisSeconds: null,
  healthySeconds: null,
  isByClock: true,
}
const drills = {
  begun: { schemaVersion: 1, event: 'begun', drill: { ...standing, wrong: 0, doctor: null } },
  'begun-two': { schemaVersion: 1, event: 'begun', drill: { ...standing, faults: 2, wrong: 0, doctor: null } },
  standing: { schemaVersion: 1, event: 'standing', drill: standing },
  'standing-healthy': {
    schemaVersion: 1,
    event: 'standing',
    drill: { ...standing, named: ['database/changelog-lock'], doctor: 0 },
  },
  'standing-restarted': {
    schemaVersion: 1,
    event: 'standing',
    drill: { ...standing, isByClock: true, doctor: 3, stopped: ['postgres', 'redis'] },
  },
  right: {
    schemaVersion: 1,
    event: 'answered',
    answer: { id: 'database/changelog-lock', verdict: 'right' },
    drill: { ...standing, named: ['database/changelog-lock'], doctor: null },
  },
  wrong: {
    schemaVersion: 1,
    event: 'answered',
    answer: { id: 'broker/alarms', verdict: 'wrong' },
    drill: { ...standing, doctor: null },
  },
  done: {
    schemaVersion: 1,
    event: 'ended',
    past,
    faults: [
      {
        name: 'stuck-lock/waiting',
        made: 'the service is killed while it holds the lock',
        rootCauses: ['database/changelog-lock'],
        quickest: ['testops-admin doctor -d lab', 'testops-admin unlock-changelog -d lab'],
      },
    ],
  },
  'given-up': {
    schemaVersion: 1,
    event: 'ended',
    past: pastOfTwo,
    faults: [
      {
        name: 'stuck-lock/waiting',
        made: 'the service is killed while it holds the lock',
        rootCauses: ['database/changelog-lock'],
        quickest: ['testops-admin doctor -d lab', 'testops-admin unlock-changelog -d lab'],
      },
      { name: 'debug-left-on', made: null, rootCauses: [], quickest: ['testops-admin doctor -d lab'] },
    ],
  },
  history: { schemaVersion: 1, event: 'history', drills: [past, pastOfTwo] },
  'history-long': {
    schemaVersion: 1,
    event: 'history',
    drills: Array.from({ length: 22 }, (): lab.LabPastDrill => past),
  },
  'history-empty': { schemaVersion: 1, event: 'history', drills: [] },
} satisfies Record<string, lab.LabDrillDocument>
const down: lab.LabDownDocument = { schemaVersion: 1, found: true, removed: ['postgres', 'service'] }

describe('documents of the lab fit their schemas', () => {
  test.each<[schema: string, document: object]>([
    ['lab-status', absent],
    ['lab-status', status],
    [
      'lab-status',
      { ...absent, phase: 'starting', operator: { command: 'lab up', pid: 7, since: '2026-11-21T04:00:00.000Z' } },
    ],
    ['lab-up', up],
    ['lab-break', broken],
    ['lab-break', { ...broken, expectedExitCode: null }],
    ['lab-mend', mended],
    ['lab-mend', { ...mended, remaining: ['unknown-host'], healthy: null }],
    ['lab-status', { ...status, drill: { phase: 'breaking', startedAt: null } }],
    ['lab-mend', { ...mended, drill: pastOfTwo }],
    ...Object.values(drills).map((it): [string, object] => ['lab-drill', it]),
    ['lab-down', down],
    ['lab-down', { ...down, found: false, removed: [] }],
  ])('%s', (schema, document) => expect(faultsOf(schema, document)).toEqual([]))
})

describe('documents of the lab as text', () => {
  test.each<[name: string, text: string]>([
    ['status-absent', lab.labStatusText(absent, plainScreen)],
    ['status-up', lab.labStatusText(status, plainScreen)],
    ['status-missing', lab.labStatusText({ ...status, broken: [] }, plainScreen)],
    [
      'up',
      lab.labUpText(
        { ...up, broken: [], servers: up.servers.map((server) => ({ ...server, running: true })) },
        plainScreen,
      ),
    ],
    [
      'status-drill',
      lab.labStatusText(
        { ...status, broken: [], drill: { phase: 'running', startedAt: '2026-11-21T04:00:00.000Z' } },
        plainScreen,
      ),
    ],
    [
      'status-drill-interrupted',
      lab.labStatusText({ ...status, broken: [], drill: { phase: 'breaking', startedAt: null } }, plainScreen),
    ],
    [
      'up-drill',
      lab.labUpText(
        { ...up, broken: [], drill: { phase: 'unreadable', startedAt: null }, already: true, started: [] },
        plainScreen,
      ),
    ],
    ...Object.entries(drills).map(([name, it]): [string, string] => [
      `drill-${name}`,
      lab.labDrillText(it, plainScreen),
    ]),
    ['mend-drill', lab.labMendText({ ...mended, drill: pastOfTwo })],
    ['up-again', lab.labUpText({ ...up, already: true, broken: [] }, plainScreen)],
    ['up-broken', lab.labUpText({ ...up, already: true, started: [] }, plainScreen)],
    ['break', lab.labBreakText(broken, plainScreen)],
    ['mend', lab.labMendText(mended)],
    ['down', lab.labDownText(down, plainScreen)],
    ['down-none', lab.labDownText({ ...down, found: false, removed: [] }, plainScreen)],
  ])('%s', async (name, text) => expect(text).toMatchFileSnapshot(`golden/lab-${name}.txt`))
})
