import { describe, expect, test } from 'vitest'
import { discardIn } from '../../../src/cli/repair/discard-record.ts'
import type { RepairFlags } from '../../../src/cli/repair/flags.ts'
import { refuseIfUnfinished, runsOf } from '../../../src/cli/repair/list-runs.ts'
import { resumeIn, undoIn } from '../../../src/cli/repair/resume-run.ts'
import { repairIn } from '../../../src/cli/repair/run-repair.ts'
import { AdminError } from '../../../src/core/error.ts'
import type { ActionKind } from '../../../src/core/action.ts'
import type { RunEvent, RunHistory } from '../../../src/core/run.ts'
import {
  binding,
  discarding,
  events as exchange,
  history,
  reset,
  resetSteps,
  setting,
  start,
  step,
  stop,
  uploads,
} from '../../domain/foreign-run/records.ts'
import { eventOf, free, machine, passing, stuck } from '../../engine/repairing.ts'
import { brokerWorld, fakeDeployment, fakeRunStore } from '../../fakes/index.ts'
import { adopting, flags, operator, saidBy, wish } from './session.ts'
import type { Operator } from './session.ts'

type Ending = [code: number, message: string]

async function ended(
  work: () => Promise<{ exitCode: number; document: { error?: { message: string } } } | null | void>,
): Promise<Ending> {
  let end: Ending = [0, '']
  await saidBy(async () => {
    try {
      const performed = await work()
      end = [performed?.exitCode ?? 0, performed?.document.error?.message ?? '']
    } catch (error) {
      if (!(error instanceof AdminError)) throw error
      end = [error.exitCode, error.message]
    }
  })
  return end
}

const anyway: Partial<RepairFlags> = { confirm: 'prod', 'accept-risk': ['foreign-run', 'unproven-holder'] }
const resumed = async (
  of: Operator,
  name: string,
  { adopt = false, failpoint = of.session.failpoint, more = {} } = {},
): Promise<Ending> =>
  ended(() =>
    resumeIn(
      { ...of.session, failpoint },
      { ...flags, ...(adopt && anyway), ...more },
      { run: name, adopt, words: [] },
    ),
  )
const undone = async (
  of: Operator,
  name: string,
  { failpoint = of.session.failpoint, more = {} } = {},
): Promise<Ending> => ended(() => undoIn({ ...of.session, failpoint }, { ...flags, ...more }, name, []))

/** Killed there; gives the points that were reached. */
async function until(
  point: string | undefined,
  work: (failpoint: (name: string) => Promise<void>) => Promise<unknown>,
): Promise<string[]> {
  const { failpoint, killed, reached } = passing(point)
  await saidBy(() => Promise.race([killed, work(failpoint)]))
  return reached
}

async function unlockKilledAt(point: string): Promise<{ of: Operator; name: string }> {
  const of = operator()
  await until(point, (failpoint) => repairIn({ ...of.session, failpoint }, flags, wish))
  return { of, name: [...of.journals.here.kept.keys()][0]! }
}

/** An operator with a run of that record that has done nothing yet. */
function withRun({ record }: RunHistory): Operator {
  const broker = brokerWorld({
    queues: [
      { ...uploads, consumers: 0 },
      { name: 'export', durable: true },
    ],
    exchanges: [exchange],
    bindings: [binding],
  })
  const deployment = fakeDeployment({ broker })
  deployment.settings.set(setting.name, setting.from)
  const of = operator({ deployment, journals: machine() })
  of.journals.here.kept.set(record.run, [record])
  of.journals.deployment.kept.set(record.run, [record])
  return of
}

const { run } = reset().record

async function resetKilledAt(point: string): Promise<Operator> {
  const of = withRun(reset())
  await until(point, (failpoint) => resumed(of, run, { failpoint }))
  return of
}

const at = (kind: ActionKind): number => resetSteps().findIndex(({ action }) => action.kind === kind)
const copyOf = ({ journals }: Operator, name: string): unknown[] => journals.deployment.kept.get(name)!
const elsewhere = ({ deployment, journals }: Operator): Operator =>
  operator({ deployment, journals: machine(journals.deployment, fakeRunStore('another machine')) })
const isAsMade = ({ deployment }: Operator): object => ({
  service: deployment.service,
  ...deployment.broker.snapshot(),
  set: deployment.settings.get(setting.name),
})
const refusal = eventOf({ event: 'undo-failed', step: 0, error: { code: 'REFUSED', message: 'x', suggestions: [] } })
const already = (of: number): RunEvent => eventOf({ event: 'done', step: of, durationMs: 1, already: true })
const end = (outcome: 'done' | 'refused' | 'undone'): RunEvent => eventOf({ event: 'ended', outcome })
const noted = (kind: ActionKind, note: unknown): RunEvent =>
  eventOf({ event: 'noted', step: at(kind), note: JSON.stringify(note) })

