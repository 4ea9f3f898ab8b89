import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Check, DoctorReport } from '../../src/core/check.ts'
import { AdminError } from '../../src/core/error.ts'
import type { RunHistory } from '../../src/core/run.ts'
import { runState } from '../../src/core/run-state.ts'
import type { LogRecord, PlatformChange } from '../../src/core/sources.ts'
import { fakeLogs, fakeRuns, fakeService, openFakes } from '../fakes/index.ts'
import { remedy, run, wait } from './run.ts'

const now = new Date('2026-11-24T12:00:00.000Z')
const hoursAgo = (hours: number): Date => new Date(now.getTime() - hours * 3_600_000)

function atNoon(): void {
  vi.useFakeTimers({ now, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
}

const failing = (id = 'database/disk', since?: Date): Check => ({
  id,
  title: 'well',
  reads: [],
  remedy,
  run: async () => ({
    status: 'problem',
    severity: 'error',
    findings: [{ message: 'bad', evidence: [] }],
    ...(since && { since }),
  }),
})

const change = (at: Date, message: string, kind: PlatformChange['kind'] = 'rollout'): PlatformChange => ({
  kind,
  at,
  message,
  proof: 'look',
})

const record = (at: Date, text = 'Waiting for changelog lock....'): LogRecord => ({ at, text, level: 'INFO' })

type Parts = NonNullable<Parameters<typeof openFakes>[0]>

async function diagnosed(
  checks: readonly Check[],
  {
    changes = [] as PlatformChange[],
    unseen = [] as string[],
    ...parts
  }: { changes?: PlatformChange[]; unseen?: string[] } & Parts = {},
): Promise<Omit<DoctorReport, 'build'>> {
  atNoon()
  return run(checks, {
    open: openFakes({ service: fakeService({ changes: { changes, unseen } }), ...parts }),
    past: 'with-problems',
  })
}

const shown = (report: Omit<DoctorReport, 'build'>, at = 0): (string | undefined)[] => [
  report.checks[at]!.began,
  ...(report.checks[at]!.changes ?? []).map(({ message }) => message),
]

function journal(repair: string, at: Date, events: readonly object[]): RunHistory {
  const name = `20261124T000000Z-${repair}-1f3a`
  return {
    record: {
      run: name,
      by: 'op@bastion',
      startedAt: at.toISOString(),
      plan: { repair, steps: [{ title: 'a step', action: { kind: 'move-messages' } }] },
    },
    events: events.map((it) => ({ at: at.toISOString(), by: 'op@bastion', ...it })),
  } as unknown as RunHistory
}

describe('what changed before a problem', () => {
  it('is what the platform knows of the 24 hours before the diagnosis, oldest first', async () => {
    const report = await diagnosed([failing()], {
      changes: [change(hoursAgo(1), 'late'), change(hoursAgo(25), 'too old'), change(hoursAgo(23), 'early')],
    })
    expect(shown(report)).toEqual([undefined, 'early', 'late'])
    expect(report.events!.list.map(({ message }) => message)).toEqual(['early', 'late'])
  })

  it('is what it knows of the 24 hours before the first sign, if there is one', async () => {
    const report = await diagnosed([failing('database/disk', hoursAgo(20)), failing('broker/alarms')], {
      changes: [
        change(hoursAgo(45), 'too old'),
        change(hoursAgo(30), 'before'),
        change(hoursAgo(20), 'at the same time'),
        change(hoursAgo(20), 'an end at the same time', 'restart'),
        change(hoursAgo(10), 'after'),
      ],
    })
    expect(shown(report)).toEqual([hoursAgo(20).toISOString(), 'before', 'at the same time'])
    expect(shown(report, 1)).toEqual([undefined, 'at the same time', 'an end at the same time', 'after'])
    expect(report.events!.from).toBe(hoursAgo(44).toISOString())
  })

  it('begins with the first record of its own fault in the log, as long as no two are a day apart', async () => {
    const waiting = [80, 30, 10, 1].map((hours) => record(hoursAgo(hours)))
    const logs = fakeLogs({
      recent: { complete: true, records: [...waiting, record(hoursAgo(0.5), 'calm')] },
    })
    const report = await diagnosed([failing('database/changelog-lock'), failing('broker/alarms')], { logs })
    expect(shown(report)).toEqual([hoursAgo(30).toISOString()])
    expect(shown(report, 1)).toEqual([undefined])
    expect(report.events!.list.filter(({ kind }) => kind === 'log').map(({ at }) => at)).toEqual(
      [30, 10, 1].map((hours) => hoursAgo(hours).toISOString()),
    )
    // who waits for a lock does not say when it was taken
    expect(report.events!.list.filter(({ kind }) => kind === 'lock')).toEqual([])
  })

  it('begins when the check says so, whatever the log tells of the time before', async () => {
    const records = [record(hoursAgo(20)), record(hoursAgo(19), 'Successfully released change log lock')]
    const logs = fakeLogs({ recent: { complete: true, records } })
    const changes = [change(hoursAgo(1.2), 'new image', 'image')]
    const report = await diagnosed([failing('database/changelog-lock', hoursAgo(1))], { logs, changes })
    expect(shown(report)).toEqual([hoursAgo(1).toISOString(), 'new image'])
    expect(report.events!.list.filter(({ kind }) => kind === 'lock').map(({ at }) => at)).toEqual([
      hoursAgo(1).toISOString(),
    ])
    // a lock that was released since is another one
    expect(shown(await diagnosed([failing('database/changelog-lock')], { logs, changes }))).toEqual([
      undefined,
      'new image',
    ])
  })

  it('counts repairs that changed something, each once, wherever its journal is', async () => {
    const done = journal('reset-queues', hoursAgo(3), [
      { event: 'intent', step: 0 },
      { event: 'done', step: 0, durationMs: 1 },
      { event: 'ended', outcome: 'done' },
    ])
    const refused = journal('flush-sessions', hoursAgo(2), [{ event: 'ended', outcome: 'refused' }])
    const begun = journal('migrate-trees', hoursAgo(1), [{ event: 'intent', step: 0 }])
    const runs = fakeRuns({ list: [runState(done), runState(refused)], inDeployment: [done, begun] })
    const report = await diagnosed([failing()], { runs })
    expect(shown(report)).toEqual([
      undefined,
      'op@bastion ran `reset-queues` (done)',
      'op@bastion ran `migrate-trees` (unfinished)',
    ])
    expect(report.checks[0]!.changes![0]!.proof).toBe(`testops-admin history -d prod   # run ${done.record.run}`)
  })

  it('is not asked if nothing is wrong', async () => {
    const asked = vi.fn(async () => ({ changes: [], unseen: [] }))
    atNoon()
    const report = await run([{ ...failing(), run: async () => ({ status: 'ok', detail: 'fine' }) }], {
      open: openFakes({ service: fakeService({ changes: asked }) }),
      past: 'with-problems',
    })
    expect(report.events).toBeUndefined()
    expect(asked).not.toHaveBeenCalled()
    const all = await run([{ ...failing(), run: async () => ({ status: 'ok', detail: 'fine' }) }], {
      open: openFakes({ service: fakeService({ changes: asked }) }),
      past: 'always',
    })
    expect(all.events?.list).toEqual([])
    expect(all.checks[0]!.changes).toBeUndefined()
  })

  it('is not asked by those who do not want it, such as the checks after a repair', async () => {
    const asked = vi.fn(async () => ({ changes: [], unseen: [] }))
    const report = await run([failing('database/disk', hoursAgo(1))], {
      open: openFakes({ service: fakeService({ changes: asked }) }),
    })
    expect([report.events, report.checks[0]!.began, asked.mock.calls]).toEqual([undefined, undefined, []])
  })

  it('loses no diagnosis by a bug of its own', async () => {
    atNoon()
    const changes = async (): Promise<never> => Promise.reject(new TypeError('x is not iterable'))
    const report = await run([failing()], {
      open: openFakes({ service: { ...fakeService(), changes } }),
      past: 'always',
    })
    expect([report.rootCauses, report.events!.unseen]).toEqual([['database/disk'], ['x is not iterable']])
  })

  it('says what could not be asked, and has no part in that of parts that are not there', async () => {
    const late = (): Promise<never> => wait(60_000).then(() => Promise.reject(new Error('never')))
    const report = await diagnosed([failing()], {
      unseen: ['ReplicaSets may not be listed'],
      runs: fakeRuns({ list: new AdminError('UNEXPECTED_ANSWER', 'a journal is damaged'), inDeployment: late }),
      logs: new AdminError('NOT_CONFIGURED', 'no log'),
    })
    expect(report.events!.unseen).toEqual([
      'ReplicaSets may not be listed',
      'a journal is damaged',
      "the deployment's records of repairs timed out",
    ])
  })

  it('hides secrets, and leaves out what has no time', async () => {
    const report = await diagnosed([failing()], {
      changes: [change(hoursAgo(1), 'set password=Hunter2secret'), change(new Date('?'), 'undated')],
    })
    expect(JSON.stringify(report)).not.toContain('Hunter2secret')
    expect(shown(report)).toHaveLength(2)
  })
})
