import { unfitNotes } from '../../src/domain/foreign-run/notes.ts'
import { traceOf } from '../../src/platforms/host/setting.ts'
import { describe, expect, test } from 'vitest'
import type { Action } from '../../src/core/action.ts'
import { AdminError } from '../../src/core/error.ts'
import type { RunHistory } from '../../src/core/run.ts'
import { parseEvents, parseRecord } from '../../src/core/run-record.ts'
import { eventOf, planOf, recordOf } from '../engine/repairing.ts'
import {
  exchange,
  fakeBroker,
  fakeDatabase,
  fakeService,
  lockRow,
  lockTable,
  queue,
  unreachable,
} from '../fakes/index.ts'
import {
  binding,
  changed,
  events,
  held,
  history,
  ranTo,
  reset,
  resetSteps,
  setting,
  start,
  step,
  stop,
  transient,
  unfitOf,
  uploads,
  withBinding,
} from './foreign-run/records.ts'
import type { Given } from './foreign-run/records.ts'

const broker = fakeBroker({ queues: [uploads], exchanges: [events], bindings: [binding] })
const halfWay = fakeBroker({ queues: [held], exchanges: [events], bindings: [] })
const durable = fakeBroker({
  queues: [queue({ name: 'upload', durable: true, autoDelete: false, arguments: transient.arguments })],
  exchanges: [{ ...events, durable: true }],
  bindings: [binding],
})

const locked = lockRow({ locked: true, lockGranted: '2026-11-20 23:00:00.000000', lockedBy: 'testops-1 (10.0.0.7)' })

describe('a record that this program wrote fits, at any stage of its run', () => {
  test.each<[what: string, RunHistory, Given]>([
    [
      'a lock that is still held',
      { record: recordOf(), events: [] },
      { database: [fakeDatabase({ changelogLocks: [lockTable([locked])] })] },
    ],
    ['a lock that is free by now', { record: recordOf(), events: [eventOf({ event: 'intent', step: 0 })] }, {}],
    ['queues before anything was done', reset(), { broker }],
    ['queues that are gone', reset(resetSteps(), ranTo('delete-queues')), { broker: halfWay }],
    ['queues that are durable by now', reset(resetSteps(), ranTo('start-service')), { broker: durable }],
    [
      'the setting alone',
      history('reset-queues', {
        steps: [stop, step({ kind: 'set-setting', ...setting }), start],
        verifiedBy: ['broker/queues-durable', 'service/running', 'api/reachable'],
      }),
      { broker },
    ],
    [
      'the life of a token',
      history('set-env', {
        steps: [
          stop,
          step({ kind: 'set-setting', name: 'VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS', from: null, to: '7200' }),
          start,
        ],
      }),
      {},
    ],
    ['a service that is stopped', history('service-stop', { steps: [stop], verifiedBy: [] }), {}],
    ['a service that is restarted', history('service-restart', { steps: [stop, start] }), {}],
  ])('%s', async (_, it, sources) => expect(await unfitOf(it, sources)).toEqual([]))
})

