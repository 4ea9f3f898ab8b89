import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import { AdminError } from '../../src/core/error.ts'
import { breakLab } from '../../src/lab/break.ts'
import { takeLabDown } from '../../src/lab/down.ts'
import { drill } from '../../src/lab/drill.ts'
import { drawFaults } from '../../src/lab/drill-draw.ts'
import {
  currentInstant,
  drillHistoryFile,
  drillPhase,
  endDrill,
  pastDrills,
  readDrill,
  secondsBetween,
  writeDrill,
} from '../../src/lab/drill-record.ts'
import type { DrillRecord, DrillRequest } from '../../src/lab/drill-record.ts'
import { allCases, findCase } from '../../src/lab/fault-list.ts'
import type { LabOptions } from '../../src/lab/lab.ts'
import { labLayout } from '../../src/lab/layout.ts'
import type { LabLayout } from '../../src/lab/layout.ts'
import { mendLab } from '../../src/lab/mend.ts'
import { writeState } from '../../src/lab/state.ts'
import { healthy, stuckLock } from '../output/reports.ts'

const fault = 'stuck-lock/waiting'
const other = 'debug-left-on'

interface FakeLab extends LabOptions {
  layout: LabLayout
  said: string[]
}

/** A lab whose servers nobody needs, with hidden faults of a drill, and a state folder of its own. */
async function fakeLab(faults: readonly string[], report: DoctorReport = stuckLock): Promise<FakeLab> {
  const parent = await mkdtemp(join(tmpdir(), 'testops-admin-drill-'))
  vi.stubEnv('XDG_STATE_HOME', join(parent, 'state'))
  onTestFinished(async () => {
    vi.unstubAllEnvs()
    await rm(parent, { recursive: true, force: true })
  })
  const layout = labLayout(join(parent, 'lab'))
  mkdirSync(layout.root)
  const said: string[] = []
  await writeState(layout, {
    schemaVersion: 1,
    id: 'abcd',
    phase: 'up',
    brokerLine: '4.3',
    currentLine: '4.3',
    servicePort: 1,
    controlPort: 2,
    databasePassword: 'a',
    sessionsPassword: 'b',
    faults: faults.map((name) => ({
      name,
      since: '2026-11-21T04:00:00.000Z',
      state: 'broken',
      changes: {},
      hidden: true,
    })),
  })
  return {
    root: layout.root,
    layout,
    said,
    progress: (message) => said.push(message),
    diagnose: async () => Promise.resolve(report),
  }
}

const request: DrillRequest = { faults: 1, seed: 7, only: null }

async function recordOf(faults: readonly string[], more: Partial<DrillRecord> = {}): Promise<DrillRecord> {
  return {
    id: 'one',
    phase: 'running',
    request,
    faults,
    start: await currentInstant(),
    named: [],
    wrong: 0,
    healthySeconds: null,
    ...more,
  }
}

const errorOf = async (work: Promise<unknown>): Promise<Pick<AdminError, 'code' | 'message' | 'suggestions'>> => {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(AdminError)
  const { code, message, suggestions } = error as AdminError
  return { code, message, suggestions }
}

describe('faults are drawn', () => {
  const names = (it: Partial<DrillRequest>, broker: '3' | '4.3' = '4.3'): string[] =>
    drawFaults({ ...request, ...it }, broker).map(({ name }) => name)
  const seeds = Array.from({ length: 1000 }, (_, seed) => seed)

  test('the same by the same seed, and all of them by all seeds', () => {
    expect(names({ seed: 7 })).toEqual(names({ seed: 7 }))
    const drawn = new Set(seeds.flatMap((seed) => names({ seed })))
    const possible = allCases().filter(
      ({ fault: { notInDrills }, case: it }) =>
        it.expected.exitCode > 0 && (notInDrills ?? it.notInDrills) === undefined && it.needs?.broker !== '3',
    )
    expect([...drawn].sort()).toEqual(possible.map(({ name }) => name).sort())
  })

  test('of one group of checks', () => {
    for (const seed of seeds)
      expect(findCase(names({ seed, only: 'broker' })[0]!, 'break').case.expected.problems).toHaveProperty([
        'broker/queues-durable',
      ])
  })

  test('for the broker that the lab has', () => {
    expect(new Set(seeds.flatMap((seed) => names({ seed, only: 'broker' }, '3')))).toEqual(
      new Set(['durable-mismatch/setting-false', 'durable-mismatch/transient-queues', 'transient-ahead']),
    )
  })

  test('two that do not hide each other', () => {
    for (const seed of seeds) {
      const pair = drawFaults({ ...request, faults: 2, seed }, '4.3')
      const [one, two] = pair
      expect([pair.length, one?.fault.id === two?.fault.id]).toEqual([2, false])
      const follows = (it: typeof one): string[] => [
        ...Object.keys(it!.case.expected.problems),
        ...it!.case.expected.allowedConsequences,
      ]
      const roots = (it: typeof one): string[] => Object.keys(it!.case.expected.problems)
      expect(roots(one).filter((id) => follows(two).includes(id))).toEqual([])
      expect(roots(two).filter((id) => follows(one).includes(id))).toEqual([])
    }
  })

  test('two only from groups that have two', () => {
    expect(() => drawFaults({ faults: 2, seed: 1, only: 'sessions' }, '4.3')).toThrow(
      'the lab cannot combine two faults of the group sessions',
    )
  })
})

