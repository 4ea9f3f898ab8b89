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
    ['up-again', lab.labUpText({ ...up, already: true, broken: [] }, plainScreen)],
    ['up-broken', lab.labUpText({ ...up, already: true, started: [] }, plainScreen)],
    ['break', lab.labBreakText(broken, plainScreen)],
    ['mend', lab.labMendText(mended)],
    ['down', lab.labDownText(down, plainScreen)],
    ['down-none', lab.labDownText({ ...down, found: false, removed: [] }, plainScreen)],
  ])('%s', async (name, text) => expect(text).toMatchFileSnapshot(`golden/lab-${name}.txt`))
})