describe('an end that others have written', () => {
  test.each(['done', 'refused', 'undone'] as const)('ends no run of this machine: %s', async (outcome) => {
    const { of, name } = await unlockKilledAt('stop-service:after')
    copyOf(of, name).push(end(outcome))
    expect((await runsOf(of.session)).runs).toMatchObject([{ state: 'unfinished' }])
    expect(await resumed(of, name)).toEqual([0, ''])
    expect([of.deployment.service, of.deployment.rows]).toEqual(['running', [free]])
    expect((await runsOf(of.session)).runs).toMatchObject([{ state: 'done' }])
  })

  test('ends none that holds messages', async () => {
    const of = await resetKilledAt('switch-exchanges:intended')
    copyOf(of, run).push(end('done'))
    expect(await resumed(of, run)).toEqual([0, ''])
    expect(isAsMade(of)).toMatchObject({ service: 'running', queues: ['export true 0', 'upload true 4'] })
  })

  test('leaves an undo with all that there is to take back', async () => {
    const of = await resetKilledAt('switch-exchanges:intended')
    copyOf(of, run).push(end('undone'))
    expect(await undone(of, run)).toEqual([0, ''])
    expect(isAsMade(of)).toMatchObject({
      service: 'running',
      queues: ['export true 0', 'upload false 4'],
      set: 'false',
    })
  })

  test('counts no more after a kill at once', async () => {
    const { of, name } = await unlockKilledAt('stop-service:after')
    copyOf(of, name).push(end('done'))
    await until('release-lock:before', (failpoint) => resumed(of, name, { failpoint }))
    expect((await runsOf(of.session)).runs).toMatchObject([{ state: 'unfinished' }])
    const other = elsewhere(of)
    copyOf(of, name).push(end('done'))
    await until('adopt:here', (failpoint) => resumed(other, name, { adopt: true, failpoint }))
    expect((await runsOf(other.session)).runs).toMatchObject([{ state: 'unfinished' }])
  })

  test('hides no run of another machine while something stands half done', async () => {
    const { of, name } = await unlockKilledAt('stop-service:after')
    copyOf(of, name).push(end('done'))
    const other = elsewhere(of)
    expect((await runsOf(other.session)).runs).toMatchObject([{ run: name, where: 'deployment', state: 'unfinished' }])
    await expect(refuseIfUnfinished(other.session)).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringMatching(/from another machine ended, but the service is stopped$/) as string,
    })
    expect(await resumed(other, name, { adopt: true })).toEqual([0, ''])
    expect([of.deployment.service, of.deployment.rows]).toEqual(['running', [free]])
  })

  test('of another machine’s run counts where nothing stands', async () => {
    const { of, name } = await unlockKilledAt('end:after')
    const other = elsewhere(of)
    expect((await runsOf(other.session)).runs).toEqual([])
    await refuseIfUnfinished(other.session)
    expect(await resumed(other, name, { adopt: true })).toEqual([0, ''])
    expect(of.journals.deployment.kept.size).toBe(0)
  })
})

describe('a run that is over here is over', () => {
  test.each<[what: string, event: RunEvent]>([
    ['begun again', eventOf({ event: 'intent', step: 1 })],
    ['being undone', eventOf({ event: 'undo-intent', step: 0 })],
  ])('whatever its copy says: %s', async (_, event) => {
    const { of, name } = await unlockKilledAt('end:after')
    copyOf(of, name).push(event)
    expect((await runsOf(of.session)).runs).toMatchObject([{ state: 'done' }])
    expect(await resumed(of, name)).toEqual([0, ''])
    of.deployment.rows.splice(0, 1, stuck)
    expect(await ended(() => repairIn(of.session, flags, wish))).toEqual([0, ''])
  })

  test('and one that was undone has nothing to undo, although it lost something', async () => {
    const { record } = history('flush-sessions', { steps: [{ ...stop, loses: 'what was there' }] })
    const of = withRun({ record, events: [] })
    of.journals.here.kept.get(record.run)!.push(eventOf({ event: 'ended', outcome: 'undone' }))
    expect(await undone(of, record.run)).toEqual([0, ''])
  })
})

