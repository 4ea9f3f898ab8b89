import { describe, expect, test } from 'vitest'
import type { RunEvent, RunRecord } from '../../src/core/run.ts'
import { faultOfPlan, parseEvents, parseRecord } from '../../src/core/run-record.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { eventOf, planOf, recordOf, run } from '../engine/repairing.ts'

const place = { where: '/runs/run.json', look: ['ls -l /runs'] }
const head = `UNEXPECTED_ANSWER the saved record of run ${run} in /runs/run.json`

const asRead = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? 'null')
const record = async (value: unknown): Promise<RunRecord> => parseRecord(asRead(value), run, place)
const events = async (...values: unknown[]): Promise<RunEvent[]> =>
  parseEvents(values.map(asRead), recordOf(), place, (index) => `line ${index + 1}`)

test('a record is read as it was written', async () => {
  const written = recordOf({ acceptedRisks: ['live-holder'], plan: planOf({ expectedMs: [12, null, 3] }) })
  expect(await record(written)).toEqual(written)
})

describe('a record that is not whole is refused', () => {
  const by = `${head} (begun with testops-admin 0.1.0)`
  test.each<[what: string, value: unknown, said: string]>([
    ['no object', null, `${head} is damaged: record is not an object`],
    ['a list', [], `${head} is damaged: record is not an object`],
    ['cut short', { run }, `${head} is damaged: record.schemaVersion is missing`],
    [
      'a later form',
      { ...recordOf(), schemaVersion: 2, program: '3.1.0' },
      `${head} (begun with testops-admin 3.1.0) has a format that this version of testops-admin cannot read: ` +
        'record.schemaVersion is 2; allowed: 1',
    ],
    [
      'a key of a later version',
      { ...recordOf(), program: '3.1.0', budget: 7 },
      `${head} (begun with testops-admin 3.1.0) has a format that this version of testops-admin cannot read: ` +
        'record has an unknown key: budget',
    ],
    [
      'another run',
      recordOf({ run: '20261121T021244Z-unlock-changelog-ffff' }),
      `${by} is damaged: it names another run, 20261121T021244Z-unlock-changelog-ffff`,
    ],
    ['no plan', { ...recordOf(), plan: undefined }, `${by} is damaged: record.plan is missing`],
    [
      'a key that is named like a fault of another form',
      { ...recordOf(), plan: { ...planOf(), impact: { 'not known': -1 } } },
      `${by} is damaged: record.plan.impact.not known is neither 0 nor a positive number`,
    ],
    ['no date', recordOf({ startedAt: 'yesterday' }), `${by} is damaged: record.startedAt is not a time`],
    [
      'risks that are no names',
      { ...recordOf(), acceptedRisks: [1] },
      `${by} is damaged: record.acceptedRisks[0] is not text`,
    ],
    [
      'a repair of a later version',
      { ...recordOf(), plan: { ...planOf(), repair: 'paint-it-black' } },
      `${by} has a format that this version of testops-admin cannot read: record.plan.repair is ` +
        '"paint-it-black"; allowed: "unlock-changelog"',
    ],
    [
      'an action of a later version',
      {
        ...recordOf(),
        plan: planOf({ steps: [{ title: 'x', action: { kind: 'paint' } as never, interrupts: false }] }),
      },
      `${by} has a format that this version of testops-admin cannot read: record.plan.steps[0].action has the ` +
        'unknown kind "paint"',
    ],
    [
      'an action that is not a kind of its own',
      {
        ...recordOf(),
        plan: planOf({ steps: [{ title: 'x', action: { kind: 'constructor' } as never, interrupts: false }] }),
      },
      `${by} has a format that this version of testops-admin cannot read: record.plan.steps[0].action has the ` +
        'unknown kind "constructor"',
    ],
    [
      'an action without what it works on',
      {
        ...recordOf(),
        plan: planOf({
          steps: [{ title: 'x', action: { kind: 'insert-lock-row', schema: 'public' } as never, interrupts: false }],
        }),
      },
      `${by} is damaged: record.plan.steps[0].action.database is missing`,
    ],
  ])('%s', async (_, value, said) =>
    expect((await failureOf(record(value)))?.replace(/(allowed: "unlock-changelog").*/, '$1')).toBe(said),
  )

  test('and it is said with which version it is resumed', async () => {
    await expect(record({ ...recordOf(), schemaVersion: 2, program: '3.1.0' })).rejects.toMatchObject({
      suggestions: [
        'ls -l /runs',
        'testops-admin --version   # shows the version of this program; resume the run with 3.1.0, or with the ' +
          'newest version that has resumed it since',
      ],
    })
    await expect(record({ run })).rejects.toMatchObject({ suggestions: ['ls -l /runs'] })
  })
})