describe('a record that this program cannot have written does not', () => {
  const agent = { kind: 'set-setting', name: 'JAVA_TOOL_OPTIONS', from: null, to: '-javaagent:/tmp/x.jar' } as const
  const yaml = {
    kind: 'edit-values',
    file: '/srv/other/values.yaml',
    edits: [{ path: ['image'], from: 'a', to: 'b', at: 0, was: 'a', is: 'b' }],
  } as const
  const row = { locked: true, lockGranted: null, lockedBy: null }
  const release = {
    kind: 'release-lock',
    database: 'db.example.org:5432/testops',
    schema: 'public',
    row,
    accepts: null,
  } as const
  const lockPlan = { verifiedBy: ['database/changelog-lock'] }
  test.each<[what: string, RunHistory, said: RegExp, Given?]>([
    [
      'a setting that loads a program',
      history('set-env', { steps: [stop, step(agent), start] }),
      /^the run sets JAVA_TOOL_OPTIONS, which only a run that was started on this machine may set$/,
    ],
    [
      'where the data is',
      history('set-env', {
        steps: [
          step({ kind: 'set-setting', name: 'SPRING_DATASOURCE_URL', from: null, to: 'jdbc:postgresql://evil/x' }),
        ],
      }),
      /^the run sets SPRING_DATASOURCE_URL/,
    ],
    [
      'a value that is no value of that setting',
      history('set-env', {
        steps: [
          step({ kind: 'set-setting', name: 'VENDOR_RABBIT_DURABLE', from: null, to: 'true\nJAVA_TOOL_OPTIONS=x' }),
        ],
      }),
      /^VENDOR_RABBIT_DURABLE cannot be /,
    ],
    [
      'what an undo would set',
      history('set-env', {
        steps: [step({ kind: 'set-setting', name: 'VENDOR_RABBIT_DURABLE', from: '$(id)', to: 'true' })],
      }),
      /^VENDOR_RABBIT_DURABLE cannot be "\$\(id\)"$/,
    ],
    [
      'a secret of a file',
      history('set-env', {
        steps: [step({ kind: 'set-secret', name: 'X_PASSWORD', salt: 's', from: null, to: 'f', file: '/etc/shadow' })],
      }),
      /^the run sets the secret X_PASSWORD/,
    ],
    [
      'a file of others',
      history('use-legacy-image', { steps: [stop, step(yaml), start] }),
      new RegExp(
        String.raw`^the run edits \/srv\/other\/values\.yaml, but nothing shows that compose started this ` +
          'deployment from that file$',
      ),
    ],
    [
      'a release',
      history('set-env-values', {
        steps: [
          step({
            kind: 'upgrade-release',
            release: 'r',
            revision: 1,
            chart: 'https://evil/chart.tgz',
            chartVersion: '1',
            files: [],
            values: [],
            wasRunning: true,
          }),
          step({ kind: 'await-rollout' }),
        ],
      }),
      /^the run upgrades a Helm release/,
    ],
    [
      'steps of another repair',
      history('unlock-changelog', { steps: [stop, step(agent), start], ...lockPlan }),
      /^unlock-changelog never has these steps in this order: stop-service, set-setting, start-service$/,
    ],
    ['a stop without a start', reset(resetSteps().slice(0, -1)), /^reset-queues never has these steps/],
    [
      'no checks of its outcome',
      history('reset-queues', { steps: resetSteps(), verifiedBy: [] }),
      new RegExp(
        '^the plan of the run leaves out checks that are required to verify this repair: ' +
          String.raw`broker\/queues-durable, service\/running, api\/reachable$`,
      ),
    ],
    [
      'another name',
      {
        ...history('service-restart', { steps: [start] }),
        record: { ...history('service-restart', { steps: [start] }).record, run: '20261121T021244Z-service-stop-1f3a' },
      },
      /^the name of the run does not match the repair and start time in its record \(service-restart, /,
    ],
    [
      'a risk of no such plan',
      history('service-stop', { steps: [stop], verifiedBy: [], risks: [{ name: 'none', message: '', proof: [] }] }),
      /^service-stop has no risk "none"$/,
    ],
    [
      'a file in place of a deployment',
      history('set-env-values', { steps: [], options: { main: '/etc/x', values: ['/etc/x'] } }),
      /^the run changes a file that is on another machine$/,
    ],
    [
      'a database of others',
      history('unlock-changelog', { steps: [step({ ...release, database: 'other:5432/x' })], ...lockPlan }),
      /^other:5432\/x is not a database of this deployment$/,
    ],
    [
      'a schema without the table',
      history('unlock-changelog', { steps: [step({ ...release, schema: 'pg_catalog' })], ...lockPlan }),
      /^schema pg_catalog at .* has no table databasechangeloglock$/,
    ],
    [
      'a risk that it does not name',
      history('unlock-changelog', { steps: [step({ ...release, accepts: 'live-holder' })], ...lockPlan }),
      /^the saved record says that the risk live-holder was accepted, but its plan does not list that risk$/,
    ],
    [
      'the row that counts',
      history('unlock-changelog', {
        steps: [step({ kind: 'remove-lock-rows', database: release.database, schema: 'public', rows: [lockRow()] })],
        ...lockPlan,
      }),
      /^the run would remove the row with id 1/,
    ],
    [
      'another lock that it waits for',
      history('unlock-changelog', {
        steps: [stop, step(release), step({ kind: 'start-service', locks: [{ database: 'x', schema: 'y' }] })],
        ...lockPlan,
      }),
      /^the run waits until the lock of schema .* is free, but none of its steps changes that lock$/,
    ],
    [
      'a holding queue of others',
      reset(changed('move-messages', ({ moves }) => ({ moves: moves.map((it) => ({ ...it, holding: 'mine' })) }))),
      /^the queues that the run deletes differ from those whose messages it moves/,
      { broker },
    ],
    [
      'a queue that it declares with more',
      reset(
        changed('redeclare-queues', ({ queues }) => ({
          queues: queues.map((it) => ({
            ...it,
            queue: { ...it.queue, arguments: { ...it.queue.arguments, 'x-dead-letter-exchange': 'mine' } },
          })),
        })),
      ),
      /^the queues that the run redeclares do not match the queues that it deletes$/,
      { broker },
    ],
    [
      'a binding to another queue',
      reset(
        changed('redeclare-queues', ({ bindings }) => ({
          bindings: [...bindings, { ...binding, destination: 'mine', source: 'orders' }],
        })),
      ),
      /^the run changes a binding that reset-queues would leave unchanged: orders to mine$/,
      { broker },
    ],
    [
      'a binding from an exchange that is not there',
      reset(withBinding(resetSteps(), { ...binding, source: 'nowhere' }), ranTo('delete-queues')),
      /to exchange nowhere, but that exchange is missing$/,
      { broker: halfWay },
    ],
    [
      'a binding that is not there',
      reset(withBinding(resetSteps(), { ...binding, source: 'other' })),
      /^the binding of queue upload to other is missing, or differs from the saved record$/,
      {
        broker: fakeBroker({
          queues: [uploads],
          exchanges: [events, exchange({ name: 'other' })],
          bindings: [binding],
        }),
      },
    ],
    [
      'other arguments than the queue has',
      reset(),
      /^the declaration of queue upload differs from the saved record$/,
      { broker: fakeBroker({ queues: [{ ...uploads, arguments: {} }], exchanges: [events], bindings: [binding] }) },
    ],
    [
      'an argument that no queue has',
      reset(
        changed('delete-queues', ({ queues }) => ({
          queues: queues.map((it) => ({ ...it, queue: { ...it.queue, arguments: { evil: 1 } } })),
        })),
      ),
      /^(?!$)/,
      { broker },
    ],
    [
      'messages that are lost without a word',
      reset(changed('delete-queues', () => ({ discards: true }))),
      /^the plan of the run does not say correctly whether messages are lost$/,
      { broker },
    ],
    [
      'another exchange',
      reset(
        changed('switch-exchanges', ({ exchanges }) => ({
          exchanges: exchanges.map(({ from, to }) => ({ from, to: { ...to, type: 'fanout' } })),
        })),
      ),
      /^the run changes exchange events in a way that reset-queues never does/,
      { broker },
    ],
    [
      'another user to wait for',
      reset(changed('await-quiet', () => ({ user: 'nobody' }))),
      /^the run waits until user nobody is disconnected, but the service signs in to RabbitMQ as testops$/,
      { broker },
    ],
    [
      'sessions elsewhere',
      history('flush-sessions', {
        steps: [
          step(
            {
              kind: 'remove-sessions',
              store: 'other:6379/0',
              namespace: 'x',
              which: 'all',
              flush: true,
              counts: { sessions: 1, asOf: 1 },
            },
            { loses: 'them' },
          ),
        ],
      }),
      /^the run removes sessions at other:6379\/0/,
    ],
    [
      'keys that are no sessions',
      history('flush-sessions', {
        steps: [
          step(
            {
              kind: 'remove-sessions',
              store: 'redis.example.org:6379/0',
              namespace: 'orders',
              which: 'all',
              flush: false,
              counts: { sessions: 1, asOf: 1 },
            },
            { loses: 'them' },
          ),
        ],
      }),
      /^the run removes Redis keys under orders, but the sessions are under spring:session$/,
    ],
    [
      'a loss that it does not tell',
      history('flush-sessions', {
        steps: [
          step({
            kind: 'remove-sessions',
            store: 'redis.example.org:6379/0',
            namespace: 'spring:session',
            which: 'all',
            flush: false,
            counts: { sessions: 1, asOf: 1 },
          }),
        ],
      }),
      /^the plan does not say what may be lost in step 1 of the run$/,
    ],
    [
      'another address of the API',
      history('migrate-trees', {
        steps: [
          step(
            {
              kind: 'migrate-trees',
              api: 'https://evil.example.org',
              items: [{ project: 1, tree: null }],
              concurrency: 4,
            },
            { loses: 'x' },
          ),
        ],
      }),
      /^the run calls the API at https:\/\/evil\.example\.org/,
    ],
    [
      'a flood of calls',
      history('migrate-trees', {
        steps: [
          step(
            {
              kind: 'migrate-trees',
              api: 'https://testops.example.org',
              items: [{ project: 1, tree: null }],
              concurrency: 5000,
            },
            { loses: 'x' },
          ),
        ],
      }),
      /makes 5000 calls at a time/,
    ],
  ])('%s', async (_, it, said, sources = {}) => expect((await unfitOf(it, sources))[0]).toMatch(said))

  test('notes that an undo would write back elsewhere', async () => {
    const change = step({ kind: 'set-setting', name: 'VENDOR_RABBIT_DURABLE', from: 'false', to: 'true' })
    const noted = (was: string, is: string): RunHistory =>
      history('set-env', { steps: [change] }, [
        eventOf({ event: 'intent', step: 0 }),
        eventOf({
          event: 'noted',
          step: 0,
          note: `environment-file ${JSON.stringify({ path: '/etc/testops/testops.env', at: 7, was, is })}`,
        }),
      ])
    expect(await unfitOf(noted('fals', 'tru'))).toEqual([])
    expect(await unfitOf(noted('', 'VENDOR_RABBIT_DURABLE=true\n'))).toEqual([])
    for (const [was, is] of [
      ['false\nJAVA_TOOL_OPTIONS=-javaagent:x', 'true'],
      [' -javaagent:x', ''],
      ['z', 'true'],
    ] as const) {
      expect(await unfitOf(noted(was, is))).toEqual([
        'undoing the run would change more than VENDOR_RABBIT_DURABLE in a file',
      ])
    }
  })

  test.each([
    'A=1\nVENDOR_RABBIT_DURABLE=false\nVENDOR_RABBIT_X=1\n',
    'VENDOR_RABBIT_DURABLE=false\n',
    'A=1\nexport VENDOR_RABBIT_DURABLE="false"\nexport B=2\n',
    'VENDOR_RABBIT_DURABLE=false\nVENDOR_RABBIT_DURABLE_2=false\n',
  ])('the note of a removal from %j fits', async (text) => {
    const without = text
      .split('\n')
      .filter((line) => !/VENDOR_RABBIT_DURABLE=/.test(line))
      .join('\n')
    const note = traceOf('/etc/testops/testops.env', Buffer.from(text), Buffer.from(without))!
    const removal = step({ kind: 'set-setting', name: 'VENDOR_RABBIT_DURABLE', from: 'false', to: null })
    expect(
      unfitNotes(planOf({ repair: 'set-env', steps: [removal] }), [eventOf({ event: 'noted', step: 0, note })]),
    ).toEqual([])
  })
})

test('what cannot be compared neither fits nor does not', async () => {
  expect(await unfitOf({ record: recordOf(), events: [] }, { database: unreachable('database') })).toBe('UNREACHABLE')
  expect(await unfitOf(reset(), { broker: unreachable('broker') })).toBe('UNREACHABLE')
})

test('names of settings are those of the service', async () => {
  const service = fakeService({ environment: new Map([['ALLURE_RABBIT_DURABLE', 'false']]) })
  const of = (name: string): RunHistory =>
    history('set-env', { steps: [step({ kind: 'set-setting', name, from: 'false', to: 'true' })] })
  expect(await unfitOf(of('ALLURE_RABBIT_DURABLE'), { service })).toEqual([])
})

describe('a note that is none of its step is damage', () => {
  const place = { where: 'memory', look: [] }
  test.each<[what: string, Action, note: string]>([
    [
      'no JSON',
      resetSteps()[0]!.action.kind === 'hold-queues'
        ? resetSteps().find(({ action }) => action.kind === 'move-messages')!.action
        : stop.action,
      '{',
    ],
    [
      'counts that are none',
      resetSteps().find(({ action }) => action.kind === 'move-messages')!.action,
      '{"event":"moved","direction":"aside","attempt":"0","queues":{"q":null}}',
    ],
    [
      'a range that never ends',
      { kind: 'migrate-trees', api: 'x', items: [], concurrency: 1 },
      '{"event":"answered","accepted":[],"failed":[],"asking":[[0,1e300]]}',
    ],
    [
      'bindings that are none',
      resetSteps().find(({ action }) => action.kind === 'switch-exchanges')!.action,
      '[{"source":1}]',
    ],
    ['a word where none is written', start.action, 'replicas deployments/x/y 3'],
    ['too many replicas', stop.action, 'replicas deployments/x/y 99999'],
  ])('%s', (_, action, note) => {
    const record = parseRecord({ ...recordOf({ plan: planOf({ steps: [step(action)] }) }) }, recordOf().run, place)
    const lines = [eventOf({ event: 'intent', step: 0 }), eventOf({ event: 'noted', step: 0, note })]
    expect(() => parseEvents(lines, record, place, (index) => `line ${index + 1}`)).toThrow(AdminError)
  })
})