describe('the time of a drill', () => {
  const instant = { at: '2026-11-21T04:00:00.000Z', uptimeSeconds: 100, boot: 'a' }

  test('does not follow the clock of the machine', () => {
    expect(secondsBetween(instant, { at: '2026-11-21T03:00:00.000Z', uptimeSeconds: 130.4, boot: 'a' })).toEqual({
      seconds: 30,
      isByClock: false,
    })
  })

  test.each([
    ['another start', { at: '2026-11-21T04:00:40.000Z', uptimeSeconds: 500, boot: 'b' }, 40],
    ['less time since the start', { at: '2026-11-21T04:00:40.000Z', uptimeSeconds: 9, boot: 'a' }, 40],
    ['and the clock set back', { at: '2026-11-21T03:00:00.000Z', uptimeSeconds: 9, boot: 'b' }, 0],
  ])('is that of the clock after a restart of the machine: %s', (_, to, seconds) => {
    expect(secondsBetween(instant, to)).toEqual({ seconds, isByClock: true })
  })
})

describe('what a drill keeps on disk', () => {
  test('names no fault in plain text, and is read back', async () => {
    const { layout } = await fakeLab([fault])
    const record = await recordOf([fault])
    await writeDrill(layout, record)
    expect(await readDrill(layout)).toEqual(record)
    for (const file of [layout.drill, layout.state]) expect(readFileSync(file, 'utf8')).not.toMatch(/stuck|lock/)
  })

  test.each([
    ['empty', '', 'Unexpected end of JSON input'],
    ['of another version', '{"schemaVersion":2}', 'another version of testops-admin wrote it'],
    ['cut off', '{"schemaVersion":1,"sealed":"eyJpZCI6"}', ''],
    ['null', '{"schemaVersion":1,"sealed":"bnVsbA=="}', 'it is damaged'],
    ['huge', ' '.repeat(200_000), 'it has more than 100000 bytes'],
  ])('is refused if it is %s, and the drill can still be ended', async (_, text, why) => {
    const { layout, said } = await fakeLab([fault])
    writeFileSync(layout.drill, text)
    expect(await errorOf(readDrill(layout))).toEqual({
      code: 'FAILED',
      message: expect.stringContaining(`the record of the drill under way: ${why}`) as string,
      suggestions: ['testops-admin lab mend   # ends the drill'],
    })
    expect(await drillPhase(layout)).toEqual({ phase: 'unreadable', startedAt: null })
    expect(await endDrill(layout, 'mended', (it) => said.push(it))).toBeNull()
    expect([existsSync(layout.drill), said, await pastDrills()]).toEqual([false, [], []])
  })

  test('a folder in its place is removed as well', async () => {
    const { layout } = await fakeLab([])
    mkdirSync(layout.drill)
    expect((await errorOf(readDrill(layout))).message).toContain('it is a folder')
    await endDrill(layout, 'mended', () => undefined)
    expect(await drillPhase(layout)).toBeNull()
  })
})

