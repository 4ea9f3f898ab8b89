import { describe, expect, test } from 'vitest'
import { discardIn } from '../../../src/cli/repair/discard-record.ts'
import type { RepairFlags } from '../../../src/cli/repair/flags.ts'
import { refuseIfUnfinished, runsOf } from '../../../src/cli/repair/list-runs.ts'
import { resumeIn, undoIn } from '../../../src/cli/repair/resume-run.ts'
import { repairIn } from '../../../src/cli/repair/run-repair.ts'
import { AdminError } from '../../../src/core/error.ts'
import type { RunEvent, RunRecord } from '../../../src/core/run.ts'
import { historyText } from '../../../src/output/history.ts'
import { eventOf, free, machine, passing, planOf, recordOf, run, stuck } from '../../engine/repairing.ts'
import { fakeDeployment, fakeRunStore } from '../../fakes/index.ts'
import { adopting, flags, operator, saidBy, wish } from './session.ts'
import type { Operator } from './session.ts'

interface End {
  code: number
  message?: string
  next?: readonly string[]
  said: string
}

/** How it ends, and all that it says on standard error. */
async function ended(
  work: () => Promise<{
    exitCode: number
    document: { error?: { message: string; suggestions: readonly string[] } }
  } | null>,
): Promise<End> {
  let end: Omit<End, 'said'> = { code: 0 }
  const said = await saidBy(async () => {
    try {
      const performed = await work()
      const error = performed?.document.error
      end = { code: performed?.exitCode ?? 0, ...(error && { message: error.message, next: error.suggestions }) }
    } catch (error) {
      if (!(error instanceof AdminError)) throw error
      end = { code: error.exitCode, message: error.message, next: error.suggestions }
    }
  })
  return { ...end, said: said.replaceAll(/\s+/g, ' ') }
}

const resumed = async (
  of: Operator,
  name: string | null,
  more: Partial<RepairFlags> = {},
  adopt = false,
): Promise<End> =>
  ended(() =>
    resumeIn(
      of.session,
      { ...flags, confirm: undefined, ...more },
      { run: name, adopt, words: ['resume', ...(adopt ? ['--adopt'] : []), name ?? ''] },
    ),
  )

const adopted = async (of: Operator, name: string, more: Partial<RepairFlags> = {}): Promise<End> =>
  resumed(of, name, more, true)

/** Killed at that instant; gives the run's name. */
async function killedAt(name: string, of: Operator): Promise<string> {
  const { failpoint, killed } = passing(name)
  await saidBy(() => Promise.race([killed, repairIn({ ...of.session, failpoint }, flags, wish)]))
  return [...of.journals.here.kept.keys()][0]!
}

/** Somebody who may write to the deployment adds that to its copy. */
function forge({ journals }: Operator, name: string, ...events: readonly RunEvent[]): void {
  journals.deployment.kept.get(name)!.push(...events)
}

function planted(of: Operator, record: RunRecord, ...events: readonly RunEvent[]): void {
  of.journals.deployment.kept.set(record.run, [record, ...events])
}

const agent = { kind: 'set-setting', name: 'JAVA_TOOL_OPTIONS', from: null, to: '-javaagent:/tmp/x.jar' } as const
const attack = recordOf({
  run: run.replace('unlock-changelog', 'set-env'),
  by: '\u001b[2J\u202enobody',
  plan: planOf({
    repair: 'set-env',
    verifiedBy: [],
    options: {},
    steps: [{ title: 'release the lock', action: agent, interrupts: false }],
  }),
})

/** The same deployment, from another machine. */
function elsewhere({ deployment, journals }: Operator): Operator {
  return operator({ deployment, journals: machine(journals.deployment, fakeRunStore('another machine')) })
}