describe('events', () => {
  const error = { code: 'REFUSED' as const, message: 'no', suggestions: [] }

  test.each<[what: string, all: RunEvent[]]>([
    ['none', []],
    [
      'a whole run',
      [
        eventOf({ event: 'copied' }),
        eventOf({ event: 'intent', step: 0 }),
        eventOf({ event: 'done', step: 0, durationMs: 3 }),
        eventOf({ event: 'done', step: 1, durationMs: 3, already: true }),
        eventOf({ event: 'ended', outcome: 'done', verification: { 'service/running': 'ok' } }),
      ],
    ],
    [
      'killed, and found done',
      [eventOf({ event: 'intent', step: 0 }), eventOf({ event: 'done', step: 0, durationMs: 3, already: true })],
    ],
    [
      'failed, and tried again',
      [
        eventOf({ event: 'intent', step: 0 }),
        eventOf({ event: 'failed', step: 0, error }),
        eventOf({ event: 'ended', outcome: 'failed' }),
        eventOf({ event: 'intent', step: 0 }),
        eventOf({ event: 'done', step: 0, durationMs: 3 }),
      ],
    ],
    [
      'taken back',
      [
        eventOf({ event: 'intent', step: 0 }),
        eventOf({ event: 'undo-intent', step: 0 }),
        eventOf({ event: 'undone', step: 0 }),
        eventOf({ event: 'ended', outcome: 'undone' }),
      ],
    ],
    [
      'an undo that was refused',
      [
        eventOf({ event: 'intent', step: 0 }),
        eventOf({ event: 'undo-intent', step: 0 }),
        eventOf({ event: 'undo-failed', step: 0, error }),
      ],
    ],
  ])('%s is read as it was written', async (_, all) => expect(await events(...all)).toEqual(all))

  test.each<[what: string, all: unknown[], said: string]>([
    ['no event', ['x'], 'is damaged: line 1: it contains no event'],
    ['a line of something else', [{ level: 'info' }], 'is damaged: line 1: it contains no event'],
    [
      'an event of a later version',
      [eventOf({ event: 'copied' }), { ...eventOf({ event: 'copied' }), event: 'painted' }],
      'has a format that this version of testops-admin cannot read: line 2: unknown event painted',
    ],
    [
      'a key of a later version',
      [{ ...eventOf({ event: 'copied' }), why: 'x' }],
      'has a format that this version of testops-admin cannot read: line 1: event has an unknown key: why',
    ],
    ['no time', [{ ...eventOf({ event: 'copied' }), at: 'now' }], 'is damaged: line 1: event.at is not a time'],
    ['nobody', [{ ...eventOf({ event: 'copied' }), by: undefined }], 'is damaged: line 1: event.by is missing'],
    [
      'a step that the plan has not',
      [eventOf({ event: 'intent', step: 3 })],
      'is damaged: line 1: an event names step 4, but the plan has only 3 steps',
    ],
    [
      'a note of a later version',
      [eventOf({ event: 'intent', step: 0 }), eventOf({ event: 'noted', step: 0, note: '{"event":"newer"}' })],
      'has a format that this version of testops-admin cannot read: line 2: step 1: the details ' +
        'saved for a `stop-service` step have an unknown format',
    ],
    [
      'half a step',
      [eventOf({ event: 'intent', step: 0.5 })],
      'is damaged: line 1: an event names step 1.5, but the plan has only 3 steps',
    ],
    [
      'an outcome without its intent',
      [eventOf({ event: 'done', step: 0, durationMs: 1 })],
      'is damaged: line 1: step 1 is recorded as done, but without a matching start',
    ],
    [
      'the outcome of another step',
      [eventOf({ event: 'intent', step: 0 }), eventOf({ event: 'done', step: 1, durationMs: 1 })],
      'is damaged: line 2: step 2 is recorded as done, but without a matching start',
    ],
    [
      'a failure without its intent',
      [eventOf({ event: 'failed', step: 0, error })],
      'is damaged: line 1: step 1 is recorded as failed, but without a matching start',
    ],
    [
      'taken back without its intent',
      [eventOf({ event: 'undone', step: 0 })],
      'is damaged: line 1: the undo of step 1 is recorded as done, but without a matching start',
    ],
    [
      'an end of a later version',
      [{ ...eventOf({ event: 'ended', outcome: 'done' }), outcome: 'postponed' }],
      'has a format that this version of testops-admin cannot read: line 1: event.outcome is "postponed"; ' +
        'allowed: "done", "failed", "refused", "interrupted", "undone"',
    ],
  ])('%s is refused', async (_, all, said) =>
    expect(await failureOf(events(...all))).toBe(`${head} (begun with testops-admin 0.1.0) ${said}`),
  )
})

test('a plan that was saved is read as strictly', () => {
  expect(faultOfPlan(asRead(planOf()))).toBeNull()
  expect(faultOfPlan(undefined)).toBe('plan is not an object')
  expect(faultOfPlan({ ...planOf(), steps: [{}] })).toBe('plan.steps[0].title is missing')
  expect(faultOfPlan({ ...planOf(), impact: { locksReleased: -1 } })).toBe(
    'plan.impact.locksReleased is neither 0 nor a positive number',
  )
})