describe('past drills', () => {
  test('a drill that ends twice, since the first end was killed, is on record once', async () => {
    const { layout } = await fakeLab([fault])
    const record = await recordOf([fault], { named: [{ fault, check: 'database/changelog-lock', seconds: 5 }] })
    for (const outcome of ['given-up', 'done'] as const) {
      await writeDrill(layout, { ...record, healthySeconds: 9 })
      await endDrill(layout, outcome, () => undefined)
    }
    const past = await pastDrills()
    expect(
      past.map(({ outcome, diagnosisSeconds, healthySeconds }) => ({ outcome, diagnosisSeconds, healthySeconds })),
    ).toEqual([{ outcome: 'done', diagnosisSeconds: 5, healthySeconds: 9 }])
  })

  test('a drill that had not begun is not on record', async () => {
    const { layout } = await fakeLab([fault])
    await writeDrill(layout, await recordOf([fault], { phase: 'breaking' }))
    expect(await endDrill(layout, 'given-up', () => undefined)).toBeNull()
    expect(await pastDrills()).toEqual([])
  })

  test('a drill whose lab is taken down is on record, and outlives the lab', async () => {
    const lab = await fakeLab([fault])
    await writeDrill(lab.layout, await recordOf([fault]))
    expect(await takeLabDown(lab)).toEqual({ found: true, removed: ['the drill that was under way'] })
    expect([existsSync(lab.root), (await pastDrills()).map(({ outcome }) => outcome)]).toEqual([false, ['abandoned']])
  })

  test('only the latest 200 are kept', async () => {
    const { layout } = await fakeLab([fault])
    const end = async (id: string): Promise<void> => {
      await writeDrill(layout, await recordOf([fault], { id }))
      await endDrill(layout, 'given-up', () => undefined)
    }
    await end('first')
    const [first] = await pastDrills()
    const all = Array.from({ length: 200 }, (_, at) => ({ ...first, id: String(at) }))
    writeFileSync(drillHistoryFile(), JSON.stringify({ schemaVersion: 1, drills: all }))
    await end('last')
    expect([(await pastDrills()).length, (await pastDrills())[0]?.id, (await pastDrills()).at(-1)?.id]).toEqual([
      200,
      '1',
      'last',
    ])
  })

  test.each([
    ['', 'Unexpected end of JSON input'],
    ['{"schemaVersion":2}', 'another version of testops-admin wrote it'],
    ['{"schemaVersion":1,"drills":[null]}', 'it is damaged'],
  ])('a record that is %j is refused, and moved aside by the next drill', async (text, why) => {
    const { layout, said } = await fakeLab([fault])
    mkdirSync(join(drillHistoryFile(), '..'), { recursive: true })
    writeFileSync(drillHistoryFile(), text)
    const file = drillHistoryFile()
    expect(await errorOf(pastDrills())).toEqual({
      code: 'FAILED',
      message: `cannot use ${file}, the record of past drills: ${why}`,
      suggestions: [`mv ${file} ${file}.unusable   # the next drill begins a new record`],
    })
    await writeDrill(layout, await recordOf([fault]))
    await endDrill(layout, 'given-up', (it) => said.push(it))
    expect([readFileSync(`${file}.unusable`, 'utf8'), (await pastDrills()).length]).toEqual([text, 1])
    expect(said).toEqual([expect.stringContaining(`it is now ${file}.unusable`)])
  })

  test('a record that cannot be written keeps no drill from its end', async () => {
    const { layout, said } = await fakeLab([fault])
    writeFileSync(join(layout.root, '../state'), 'a file where a folder should be')
    await writeDrill(layout, await recordOf([fault]))
    expect(await endDrill(layout, 'given-up', (it) => said.push(it))).toMatchObject({ outcome: 'given-up' })
    expect(said).toEqual([expect.stringContaining('could not put this drill on record')])
    expect(existsSync(layout.drill)).toBe(false)
  })
})