describe('what the deployment’s copy alone says', () => {
  test.each<[what: string, at: string, events: readonly RunEvent[], differs: RegExp]>([
    [
      'is done',
      'stop-service:after',
      [
        eventOf({ event: 'done', step: 0, durationMs: 1 }),
        eventOf({ event: 'intent', step: 1 }),
        eventOf({ event: 'done', step: 1, durationMs: 1 }),
      ],
      /step 2 \(release the lock\) is done, but the deployment shows that it is not done/,
    ],
    [
      'was so already',
      'stop-service:after',
      [
        eventOf({ event: 'done', step: 0, durationMs: 1 }),
        eventOf({ event: 'done', step: 1, durationMs: 1, already: true }),
      ],
      /step 2 .* not done/,
    ],
    [
      'was started',
      'release-lock:after',
      [
        eventOf({ event: 'done', step: 1, durationMs: 1 }),
        eventOf({ event: 'intent', step: 2 }),
        eventOf({ event: 'done', step: 2, durationMs: 1 }),
      ],
      /step 3 \(start the service\) is done, but the deployment shows that it is not done/,
    ],
  ])('%s is asked of the deployment', async (_, at, events, differs) => {
    const of = operator()
    const name = await killedAt(at, of)
    const before = { changes: [...of.deployment.changes], own: [...of.journals.here.kept.get(name)!] }
    forge(of, name, ...events)
    const end = await resumed(of, name)
    expect([end.code, end.message]).toEqual([4, expect.stringMatching(differs)])
    expect(end.message).toMatch(/^Nothing was changed: the saved record of the run does not match the deployment: /)
    expect({ changes: of.deployment.changes, own: of.journals.here.kept.get(name) }).toEqual(before)
    // whoever looks, and says so, goes on
    expect((await resumed(of, name, { 'accept-risk': ['record-differs'] })).code).toBe(0)
    expect([of.deployment.service, of.deployment.rows]).toEqual(['running', [free]])
  })

  test('that a run is over is asked of the deployment', async () => {
    const of = operator()
    const name = await killedAt('stop-service:after', of)
    const all = [0, 1, 2].flatMap((step): RunEvent[] => [
      ...(step === 0 ? [] : [eventOf({ event: 'intent', step })]),
      eventOf({ event: 'done', step, durationMs: 1 }),
    ])
    forge(of, name, ...all, eventOf({ event: 'ended', outcome: 'done' }))
    expect((await runsOf(of.session)).runs).toMatchObject([{ state: 'unfinished' }])
    await expect(refuseIfUnfinished(of.session)).rejects.toMatchObject({ code: 'REFUSED' })
    const end = await resumed(of, name)
    expect([end.code, end.message]).toEqual([4, expect.stringMatching(/step 2 .* not done/)])
    expect(of.deployment.service).toBe('stopped')
  })

  test('where the deployment shows it, too, the run is over', async () => {
    const of = operator()
    const name = await killedAt('end:before', of)
    forge(of, name, eventOf({ event: 'ended', outcome: 'done' }))
    expect((await resumed(of, name)).code).toBe(0)
    expect((await runsOf(of.session)).runs).toMatchObject([{ state: 'done' }])
    expect(of.journals.deployment.kept.size).toBe(0)
  })

  test('that a step was undone is asked of the deployment', async () => {
    const of = operator()
    const name = await killedAt('release-lock:after', of)
    forge(of, name, eventOf({ event: 'undo-intent', step: 0 }), eventOf({ event: 'undone', step: 0 }))
    const end = await ended(() => undoIn(of.session, flags, name, ['undo', name]))
    expect([end.code, end.message]).toEqual([
      4,
      expect.stringMatching(/step 1 \(stop the service\) is undone, but the deployment shows that it is not undone/),
    ])
  })

  test('once accepted to differ, a step is performed again, also after a kill before it was', async () => {
    const of = operator()
    const name = await killedAt('stop-service:after', of)
    forge(
      of,
      name,
      eventOf({ event: 'done', step: 0, durationMs: 1 }),
      eventOf({ event: 'intent', step: 1 }),
      eventOf({ event: 'done', step: 1, durationMs: 1 }),
    )
    const { failpoint, killed } = passing('release-lock:before')
    const going = { run: name, adopt: false, words: ['resume', name] }
    await saidBy(() =>
      Promise.race([
        killed,
        resumeIn({ ...of.session, failpoint }, { ...flags, 'accept-risk': ['record-differs'] }, going),
      ]),
    )
    expect(of.deployment.rows).toEqual([stuck])
    expect((await resumed(of, name)).code).toBe(0)
    expect([of.deployment.service, of.deployment.rows]).toEqual(['running', [free]])
  })

  test('is dropped by its removal, and what this machine has on record counts alone', async () => {
    const of = operator()
    const name = await killedAt('stop-service:after', of)
    forge(of, name, eventOf({ event: 'undo-intent', step: 0 }))
    const end = await resumed(of, name, { 'accept-risk': ['record-differs'] })
    expect([end.code, end.message]).toEqual([
      4,
      expect.stringContaining(
        'the record from another machine says that the run is being undone, but the record on this machine says ' +
          'that the run is being applied',
      ),
    ])
    const drop = end.next!.find((it) => it.startsWith(`testops-admin discard ${name} `))
    expect(drop).toBeDefined()
    const discarded = async (risks: string[]): Promise<End> =>
      ended(async () =>
        discardIn(of.session, { ...flags, 'accept-risk': risks }, name, ['discard', name]).then(() => null),
      )
    expect((await discarded([])).message).toMatch(/has events that are missing on this machine/)
    expect(await discardIn(of.session, { ...flags, 'dry-run': true }, name, [])).toMatchObject({
      outcome: 'planned',
      saved: null,
      risks: [{ name: 'unfinished-run', message: expect.stringContaining('has events that are missing') as string }],
    })
    expect((await discarded(['unfinished-run'])).code).toBe(0)
    expect((await resumed(of, name, { confirm: 'prod' })).code).toBe(0)
    expect(of.deployment.rows).toEqual([free])
  })

  test.each<[what: string, spoil: (lines: unknown[]) => void]>([
    ['cannot be read', (lines) => lines.splice(0, Infinity, 'nonsense')],
    ['tells of another run', (lines) => lines.splice(1, Infinity, eventOf({ event: 'intent', step: 2 }, 99))],
  ])('of a run that is over here blocks nothing where it %s', async (_, spoil) => {
    const of = operator()
    const name = await killedAt('end:after', of)
    spoil(of.journals.deployment.kept.get(name)!)
    expect((await runsOf(of.session)).runs).toMatchObject([{ run: name, state: 'done' }])
    expect((await resumed(of, null)).code).toBe(0)
    of.deployment.rows.splice(0, 1, stuck)
    expect((await ended(() => repairIn(of.session, flags, wish))).code).toBe(0)
    expect(
      (
        await ended(async () =>
          discardIn(of.session, { ...flags, 'accept-risk': ['unfinished-run'] }, name, ['discard', name]).then(
            () => null,
          ),
        )
      ).code,
    ).toBe(0)
    expect([...of.journals.deployment.kept.keys()]).not.toContain(name)
    expect(of.journals.here.kept.has(name)).toBe(true)
  })

  test('of a run that is not over here, and that cannot be read, is named with the way out', async () => {
    const of = operator()
    const name = await killedAt('stop-service:after', of)
    of.journals.deployment.kept.set(name, ['nonsense'])
    for (const end of [await resumed(of, name), await ended(() => repairIn(of.session, flags, wish))]) {
      expect(end.code).toBeGreaterThan(0)
      expect(end.next).toContainEqual(expect.stringMatching(`^testops-admin discard ${name} `))
      expect(end.next!.join('\n')).not.toMatch(/^mv |--adopt/m)
    }
    expect((await ended(async () => discardIn(of.session, flags, name, ['discard', name]).then(() => null))).code).toBe(
      0,
    )
    expect((await resumed(of, name, { confirm: 'prod' })).code).toBe(0)
  })

  test('a note that none of its steps writes is refused', async () => {
    const of = operator()
    const name = await killedAt('stop-service:after', of)
    forge(of, name, eventOf({ event: 'noted', step: 0, note: 'replicas deployments/testops/testops 99999' }))
    expect((await resumed(of, name)).code).not.toBe(0)
    expect(of.deployment.service).toBe('stopped')
  })
})