describe('what others have written of steps', () => {
  test('an undo that was refused keeps no step from being asked about', async () => {
    const { of, name } = await unlockKilledAt('stop-service:after')
    copyOf(of, name).push(eventOf({ event: 'undo-intent', step: 0 }), refusal, already(1))
    expect(await resumed(of, name)).toEqual([
      4,
      expect.stringMatching(/step 2 .* is done, but the deployment shows that it is not done/),
    ])
    expect(of.deployment.rows).toEqual([stuck])
  })

  test('binds nothing that neither the plan nor the broker has', async () => {
    const of = await resetKilledAt('switch-exchanges:intended')
    copyOf(of, run).push(
      noted('switch-exchanges', [
        { source: 'events', destination: 'export', destinationKind: 'queue', routingKey: '#', arguments: {} },
      ]),
    )
    expect(await resumed(of, run)).toEqual([
      4,
      expect.stringMatching(
        /the saved record has a binding of export to events, but nothing shows that this binding existed$/,
      ),
    ])
    expect(of.deployment.broker.snapshot().bindings).toEqual([])
  })

  test('nor in the note of a queue, or with other types than it shows', async () => {
    for (const bound of [
      { ...binding, routingKey: '#' },
      { ...binding, typed: { x: 1 } },
    ]) {
      const of = await resetKilledAt('delete-queues:intended')
      copyOf(of, run).push(noted('delete-queues', { event: 'bound', bindings: [bound] }))
      expect(await resumed(of, run)).toEqual([
        4,
        expect.stringMatching(/the saved record has a binding of upload to events/),
      ])
    }
  })

  test('what is bound may be noted', async () => {
    const of = await resetKilledAt('delete-queues:intended')
    copyOf(of, run).push(noted('delete-queues', { event: 'bound', bindings: [binding] }))
    expect(await resumed(of, run)).toEqual([0, ''])
  })

  test.each<[what: string, more: readonly RunEvent[]]>([
    ['and no more', []],
    [
      'and a step since',
      [
        eventOf({ event: 'intent', step: at('start-service') }),
        eventOf({ event: 'done', step: at('start-service'), durationMs: 1 }),
      ],
    ],
  ])('that a queue was declared back is asked of the broker: %s', async (_, more) => {
    const of = await resetKilledAt('end:before')
    const before = isAsMade(of)
    const step = at('redeclare-queues')
    copyOf(of, run).push(eventOf({ event: 'undo-intent', step }), eventOf({ event: 'undone', step }), ...more)
    expect(await undone(of, run)).toEqual([
      4,
      expect.stringMatching(/redeclare as durable.*\) is undone, but the deployment shows that it is not undone/),
    ])
    expect(isAsMade(of)).toEqual(before)
  })

  test('which way a run goes is refused by an undo, too', async () => {
    const of = await resetKilledAt('switch-exchanges:intended')
    copyOf(of, run).push(eventOf({ event: 'undo-intent', step: at('switch-exchanges') }))
    expect(await undone(of, run, { more: { 'accept-risk': ['record-differs'] } })).toEqual([
      4,
      expect.stringMatching(/the record from another machine says that the run is being undone/),
    ])
  })

  test.each([
    ['begun', { event: 'begun', direction: 'aside', attempt: 'x', queues: { upload: { ready: 0, held: 0 } } }],
    ['moved', { direction: 'aside', attempt: 'x', queues: {}, event: 'moved' }],
    ['compared', { event: 'compared', queues: ['upload'], differing: { upload: 'all is well' } }],
  ])('by which a loss would be judged is not believed: %s', async (_, note) => {
    const of = await resetKilledAt('delete-queues:intended')
    copyOf(of, run).push(noted('move-messages', note))
    for (const end of [await resumed(of, run), await undone(of, run)])
      expect(end).toEqual([4, expect.stringMatching(/was run on another machine and moved or compared messages/)])
    // whoever says so goes on without it
    expect(await resumed(of, run, { more: { 'accept-risk': ['record-differs'] } })).toEqual([0, ''])
  })

  test('more events than were shown stop whoever goes on', async () => {
    const { of, name } = await unlockKilledAt('stop-service:after')
    const read = of.journals.deployment.read.bind(of.journals.deployment)
    let reads = 0
    of.journals.deployment.read = async (named) => {
      reads += 1
      if (reads === 3) copyOf(of, name).push(eventOf({ event: 'done', step: 0, durationMs: 1 }))
      return read(named)
    }
    expect(await resumed(of, name)).toEqual([
      4,
      expect.stringMatching(/has more events than the record on this machine/),
    ])
    expect(of.deployment.rows).toEqual([stuck])
  })
})

