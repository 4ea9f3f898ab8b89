import { describe, expect, test } from 'vitest'
import type { Action } from '../../src/core/action.ts'
import type { Plan } from '../../src/core/plan.ts'
import { hashOf } from '../../src/engine/carry-out.ts'
import { canonical, refuseIfStale } from '../../src/engine/plan.ts'
import { planOf } from './repairing.ts'

const [stop, release, start] = planOf().steps as [Plan['steps'][number], Plan['steps'][number], Plan['steps'][number]]
const risk = { name: 'live-holder', message: 'the holder is alive', proof: [] }
const released = release.action as Extract<Action, { kind: 'release-lock' }>

describe('a plan that would be another one now is refused', () => {
  test.each<[what: string, now: Plan, parts: string]>([
    [
      'another database',
      planOf({ target: { database: 'db2.example.org:5432/testops, PostgreSQL 15.8' } }),
      'its target',
    ],
    ['a newer server', planOf({ target: { database: 'db.example.org:5432/testops, PostgreSQL 16.1' } }), 'its target'],
    [
      'a lock that has changed hands',
      planOf({
        steps: [stop, { ...release, action: { ...released, row: { ...released.row, lockedBy: 'testops-2' } } }, start],
      }),
      'its steps',
    ],
    ['a step more', planOf({ steps: [stop, release, start, start] }), 'its steps'],
    ['nothing left to do', planOf({ steps: [] }), 'its steps'],
    ['a holder that lives now', planOf({ risks: [risk] }), 'its risks'],
    [
      'other options, and another target',
      planOf({ options: { restart: false, schema: null }, target: {} }),
      'its target, its options',
    ],
  ])('%s', (_, now, parts) => {
    expect(() => refuseIfStale(planOf(), now)).toThrow(
      `the deployment has changed since the plan was made: a new plan would differ in ${parts}`,
    )
    try {
      refuseIfStale(planOf(), now)
    } catch (error) {
      expect(error).toMatchObject({
        code: 'REFUSED',
        exitCode: 4,
        suggestions: ['testops-admin unlock-changelog -d {deployment} --dry-run'],
      })
    }
  })
})

describe('what moves by itself makes no plan stale', () => {
  test.each<[what: string, seen: Plan, now: Plan]>([
    ['the same', planOf(), planOf()],
    ['keys in another order', planOf({ target: { a: '1', b: '2' } }), planOf({ target: { b: '2', a: '1' } })],
    [
      'whether a service that fails is just up',
      planOf(),
      planOf({
        steps: [{ ...stop, action: { kind: 'stop-service', wasRunning: false }, interrupts: false }, release, start],
      }),
    ],
    [
      'evidence, notes and figures',
      planOf(),
      planOf({ evidence: ['x'], notes: ['y'], impact: { locksReleased: 2 }, expectedMs: [1, 2, 3] }),
    ],
    [
      'what the risk is said to be',
      planOf({ risks: [risk] }),
      planOf({ risks: [{ ...risk, message: 'the holder is alive: pid 7, since 5 s' }] }),
    ],
  ])('%s', (_, seen, now) => expect(() => refuseIfStale(seen, now)).not.toThrow())
})

describe('messages that are thrown away', () => {
  const discarding = (messages: number, discards = true): Plan =>
    planOf({
      repair: 'reset-queues',
      steps: [
        {
          title: 'delete the queues',
          action: { kind: 'delete-queues', queues: [], bindings: [], discards, counts: { messages } },
          interrupts: false,
        },
      ],
    })

  test.each([
    [discarding(5), discarding(5)],
    [discarding(5), discarding(4)],
    [discarding(5, false), discarding(10_000, false)],
  ])('may become fewer', (seen, now) => expect(() => refuseIfStale(seen, now)).not.toThrow())

  test('but not more', () =>
    expect(() => refuseIfStale(discarding(5), discarding(6))).toThrow(
      'the repair would now lose 6 messages; when the plan was made, it would have lost 5',
    ))

  test('and are part of what a saved plan is known by', () =>
    expect(hashOf(discarding(5))).not.toBe(hashOf(discarding(6))))
})

test('equal values have one text, whatever the order of their keys', () => {
  expect(canonical({ b: [{ d: 1, c: null }], a: 'x', counts: { messages: 5 } })).toBe(
    '{"a":"x","b":[{"c":null,"d":1}]}',
  )
})

test('the hash of a plan is of all that was confirmed', () => {
  expect(hashOf(planOf())).toMatch(/^[0-9a-f]{64}$/)
  expect(hashOf(planOf())).toBe(hashOf(JSON.parse(JSON.stringify(planOf())) as Plan))
  expect(hashOf(planOf({ steps: [stop, start] }))).not.toBe(hashOf(planOf()))
})
