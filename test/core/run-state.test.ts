import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../src/core/run.ts'
import { isUnfinished, progressOf, runState, undoCommand } from '../../src/core/run-state.ts'
import { eventOf, recordOf } from '../engine/repairing.ts'

const refused = { code: 'REFUSED' as const, message: 'the lock has changed hands', suggestions: [] }
const lost = { code: 'UNREACHABLE' as const, message: 'refused the connection', suggestions: [] }
const intent = (step: number): RunEvent => eventOf({ event: 'intent', step })
const done = (step: number): RunEvent => eventOf({ event: 'done', step, durationMs: 1 })
const already = (step: number): RunEvent => eventOf({ event: 'done', step, durationMs: 1, already: true })
const back = (step: number): RunEvent[] => [eventOf({ event: 'undo-intent', step }), eventOf({ event: 'undone', step })]
const ended = (outcome: Extract<RunEvent, { event: 'ended' }>['outcome']): RunEvent =>
  eventOf({ event: 'ended', outcome })
const step = (index: number): RunEvent[] => [intent(index), done(index)]
const all = [...step(0), ...step(1), ...step(2)]

describe.each<[what: string, events: RunEvent[], state: string, way: 'forward' | 'back', touched: number[]]>([
  ['just begun', [], 'unfinished, 0 of 3', 'forward', []],
  ['within a step', [...step(0), intent(1)], 'unfinished, 1 of 3, within release the lock', 'forward', [0, 1]],
  ['all done, and killed before its end', all, 'unfinished, 3 of 3', 'forward', [0, 1, 2]],
  ['done', [...all, ended('done')], 'done, 3 of 3', 'forward', [0, 1, 2]],
  ['found done', [already(0), ...step(1), already(2), ended('done')], 'done, 3 of 3', 'forward', [1]],
  ['killed, and found done', [intent(0), already(0)], 'unfinished, 1 of 3', 'forward', [0]],
  ['all done, and the checks are not content', [...all, ended('failed')], 'failed, 3 of 3', 'forward', [0, 1, 2]],
  ['failed before it touched anything', [ended('failed')], 'failed, 0 of 3', 'forward', []],
  ['interrupted before it touched anything', [ended('interrupted')], 'interrupted, 0 of 3', 'forward', []],
  ['refused', [ended('refused')], 'refused, 0 of 3', 'forward', []],
  ['interrupted half way', [...step(0), ended('interrupted')], 'unfinished, 1 of 3', 'forward', [0]],
  [
    'failed half way',
    [...step(0), intent(1), eventOf({ event: 'failed', step: 1, error: lost }), ended('failed')],
    'unfinished, 1 of 3, within release the lock',
    'forward',
    [0, 1],
  ],
  [
    'gone on with',
    [...step(0), ended('interrupted'), intent(1)],
    'unfinished, 1 of 3, within release the lock',
    'forward',
    [0, 1],
  ],
  [
    'being taken back',
    [...all, ended('done'), eventOf({ event: 'undo-intent', step: 1 })],
    'unfinished, 3 of 3',
    'back',
    [0, 1, 2],
  ],
  ['half taken back', [...all, ended('done'), ...back(1)], 'unfinished, 2 of 3', 'back', [0, 2]],
  [
    'taken back half way, with an end',
    [...step(0), ...step(1), ...back(1), ended('interrupted')],
    'unfinished, 1 of 3',
    'back',
    [0],
  ],
  [
    'an undo that failed',
    [
      ...all,
      ended('done'),
      eventOf({ event: 'undo-intent', step: 1 }),
      eventOf({ event: 'undo-failed', step: 1, error: lost }),
      ended('failed'),
    ],
    'unfinished, 3 of 3',
    'back',
    [0, 1, 2],
  ],
  [
    'an undo that was refused',
    [
      ...all,
      ended('done'),
      eventOf({ event: 'undo-intent', step: 1 }),
      eventOf({ event: 'undo-failed', step: 1, error: refused }),
      ended('done'),
    ],
    'done, 3 of 3',
    'forward',
    [0, 1, 2],
  ],
  [
    'an undo of what was half done that was refused',
    [
      ...step(0),
      intent(1),
      eventOf({ event: 'undo-intent', step: 1 }),
      eventOf({ event: 'undo-failed', step: 1, error: refused }),
      ended('interrupted'),
    ],
    'unfinished, 1 of 3, within release the lock',
    'forward',
    [0, 1],
  ],
  [
    'an undo that was refused half way',
    [
      ...all,
      ended('done'),
      ...back(1),
      eventOf({ event: 'undo-intent', step: 0 }),
      eventOf({ event: 'undo-failed', step: 0, error: refused }),
      ended('interrupted'),
    ],
    'unfinished, 2 of 3',
    'back',
    [0, 2],
  ],
  ['taken back', [...all, ended('done'), ...back(1), ...back(0), ended('undone')], 'undone, 1 of 3', 'back', [2]],
  [
    'half taken back, and gone forward again',
    [...step(0), ...back(0), intent(0)],
    'unfinished, 0 of 3, within stop the service',
    'forward',
    [0],
  ],
  [
    'copied again after its end',
    [...all, ended('done'), eventOf({ event: 'copied' })],
    'done, 3 of 3',
    'forward',
    [0, 1, 2],
  ],
])('%s', (_, events, state, way, touched) => {
  const history = { record: recordOf(), events }

  test('is told', () => {
    const told = runState(history)
    expect(`${told.state}, ${told.done} of ${told.steps}${told.within === null ? '' : `, within ${told.within}`}`).toBe(
      state,
    )
    expect(isUnfinished(history)).toBe(told.state === 'unfinished')
  })

  test('is gone on with', () => {
    const progress = progressOf(events)
    expect(progress.isGoingBack ? 'back' : 'forward').toBe(way)
    expect(progress.touched).toEqual(touched)
  })
})

test('whether there is a copy is on record', () => {
  expect(progressOf([]).isCopied).toBe(false)
  expect(progressOf([eventOf({ event: 'copied' }), intent(0)]).isCopied).toBe(true)
})

test.each<[what: string, events: RunEvent[], isAtStart: true | undefined]>([
  [
    'all before the start is done',
    [...step(0), ...step(1), intent(2), eventOf({ event: 'failed', step: 2, error: lost }), ended('failed')],
    true,
  ],
  ['another step was begun last', [...step(0), intent(1)], undefined],
  ['the start has an outcome', all, undefined],
  ['it goes back', [...all, ended('done'), eventOf({ event: 'undo-intent', step: 2 })], undefined],
])('that only the start of the service is left is told where %s', (_, events, isAtStart) => {
  expect(runState({ record: recordOf(), events }).isAtStart).toBe(isAtStart)
})

test('a run of which nothing can be taken back says so', () => {
  const { plan } = recordOf()
  const lossy = recordOf({ plan: { ...plan, steps: plan.steps.map((it) => ({ ...it, loses: 'what was there' })) } })
  expect([recordOf(), lossy].map((record) => runState({ record, events: [] }).onlyCloses)).toEqual([undefined, true])
  expect(undoCommand({ run: 'x', onlyCloses: true })).toBe(
    'testops-admin undo x -d {deployment}   # closes the run without undoing its changes',
  )
})
