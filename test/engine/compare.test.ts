import { describe, expect, test } from 'vitest'
import { readOnly } from '../../src/cli/repair/compare-record.ts'
import type { ActionKind } from '../../src/core/action.ts'
import type { Plan, Step } from '../../src/core/plan.ts'
import type { RunEvent } from '../../src/core/run.ts'
import { notesOfStep, progressOf } from '../../src/core/run-state.ts'
import { differingFrom } from '../../src/engine/compare.ts'
import { redone } from '../../src/engine/compare.ts'
import type { Compared, Differing } from '../../src/engine/compare.ts'
import { brokerWorld, fakeDeployment } from '../fakes/index.ts'
import { plans } from '../fuzz/readers/records.ts'
import { eventOf, runOf, planOf, recordOf } from './repairing.ts'

const step = (action: Step['action']): Step => ({ title: action.kind, action, interrupts: false })
const reset = (kind: ActionKind): Step =>
  plans.flatMap(({ steps }) => steps).find(({ action }) => action.kind === kind)!
const [quiet, drain, hold] = [reset('await-quiet'), reset('drain-queues'), reset('hold-queues')]
const trees = step({
  kind: 'migrate-trees',
  api: 'https://testops.example.org',
  items: [
    { project: 1, tree: null },
    { project: 2, tree: null },
  ],
  concurrency: 1,
})
const [stop, release, start] = planOf().steps

const begun = (at: number): RunEvent => eventOf({ event: 'intent', step: at })
const done = (at: number): RunEvent[] => [begun(at), eventOf({ event: 'done', step: at, durationMs: 1 })]
const answered = (at: number): RunEvent =>
  eventOf({ event: 'noted', step: at, note: '{"event":"answered","accepted":[0,1],"failed":[]}' })

/** Of which the first events are of this machine, and the rest of others. */
async function comparedOf(
  steps: readonly Step[],
  own: readonly RunEvent[],
  theirs: readonly RunEvent[],
  of: { isAdopted?: boolean; deployment?: ReturnType<typeof fakeDeployment> } = {},
): Promise<Compared & { plan: Plan }> {
  const { isAdopted = false, deployment = fakeDeployment() } = of
  const plan = planOf({ steps })
  const history = { record: recordOf({ plan }), events: [...own, ...theirs] }
  return {
    ...(await differingFrom({
      ...runOf(deployment, history, readOnly),
      foreign: { events: theirs.length, isAdopted },
    })),
    plan,
  }
}

const said = ({ differing }: { differing: readonly Differing[] }): string[] =>
  differing.map(({ step: at, recorded, shown }) => `${at}: ${recorded}, ${shown}`)

describe('what others have written', () => {
  test('of a step that nothing shows is performed again, and so is the start after a stop', async () => {
    const { differing, repeated, plan } = await comparedOf([drain, quiet], [], [...done(0), ...done(1)])
    expect([differing, [...repeated]]).toEqual([[], [0, 1]])
    const events = redone(
      {
        record: { plan: planOf({ steps: [stop!, drain, start!] }) },
        events: done(0),
        by: 'op@bastion',
        foreign: { events: 2, isAdopted: false },
      },
      new Set([0]),
    )
    expect(events).toMatchObject([
      { event: 'redo', step: 0, since: 0 },
      { event: 'redo', step: 2, since: 0 },
    ])
    expect(plan.steps).toHaveLength(2)
  })

  test('of this machine is believed where nothing shows it', async () => {
    expect((await comparedOf([drain, quiet], [...done(0), ...done(1)], [])).repeated.size).toBe(0)
  })

  test.each([
    ['at once', []],
    ['after a begin of this machine', [begun(0)]],
  ])('does not end a migration, %s', async (_, own) => {
    const compared = await comparedOf([trees], own, [
      ...(own.length > 0 ? [] : [begun(0)]),
      answered(0),
      eventOf({ event: 'done', step: 0, durationMs: 1 }),
      eventOf({ event: 'ended', outcome: 'done' }),
    ])
    expect(said(compared)).toEqual(['0: was run on another machine and the service answered it, no sign of an answer'])
  })

  test('of an adopted migration was accepted with the run', async () => {
    expect(
      said(
        await comparedOf([trees], [], [begun(0), answered(0), eventOf({ event: 'done', step: 0, durationMs: 1 })], {
          isAdopted: true,
        }),
      ),
    ).toEqual([])
  })

  test.each<[what: string, own: RunEvent[], theirs: RunEvent[], differs: RegExp]>([
    [
      'to go back',
      [...done(0), begun(1)],
      [eventOf({ event: 'undo-intent', step: 0 })],
      /^null: is being undone, is being applied$/,
    ],
    [
      'to go forward',
      [...done(0), begun(1), eventOf({ event: 'undo-intent', step: 1 })],
      [begun(1)],
      /^null: is being applied, is being undone$/,
    ],
    [
      'to perform steps again',
      [...done(0)],
      [eventOf({ event: 'redo', step: 0, since: 0 })],
      /^null: repeats steps, repeats no steps$/,
    ],
  ])('does not turn a run %s', async (_, own, theirs, differs) => {
    const deployment = fakeDeployment({ service: 'stopped' })
    expect(said(await comparedOf([stop!, release!, start!], own, theirs, { deployment }))).toContainEqual(
      expect.stringMatching(differs),
    )
  })

  test('that a queue was given back is asked of the broker', async () => {
    const name = hold.action.kind === 'hold-queues' ? hold.action.moves[0]!.holding : ''
    const undone = [eventOf({ event: 'undo-intent', step: 0 }), eventOf({ event: 'undone', step: 0 })]
    const standing = fakeDeployment({
      broker: brokerWorld({ queues: [{ name, durable: true, arguments: { 'x-queue-type': 'classic' } }] }),
    })
    expect(said(await comparedOf([hold], done(0), undone, { deployment: standing }))).toContain(
      '0: is undone, that it is not undone',
    )
    expect(said(await comparedOf([hold], done(0), undone)).filter((it) => it.startsWith('0:'))).toEqual([])
  })
})

describe('a step that is performed again', () => {
  const events = [begun(0), answered(0), eventOf({ event: 'done', step: 0, durationMs: 1 })]

  test('is not done, and what others noted of it counts no more', () => {
    const all = [...events, eventOf({ event: 'redo', step: 0, since: 1 })]
    expect([progressOf(all).done.size, progressOf(all).touched, notesOfStep(all, 0)]).toEqual([0, [0], []])
    expect(notesOfStep([...all, answered(0)], 0)).toHaveLength(1)
  })

  test('keeps what this machine noted of it', () => {
    expect(notesOfStep([...events, eventOf({ event: 'redo', step: 0, since: 3 })], 0)).toHaveLength(1)
  })

  test('is taken back, where its undoing was not true', () => {
    const all = [...events, eventOf({ event: 'undo-intent', step: 0 }), eventOf({ event: 'undone', step: 0 })]
    expect(progressOf(all).touched).toEqual([])
    expect(progressOf([...all, eventOf({ event: 'redo', step: 0, since: 5 })]).touched).toEqual([0])
  })
})
