import { expect, test } from 'vitest'
import type { DoctorReport } from '../../../src/core/check.ts'
import { PartialSettings } from '../../../src/core/deployment.ts'
import { AdminError } from '../../../src/core/error.ts'
import { Secret, UnreadableSecret } from '../../../src/core/secret.ts'
import { differencesOf } from '../../../src/engine/recording/difference.ts'
import type { RecordedAnswer, Recording } from '../../../src/engine/recording/record.ts'

const answers = (
  given: Readonly<Record<string, unknown>>,
): { isList: false; parts: [{ facts: object; questions: string[]; answers: RecordedAnswer[] }] } => ({
  isList: false,
  parts: [
    {
      facts: {},
      questions: [],
      answers: Object.entries(given).map(([method, answer]) => ({ question: `${method} []`, ended: 'value', answer })),
    },
  ],
})

const queue = (name: string, durable: boolean, rest: object = {}): object => ({
  name,
  vhost: '/',
  durable,
  type: 'classic',
  autoDelete: false,
  exclusive: false,
  arguments: {},
  ...rest,
})

function side(of: {
  settings?: [string, string | Secret][]
  queues?: object[]
  restarts?: number
  startedAt?: unknown
  values?: object
  status?: string
}): { report: DoctorReport; recording: Recording } {
  const { settings, queues, restarts = 0, startedAt = null, values, status = 'ok' } = of
  return {
    report: { checks: [{ id: 'api/latency', status, severity: 'warning' }] } as unknown as DoctorReport,
    recording: {
      service: answers({
        ...(settings && { environment: new Map(settings) }),
        image: { name: 'testops', tag: '527u01', build: '527u01' },
        health: { instances: [{ name: 'testops-0', restarts, startedAt }] },
      }),
      ...(queues && { broker: answers({ queues, identity: { version: '4.2.1' } }) }),
      ...(values && { release: answers({ latest: { values } }) }),
    } as unknown as Recording,
  }
}

test('finds what was added, removed and changed in each part', () => {
  const one = side({
    settings: [
      ['A', '1'],
      ['B', 'x'],
      ['TOKEN', new Secret('[secret-1]', { mayAppear: true })],
    ],
    queues: [queue('q', false), queue('old', true)],
    values: { image: { tag: '527u01' }, list: [1, 2], none: {} },
  })
  const other = side({
    settings: [
      ['A', '2'],
      ['C', 'amqp://u:[secret-4]@mq/'],
      ['TOKEN', new Secret('[secret-9]', { mayAppear: true })],
    ],
    queues: [queue('q', true, { arguments: { 'x-max-length': 5 } })],
    values: { image: { tag: '527u02' }, list: [1, 3], none: {} },
    restarts: 2,
    status: 'problem',
  })
  expect(differencesOf(one, other)).toEqual({
    changes: [
      { part: 'checks', name: 'api/latency', from: 'ok', to: 'warning' },
      { part: 'settings', name: 'A', from: '1', to: '2' },
      { part: 'settings', name: 'B', from: 'x', to: null },
      { part: 'settings', name: 'C', from: null, to: 'amqp://u:[secret]@mq/' },
      { part: 'values', name: 'image.tag', from: '527u01', to: '527u02' },
      { part: 'values', name: 'list.1', from: '2', to: '3' },
      { part: 'queues', name: '/ old', from: 'durable, classic', to: null },
      { part: 'queues', name: '/ q', from: 'transient, classic', to: 'durable, classic, x-max-length=5' },
      { part: 'restarts', name: 'testops-0', from: '0 restarts', to: '2 restarts' },
    ],
    notCompared: ['settings: TOKEN'],
  })
  expect(differencesOf(one, one)).toEqual({ changes: [], notCompared: ['settings: TOKEN'] })
})

test('a problem that is now suppressed is not called skipped', () => {
  const [one, other] = [side({ status: 'problem' }), side({ status: 'skipped' })]
  Object.assign(other.report.checks[0]!, { suppressed: { severity: 'warning' } })
  expect(differencesOf(one, other).changes).toEqual([
    { part: 'checks', name: 'api/latency', from: 'warning', to: 'suppressed' },
  ])
})

test('a restart that nothing counts shows in when the run began', () => {
  const at = (startedAt: unknown): ReturnType<typeof side> => side({ startedAt })
  const first = '2026-11-29T12:38:09.405Z'
  expect(differencesOf(at(new Date(first)), at(new Date('2026-11-29T12:40:18Z'))).changes).toEqual([
    {
      part: 'restarts',
      name: 'testops-0',
      from: '0 restarts, since 2026-11-29 12:38:09Z',
      to: '0 restarts, since 2026-11-29 12:40:18Z',
    },
  ])
  // nobody vouches for what an archive holds
  expect(differencesOf(at(first), at(new Date(Number.NaN))).changes).toEqual([])
})

test('a part that one of them lacks is not compared', () => {
  expect(differencesOf(side({ queues: [] }), side({ settings: [] }))).toEqual({
    changes: [],
    notCompared: ['versions: RabbitMQ', 'settings', 'values', 'queues'],
  })
})

test('a setting that one of them could not read is neither missing nor changed', () => {
  const settings: [string, string | Secret][] = [
    ['A', '1'],
    ['B', new UnreadableSecret(new Error('hidden'))],
  ]
  const one = side({ settings, values: {} })
  const other = side({ settings: [['B', new UnreadableSecret(new Error('hidden'))]], values: {} })
  const partial = new PartialSettings([['B', '2']], new AdminError('FORBIDDEN', 'no permission'))
  expect(differencesOf(one, one).changes).toEqual([])
  expect(differencesOf(one, other).changes).toEqual([{ part: 'settings', name: 'A', from: '1', to: null }])
  const service = answers({ environment: partial })
  const { changes, notCompared } = differencesOf(one, {
    ...other,
    recording: { ...other.recording, service } as Recording,
  })
  expect(changes.filter(({ name }) => name === 'A')).toEqual([])
  expect(notCompared).toContain('settings: A')
})