describe('a record of another machine', () => {
  test('is shown whole before anything is asked, and adopted only with its risks', async () => {
    const of = operator()
    const name = await killedAt('release-lock:judged', of)
    const other = elsewhere(of)
    const looked = await adopted(other, name, { 'dry-run': true })
    expect(looked.code).toBe(0)
    expect(looked.said).toMatch(
      /release the change-log lock in public at db\.example\.org:5432\/testops \(begun in the record\)/,
    )
    expect(looked.said).toMatch(
      /undo restores the row: locked true, since "2026-11-20 23:00:00\.000000", by "testops-1 \(10\.0\.0\.7\)"/,
    )
    expect(other.journals.here.kept.size).toBe(0)
    const refused = await adopted(other, name, { confirm: 'prod' })
    expect([refused.code, refused.message]).toEqual([
      4,
      expect.stringMatching(/^run \S+ is recorded only in the deployment, where others may write or change records: /),
    ])
    expect(refused.said).toContain('release the change-log lock in public')
    // that it was accepted before is said by the record alone
    const half = await adopted(other, name, { confirm: 'prod', 'accept-risk': ['foreign-run'] })
    expect([half.code, half.message]).toEqual([4, 'nothing shows whether the holder is alive'])
    expect((await adopted(other, name, { 'accept-risk': ['foreign-run', 'unproven-holder'] })).code).toBe(4)
    expect((await adopted(other, name, adopting)).code).toBe(0)
    expect(of.deployment.rows).toEqual([free])
  })

  test('that fits no repair is refused, whatever is accepted, and changes nothing', async () => {
    const of = operator()
    planted(of, attack)
    const risks = ['foreign-run', 'record-differs', 'unfinished-run']
    for (const end of [
      await adopted(of, attack.run, { confirm: 'prod', 'accept-risk': risks }),
      await adopted(of, attack.run, { 'dry-run': true }),
      await ended(() => undoIn(of.session, { ...flags, 'accept-risk': risks }, attack.run, ['undo', attack.run])),
    ]) {
      expect([end.code, end.message]).toEqual([
        4,
        `Nothing was changed: the saved record of run ${attack.run} does not match this deployment: the run sets ` +
          'JAVA_TOOL_OPTIONS, which only a run that was started on this machine may set',
      ])
      expect(end.next?.at(-1)).toBe(
        `testops-admin discard ${attack.run} -d {deployment}   # shows the record, saves it on this machine, ` +
          'and removes it from the deployment',
      )
    }
    expect([of.deployment.changes, of.journals.here.kept.size]).toEqual([[], 0])
  })

  test('that fits no repair is listed as what it is, and blocks nothing while nothing stands', async () => {
    const of = operator()
    planted(of, attack)
    const document = await runsOf(of.session)
    expect(document.runs).toMatchObject([
      { run: attack.run, misfit: expect.stringMatching(/^the run sets JAVA_TOOL_OPTIONS/) as string },
    ])
    const text = historyText(document, { columns: 200, colour: false })
    expect(text).toContain(`Remove the record of this run: testops-admin discard ${attack.run} -d prod`)
    expect(text).not.toMatch(/resume|[\u001b\u202e]/)
    expect((await ended(() => repairIn(of.session, flags, wish))).code).toBe(0)
  })

  test('that fits no repair blocks while the service is stopped', async () => {
    const of = operator({ deployment: fakeDeployment({ service: 'stopped', rows: [stuck] }) })
    planted(of, attack)
    const end = await ended(() => repairIn(of.session, flags, wish))
    expect([end.code, end.message]).toEqual([
      4,
      `Nothing changed: the service is stopped, and the saved record of run \`${attack.run}\` in the deployment ` +
        'does not belong to any repair of this deployment',
    ])
  })

  test('that changes after it was shown is refused', async () => {
    const of = operator()
    const name = await killedAt('release-lock:judged', of)
    const other = elsewhere(of)
    const locks = async (): Promise<readonly []> => {
      forge(of, name, eventOf({ event: 'failed', step: 1, error: { code: 'FAILED', message: 'x', suggestions: [] } }))
      return []
    }
    const session = { ...other.session, opened: { ...other.session.opened, locks } }
    const end = await ended(() =>
      resumeIn(session, { ...flags, ...adopting }, { run: name, adopt: true, words: ['resume'] }),
    )
    expect([end.code, end.message]).toEqual([
      4,
      `Nothing was changed: the saved record of run ${name} in the deployment has changed since it was shown to you`,
    ])
  })
})