describe('answers', () => {
  const answer = async (lab: FakeLab, id: string): Promise<unknown> => {
    const said = await drill(lab, { answer: id })
    if (said.event !== 'answered') throw new Error(said.event)
    const { named, wrong } = said.drill
    return [said.exitCode, said.answer.verdict, named.join(), wrong]
  }

  test('are right for the root cause and for the fault, and wrong ones are counted', async () => {
    const lab = await fakeLab([fault, other])
    await writeDrill(lab.layout, await recordOf([fault, other], { request: { ...request, faults: 2 } }))
    expect(await answer(lab, 'broker/alarms')).toEqual([2, 'wrong', '', 1])
    // a consequence is no cause
    expect(await answer(lab, 'service/running')).toEqual([2, 'wrong', '', 2])
    // another case of the same fault may have another cause
    expect(await answer(lab, 'stuck-lock/given-up')).toEqual([2, 'wrong', '', 3])
    expect(await answer(lab, 'stuck-lock')).toEqual([0, 'right', 'database/changelog-lock', 3])
    expect(await answer(lab, fault)).toEqual([0, 'known', 'database/changelog-lock', 3])
    expect(await answer(lab, 'database/changelog-lock')).toEqual([0, 'known', 'database/changelog-lock', 3])
    expect(await answer(lab, 'integrations/debug-logging')).toEqual([
      0,
      'right',
      'database/changelog-lock,integrations/debug-logging',
      3,
    ])
  })

  test('an id that does not exist is no answer', async () => {
    const lab = await fakeLab([fault])
    const record = await recordOf([fault])
    await writeDrill(lab.layout, record)
    expect(await errorOf(drill(lab, { answer: 'broker/allarms' }))).toMatchObject({
      code: 'USAGE',
      message: 'no check or fault `broker/allarms`; did you mean `broker/alarms` or `broker-alarm`?',
    })
    expect(await readDrill(lab.layout)).toEqual(record)
  })

  test('without a drill there is nothing to answer', async () => {
    const lab = await fakeLab([])
    for (const flags of [{ answer: 'broker/alarms' }, { done: true }, { giveUp: true }])
      expect(await errorOf(drill(lab, flags))).toEqual({
        code: 'UNAVAILABLE',
        message: 'no drill is under way',
        suggestions: ['testops-admin lab drill'],
      })
  })
})

describe('the end', () => {
  test('waits until doctor is healthy', async () => {
    const lab = await fakeLab([fault])
    await writeDrill(lab.layout, await recordOf([fault]))
    expect(await drill(lab, { done: true })).toMatchObject({ event: 'standing', exitCode: 1, drill: { doctor: 1 } })
    expect(await drillPhase(lab.layout)).toMatchObject({ phase: 'running' })
  })

  test('counts health from when it was first seen, as long as it lasts', async () => {
    const lab = await fakeLab([fault])
    await writeDrill(lab.layout, await recordOf([fault], { healthySeconds: 3 }))
    await drill(lab, { done: true })
    expect((await readDrill(lab.layout))?.healthySeconds).toBeNull()
  })
})

describe('during a drill', () => {
  test('other faults are neither made nor mended by name, and nothing is given away', async () => {
    const lab = await fakeLab([fault], healthy)
    await writeDrill(lab.layout, await recordOf([fault]))
    const suggestions = [
      'testops-admin lab drill   # shows where the drill stands',
      'testops-admin lab drill --give-up',
    ]
    expect(await errorOf(breakLab(lab, [other]))).toEqual({
      code: 'REFUSED',
      message: 'cannot run `lab break` during a drill',
      suggestions,
    })
    for (const name of [fault, other])
      expect(await errorOf(mendLab(lab, [name]))).toEqual({
        code: 'REFUSED',
        message: `cannot run \`lab mend ${name}\` during a drill`,
        suggestions,
      })
    expect(await errorOf(drill(lab, { faults: '2' }))).toEqual({
      code: 'REFUSED',
      message: 'a drill is already under way',
      suggestions,
    })
  })
})

describe('a drill is not begun', () => {
  test.each([
    ['on a lab that is not healthy', stuckLock, [], /the lab is not healthy, doctor finds database\/changelog-lock/],
    ['after one that was cut short', healthy, [fault], /faults of the last drill are still in the lab/],
  ] as const)('%s', async (_, report, faults, why) => {
    const lab = await fakeLab(faults, report)
    expect(await errorOf(drill(lab, {}))).toEqual({
      code: 'REFUSED',
      message: expect.stringMatching(why) as string,
      suggestions: expect.arrayContaining(['testops-admin lab mend']) as string[],
    })
    expect(existsSync(lab.layout.drill)).toBe(false)
  })

  test('after one that was killed while it broke the lab', async () => {
    const lab = await fakeLab([fault], healthy)
    await writeDrill(lab.layout, await recordOf([fault], { phase: 'breaking' }))
    expect(await errorOf(drill(lab, {}))).toEqual({
      code: 'REFUSED',
      message: 'cannot begin a drill: the last drill was interrupted while it broke the lab',
      suggestions: ['testops-admin lab mend'],
    })
  })

  test('for a group that does not exist', async () => {
    expect(await errorOf(drill(await fakeLab([], healthy), { only: 'brokers' }))).toMatchObject({
      code: 'USAGE',
      message: 'no group `brokers` of faults for a drill; did you mean `broker`?',
      suggestions: ['testops-admin lab drill --only broker'],
    })
  })
})