describe('an honest run', () => {
  const records: [what: string, RunHistory][] = [
    ['resets queues', reset()],
    ['discards messages', discarding(4)],
    [
      'changes a setting',
      history('set-env', { verifiedBy: [], steps: [stop, step({ kind: 'set-setting', ...setting }), start] }),
    ],
    ['restarts', history('service-restart', { steps: [stop, start] })],
  ]

  test.each(records)(
    'that %s can be adopted wherever it was killed, both ways',
    async (_, it) => {
      const { run: name } = it.record
      const made = withRun(it)
      const reached = await until(undefined, (failpoint) => resumed(made, name, { failpoint }))
      const wanted = isAsMade(made)
      const back = withRun(it)
      await resumed(back, name)
      const reachedBack = await until(undefined, (failpoint) => undone(back, name, { failpoint }))
      const former = isAsMade(back)
      for (const point of new Set(reached)) {
        for (const way of ['resume', 'undo'] as const) {
          const of = withRun(it)
          await until(point, (failpoint) => resumed(of, name, { failpoint }))
          if (of.journals.deployment.kept.size === 0) continue
          const other = elsewhere(of)
          expect([
            point,
            way,
            ...(way === 'resume'
              ? await resumed(other, name, { adopt: true })
              : await undone(other, name, { more: anyway })),
          ]).toEqual([point, way, 0, ''])
          if (way === 'resume') expect([point, isAsMade(of)]).toEqual([point, wanted])
        }
      }
      for (const point of new Set(reachedBack)) {
        for (const way of ['resume', 'undo'] as const) {
          const of = withRun(it)
          await until('verify:before', (failpoint) => resumed(of, name, { failpoint }))
          await until(point, (failpoint) => undone(of, name, { failpoint }))
          if (of.journals.deployment.kept.size === 0) continue
          const other = elsewhere(of)
          expect([
            point,
            way,
            ...(way === 'resume'
              ? await resumed(other, name, { adopt: true })
              : await undone(other, name, { more: anyway })),
          ]).toEqual([point, way, 0, ''])
          expect([point, [wanted, former].map((state) => JSON.stringify(state))]).toEqual([
            point,
            expect.arrayContaining([JSON.stringify(isAsMade(of))]),
          ])
        }
      }
    },
    60_000,
  )

  test.each(records)(
    'that %s can be gone on with here wherever it was killed',
    async (_, it) => {
      const { run: name } = it.record
      const made = withRun(it)
      const reached = await until(undefined, (failpoint) => resumed(made, name, { failpoint }))
      for (const point of new Set(reached)) {
        const of = withRun(it)
        await until(point, (failpoint) => resumed(of, name, { failpoint }))
        expect([point, ...(await resumed(of, name))]).toEqual([point, 0, ''])
        expect([point, isAsMade(of)]).toEqual([point, isAsMade(made)])
      }
    },
    60_000,
  )

  test.each(['start-service:after', 'verify:before', 'end:before'])(
    'whose service is up is adopted without another stop: killed at %s',
    async (point) => {
      const of = await resetKilledAt(point)
      const before = of.deployment.changes.length
      expect([point, ...(await resumed(elsewhere(of), run, { adopt: true }))]).toEqual([point, 0, ''])
      expect(of.deployment.changes.slice(before)).not.toContain('service.stop')
    },
  )

  test(
    'that another machine has gone on with, ' + 'and then was killed too, is gone on with here without its word',
    async () => {
      const of = await resetKilledAt('move-messages:after')
      const made = await resetKilledAt('verify:before')
      const other = elsewhere(of)
      await until('redeclare-queues:after', (failpoint) => resumed(other, run, { adopt: true, failpoint }))
      expect(await resumed(of, run)).toEqual([
        4,
        expect.stringMatching(/the record from another machine says that the run/),
      ])
      await saidBy(() => discardIn(of.session, { ...flags, 'accept-risk': ['unfinished-run'] }, run, []))
      expect(await resumed(of, run)).toEqual([0, ''])
      expect(isAsMade(of)).toEqual(isAsMade(made))
    },
  )

  test('that another machine has finished, and could not tell, is over here', async () => {
    const of = await resetKilledAt('stop-service:intended')
    const other = elsewhere(of)
    await until('end:after', (failpoint) => resumed(other, run, { adopt: true, failpoint }))
    const before = of.deployment.changes.length
    expect(await resumed(of, run)).toEqual([0, ''])
    expect([of.deployment.changes.length, of.journals.deployment.kept.size]).toEqual([before, 0])
    expect((await runsOf(of.session)).runs).toMatchObject([{ state: 'done' }])
  })

  test('that another machine has undone, and could not tell, is over here', async () => {
    const { of, name } = await unlockKilledAt('release-lock:before')
    const other = elsewhere(of)
    await until('end:after', (failpoint) => undone(other, name, { more: adopting, failpoint }))
    expect(await resumed(of, name)).toEqual([0, ''])
    expect((await runsOf(of.session)).runs).toMatchObject([{ state: 'undone' }])
  })

  test('that was called over can be discarded only by whoever says so, while something stands', async () => {
    const { of, name } = await unlockKilledAt('stop-service:after')
    copyOf(of, name).push(end('done'))
    const discarded = await ended(async () => discardIn(elsewhere(of).session, flags, name, []).then(() => null))
    expect(discarded).toEqual([
      4,
      expect.stringMatching(/^the record may belong to an unfinished repair of this deployment/),
    ])
  })
})