describe('discard', () => {
  const discarded = async (
    of: Operator,
    name: string,
    more: Partial<RepairFlags> = {},
  ): Promise<End & { saved?: string | null }> => {
    let saved: string | null | undefined
    const end = await ended(async () => {
      saved = (await discardIn(of.session, { ...flags, ...more }, name, ['discard', name])).saved
      return null
    })
    return { ...end, ...(saved !== undefined && { saved }) }
  }

  test('shows the record, saves it, and removes it alone', async () => {
    const of = operator()
    planted(of, attack)
    const looked = await discarded(of, attack.run, { 'dry-run': true })
    expect([looked.code, looked.saved, of.journals.deployment.kept.size]).toEqual([0, null, 1])
    expect(looked.said).toMatch(/set JAVA_TOOL_OPTIONS=-javaagent:\/tmp\/x\.jar/)
    expect(looked.said).not.toMatch(/[\u001b\u202e]/)
    const end = await discarded(of, attack.run)
    expect([end.code, of.journals.deployment.kept.size, of.deployment.changes]).toEqual([0, 0, []])
    expect(of.journals.here.foreign.get(end.saved!)).toEqual([JSON.stringify(attack)])
  })

  test('has to be confirmed', async () => {
    const of = operator()
    planted(of, attack)
    expect([(await discarded(of, attack.run, { confirm: undefined })).code, of.journals.deployment.kept.size]).toEqual([
      4, 1,
    ])
  })

  test('a record that may be genuine stays, unless its risk is accepted', async () => {
    const of = operator()
    const name = await killedAt('release-lock:judged', of)
    const other = elsewhere(of)
    const end = await discarded(other, name)
    expect([end.code, end.message]).toEqual([
      4,
      `the record may belong to an unfinished repair of this deployment; without the record of run ${name}, ` +
        'nobody can resume or undo that run',
    ])
    expect((await discarded(of, name)).message).toBe(
      `run ${name} is unfinished: once the copy of its record is removed from the deployment, other machines cannot ` +
        'see the run',
    )
    expect((await discarded(other, name, { 'accept-risk': ['unfinished-run'] })).code).toBe(0)
    expect([of.journals.deployment.kept.size, of.deployment.service, of.deployment.rows]).toEqual([
      0,
      'stopped',
      [stuck],
    ])
  })

  test('a record that is no record can be removed, too', async () => {
    const of = operator()
    of.journals.deployment.kept.set('$(touch x)', ['nonsense'])
    expect((await discarded(of, '$(touch x)')).code).toBe(0)
    expect([await discarded(of, '$(touch x)')]).toMatchObject([{ code: 0, saved: null }])
  })
})
