import { expect, test } from 'vitest'
import type { DoctorReport } from '../../../src/core/check.ts'
import { AdminError } from '../../../src/core/error.ts'
import { askMore, contentsOf, readEvidence } from '../../../src/engine/recording/contents.ts'
import { recordSources } from '../../../src/engine/recording/record.ts'
import { redacted } from '../../../src/engine/recording/redacted.ts'
import type { OpenSources } from '../../../src/engine/judge.ts'
import { commands, fakeService } from '../../fakes/service.ts'
import type { Deployment } from '../../../src/core/deployment.ts'

const deployment: Deployment = {
  name: 'prod',
  platform: 'host',
  vendor: { prefix: 'VENDOR', package: 'vendor.report' },
  timeZone: null,
  editable: { configuration: '/etc/x.yaml', secrets: { apiToken: 'nano /etc/token' } },
}

const report = {
  startedAt: '2026-11-28T02:33:00.000Z',
  durationMs: 2000,
  checks: [],
  rootCauses: [],
} as unknown as DoctorReport

const closed = (code: 'NOT_CONFIGURED' | 'UNREACHABLE') => async (): Promise<never> => {
  throw new AdminError(code, `it is ${code}`)
}

function opened(): OpenSources {
  const at = (minute: number): Date => new Date(Date.UTC(2026, 10, 28, 2, minute))
  const plain = (text: string, minute: number) => ({ at: at(minute), level: 'INFO', text })
  const records = [
    ...Array.from({ length: 30 }, (_, index) => plain(`before ${index}`, index)),
    { at: at(40), level: 'ERROR', text: 'java.net.UnknownHostException: gitlab.example.org\n  at X\n' },
    ...Array.from({ length: 30 }, (_, index) => plain(`after ${index}`, 41)),
  ]
  const service = fakeService({ definitions: [{ name: 'deployments/testops', content: { kind: 'Deployment' } }] })
  return {
    service: async () => service,
    logs: async () => ({ target: 'service.log', prints: null, recent: async () => ({ complete: false, records }) }),
    broker: closed('UNREACHABLE'),
    database: closed('NOT_CONFIGURED'),
    sessions: closed('NOT_CONFIGURED'),
    api: closed('NOT_CONFIGURED'),
    release: closed('NOT_CONFIGURED'),
    runs: closed('NOT_CONFIGURED'),
  } as unknown as OpenSources
}

test('what cannot be read is named, and what the deployment does not have is no gap', async () => {
  const recorder = recordSources(opened())
  await (await recorder.open.logs()).recent({ maxBytes: 1000 })
  expect(await askMore(recorder.open, 1000)).toEqual([{ what: 'broker', why: 'it is UNREACHABLE' }])
  const files = redacted(
    contentsOf({ recording: recorder.recording(), deployment, commands, report, deadlineMs: 1000 }),
  ).files
  expect(files.map(({ name }) => name)).toEqual([
    'doctor.json',
    'answers.json',
    'versions.json',
    'settings.json',
    'definitions/deployments_testops.json',
    'log.txt',
  ])
  const log = files.at(-1)!.text.split('\n')
  expect(log.slice(0, 3)).toEqual([
    '… older records were not read …',
    '… 20 records that show nothing known …',
    'before 20',
  ])
  expect(log).toContain('java.net.UnknownHostException: gitlab.example.org')
  expect(log.slice(-3)).toEqual(['after 9', '… 20 records that show nothing known …', ''])

  const evidence = readEvidence(JSON.parse(files[1]!.text))
  expect(evidence.deployment).toEqual(deployment)
  expect(evidence.commands).toEqual(commands)
  expect(evidence.startedAt.toISOString()).toBe(report.startedAt)
  expect(evidence.at.toISOString()).toBe('2026-11-28T02:33:02.000Z')
})

const good = {
  startedAt: '2026-11-28T02:33:00.000Z',
  at: '2026-11-28T02:33:02.000Z',
  deadlineMs: 1000,
  deployment: { name: 'prod', platform: 'host', vendor: { prefix: 'VENDOR', package: 'p' }, timeZone: null },
  commands: null,
  sources: {},
}
const part = { facts: {}, questions: [], answers: [] }

test.each([
  [null, 'no document'],
  [[], 'no document'],
  [{ ...good, at: 'yesterday' }, '`at`'],
  [{ ...good, startedAt: null }, '`startedAt`'],
  [{ ...good, deadlineMs: -1 }, '`deadlineMs`'],
  [{ ...good, deployment: { name: 'prod' } }, '`deployment`'],
  [{ ...good, deployment: { ...good.deployment, editable: { configuration: '/x', secrets: {} } } }, '`enter`'],
  [{ ...good, commands: { start: 'x' } }, '`commands`'],
  [{ ...good, commands: ['x'] }, '`commands`'],
  [{ ...good, sources: [] }, '`sources`'],
  [{ ...good, sources: { api: { error: 'x' } } }, '`api` holds an error'],
  [{ ...good, sources: { api: { isList: false, parts: [] } } }, '`api` is incomplete'],
  [
    {
      ...good,
      sources: { api: { isList: false, parts: [{ ...part, answers: [{ question: 'x []', ended: 'soon' }] }] } },
    },
    'no question',
  ],
  [
    {
      ...good,
      sources: {
        api: { isList: false, parts: [{ ...part, answers: [{ question: 'x []', ended: 'error', answer: 1 }] }] },
      },
    },
    'holds an error',
  ],
])('%j is no evidence', (data, why) => {
  expect(() => readEvidence(data)).toThrow(why)
})
