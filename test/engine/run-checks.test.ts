import { describe, expect, it } from 'vitest'
import { defineCheck } from '../../src/core/check.ts'
import type { Check } from '../../src/core/check.ts'
import { AdminError } from '../../src/core/error.ts'
import { openFakes } from '../fakes/index.ts'
import { fine, guard, one, remedy, run, wait } from './run.ts'

describe('what a check throws', () => {
  const throwing = (error: unknown): Check => ({
    id: 'a/b',
    title: 'well',
    reads: [],
    remedy,
    run: async () => {
      throw error
    },
  })

  it('leaves it unknown with the error', async () => {
    expect(await one(throwing(new AdminError('FORBIDDEN', 'not allowed', ['GRANT it'])))).toMatchObject({
      status: 'unknown',
      error: { code: 'FORBIDDEN', message: 'not allowed', suggestions: ['GRANT it'] },
    })
  })

  it('fills in what is typed on this deployment, also in the reason of a skipped one', async () => {
    const suggestions = ['look -d {deployment}', '{restart}']
    expect(await one(throwing(new AdminError('TIMED_OUT', 'late', suggestions)))).toMatchObject({
      error: { suggestions: ['look -d prod', 'systemctl restart testops'] },
    })
    expect(await one(throwing(new AdminError('TIMED_OUT', 'late', suggestions)), { commands: null })).toMatchObject({
      error: { suggestions: ['look -d prod', '# restart the service'] },
    })
    const skipping: Check = {
      ...throwing(null),
      run: async () => ({ status: 'skipped', reason: 'type: look -d {deployment}' }),
    }
    expect(await one(skipping)).toMatchObject({ status: 'skipped', reason: 'type: look -d prod' })
  })

  it('skips it where the deployment has no such part', async () => {
    expect(await one(throwing(new AdminError('NOT_CONFIGURED', 'no token')))).toMatchObject({
      status: 'skipped',
      reason: 'no token',
    })
  })

  it('is a bug where it is no error for the operator, and never ends the run', async () => {
    const report = await run([
      throwing(new TypeError('x is not a function')),
      { ...throwing(null), id: 'c/d', run: fine },
    ])
    expect(report.checks[0]).toMatchObject({
      status: 'unknown',
      error: { code: 'BUG', message: 'this is a bug in testops-admin: x is not a function' },
    })
    expect(report.checks[0]?.error?.suggestions[0]).toContain('run-checks.test.ts')
    expect(report.summary).toEqual({ ok: 1, warning: 0, error: 0, skipped: 0, unknown: 1, suppressed: 0 })
  })

  it('is a bug too where it is thrown before there is a promise', async () => {
    const check: Check = {
      ...throwing(null),
      run: () => {
        throw new RangeError('early')
      },
    }
    expect(await one(check)).toMatchObject({ status: 'unknown', error: { code: 'BUG' } })
  })
})

describe('deadlines', () => {
  const hanging = defineCheck({
    id: 'a/b',
    title: 'well',
    reads: [],
    remedy,
    run: () => new Promise<never>(() => undefined),
  })

  it('end a check that hangs, and no other', async () => {
    const report = await run([hanging, { ...hanging, id: 'c/d', run: fine }], {
      deadlineMs: 61_000,
      waitMs: 30,
    })
    expect(report.checks).toMatchObject([
      {
        status: 'unknown',
        error: {
          code: 'TIMED_OUT',
          message: 'check `a/b` did not finish within 61 s',
          suggestions: ['testops-admin doctor -d prod --only a/b --timeout 120'],
        },
      },
      { status: 'ok' },
    ])
  })

  it('end the opening of a source that hangs', async () => {
    const open = { ...openFakes(), database: () => new Promise<never>(() => undefined) }
    expect(await one(guard, { open, deadlineMs: 30 })).toMatchObject({
      status: 'problem',
      findings: [{ message: 'opening the database timed out after 0.03 s' }],
    })
  })

  it('run at the same time', async () => {
    let begun = 0
    let allBegun = (): void => undefined
    const all = new Promise<void>((resolve) => (allBegun = resolve))
    const waiting = (id: string): Check => ({
      ...hanging,
      id,
      async run() {
        begun += 1
        if (begun === 4) allBegun()
        await all
        return { status: 'ok', detail: '' }
      },
    })
    const { checks } = await run(['a/a', 'a/b', 'a/c', 'a/d'].map(waiting))
    expect(checks.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok'])
  })
})

describe('events', () => {
  const after = (id: string, milliseconds: number): Check =>
    defineCheck({
      id,
      title: 'well',
      reads: [],
      remedy,
      run: async () => (await wait(milliseconds), { status: 'ok', detail: 'fine' }),
    })

  it('come as checks end, the report in display order', async () => {
    const seen: string[] = []
    const report = await run([after('a/slow', 60), after('b/quick', 1)], { onResult: ({ id }) => seen.push(id) })
    expect(seen).toEqual(['b/quick', 'a/slow'])
    expect(report.checks.map(({ id }) => id)).toEqual(['a/slow', 'b/quick'])
  })

  it('cease when the run is aborted, which ends at once', async () => {
    const controller = new AbortController()
    const seen: string[] = []
    const running = run([after('a/slow', 1500), after('b/quick', 1)], {
      onResult: ({ id }) => {
        seen.push(id)
        controller.abort()
      },
      signal: controller.signal,
    })
    const before = performance.now()
    await expect(running).rejects.toMatchObject({ code: 'INTERRUPTED', exitCode: 6 })
    expect(performance.now() - before).toBeLessThan(1200)
    await wait(1700)
    expect(seen).toEqual(['b/quick'])
  })

  it('do not come at all where it was aborted before', async () => {
    await expect(run([after('a/b', 1)], { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'INTERRUPTED' })
  })
})

it('makes a whole report', async () => {
  const report = await run([defineCheck({ id: 'a/b', title: 'well', reads: [], remedy, run: fine })])
  expect({
    ...report,
    startedAt: '',
    durationMs: 0,
    checks: report.checks.map((check) => ({ ...check, durationMs: 0 })),
  }).toEqual({
    schemaVersion: 1,
    deployment: 'prod',
    platform: 'host',
    startedAt: '',
    durationMs: 0,
    summary: { ok: 1, warning: 0, error: 0, skipped: 0, unknown: 0, suppressed: 0 },
    rootCauses: [],
    checks: [
      { id: 'a/b', title: 'well', status: 'ok', detail: 'fine', docs: 'testops-admin explain a/b', durationMs: 0 },
    ],
  })
})

describe('while something is under way that no repair may interrupt', () => {
  const migrating: Check = {
    id: 'a/migrates',
    title: 'well',
    reads: [],
    run: async () => ({ status: 'ok', detail: 'it migrates', underway: 'a migration' }),
  }
  const broken = (command: string): Check => ({
    id: 'a/b',
    title: 'well',
    reads: [],
    run: async () => ({
      status: 'problem',
      severity: 'warning',
      findings: [{ message: 'broken', evidence: [] }],
      remedy: { text: 'mend it', commands: [command] },
    }),
  })
  const commandsOf = async (command: string, ...others: Check[]): Promise<unknown> =>
    (await run([...others, broken(command)])).checks.at(-1)?.remedy?.commands

  it('is waited for before a repair of this program', async () => {
    const repair = 'testops-admin set-env -d {deployment} A=b'
    expect(await commandsOf(repair, migrating)).toEqual([
      'testops-admin doctor -d prod   # run the checks again once the running migration or repair has finished',
      'testops-admin set-env -d prod A=b',
    ])
    expect(await commandsOf(repair)).toEqual(['testops-admin set-env -d prod A=b'])
  })

  it.each(['journalctl -u testops', 'testops-admin explain a/b', 'testops-admin check-integration -d prod'])(
    'is not waited for before what only looks: %s',
    async (command) => {
      expect(await commandsOf(command, migrating)).toEqual([command])
    },
  )
})

describe('where an unfinished repair waits for nothing but a start', () => {
  const crashed: Check = {
    id: 'service/crashes',
    title: 'well',
    reads: [],
    run: async () => ({
      status: 'problem',
      severity: 'error',
      findings: [{ message: 'it ended', evidence: [] }],
      remedy: {
        text: 'start it',
        commands: [
          'edit it',
          'testops-admin service start -d {deployment}',
          'testops-admin service restart -d {deployment}',
        ],
      },
    }),
  }
  const unfinished: Check = {
    id: 'service/unfinished-repair',
    title: 'well',
    reads: [],
    explains: ['service/crashes'],
    run: async () => ({
      status: 'problem',
      severity: 'error',
      findings: [{ message: 'unfinished', evidence: [] }],
      follows: 'service/crashes',
      remedy: { text: 'resume it', commands: ['testops-admin resume RUN -d {deployment}'] },
    }),
  }

  it('is resumed in place of a start, which would be refused', async () => {
    const { checks, rootCauses } = await run([unfinished, crashed])
    expect({ rootCauses, commands: checks[1]!.remedy?.commands }).toEqual({
      rootCauses: ['service/crashes'],
      commands: ['edit it', 'testops-admin resume RUN -d prod'],
    })
    expect((await run([crashed])).checks[0]!.remedy?.commands).toContain('testops-admin service start -d prod')
  })

  const stale: Check = {
    id: 'sessions/clock',
    title: 'well',
    reads: [],
    run: async () => ({
      status: 'problem',
      severity: 'error',
      findings: [{ message: 'stale', evidence: [] }],
      remedy: { text: 'remove them', commands: ['testops-admin flush-sessions --stale -d {deployment}'] },
    }),
  }
  const blocking = (follows?: string): Check => ({
    ...unfinished,
    run: async (...all) => {
      const outcome = await unfinished.run(...all)
      return outcome.status === 'problem'
        ? { ...outcome, blocksRepairs: true, ...(follows === undefined ? { follows: 'nothing' } : { follows }) }
        : outcome
    },
  })

  it('comes before any other repair, which would be refused', async () => {
    const { checks } = await run([stale, blocking()])
    expect(checks[0]!.remedy?.commands).toEqual([
      'testops-admin resume RUN -d prod',
      'testops-admin flush-sessions --stale -d prod',
    ])
    const { checks: crashing } = await run([stale, blocking('service/crashes'), crashed])
    expect(crashing[0]!.remedy?.commands).toEqual(['edit it', 'testops-admin flush-sessions --stale -d prod'])
    // even an unfinished repair, which would start the service too
    const apart: Check = {
      ...crashed,
      run: async (...all) => ({ ...(await crashed.run(...all)), blocksRepairs: true, isApart: true }) as never,
    }
    const { checks: held } = await run([stale, blocking(), apart])
    expect(held.map(({ remedy: of }) => of?.commands[0])).toEqual(['edit it', 'edit it', 'edit it'])
    expect((await run([stale])).checks[0]!.remedy?.commands).toEqual(['testops-admin flush-sessions --stale -d prod'])
  })
})

describe('a check that the configuration ignores', () => {
  const wrong = (id: string, explains: readonly string[] = []): Check => ({
    id,
    title: 'well',
    reads: [],
    remedy,
    explains,
    run: async () => ({ status: 'problem', severity: 'error', findings: [{ message: 'no', evidence: ['x'] }] }),
  })
  const checks = [wrong('a/cause', ['a/effect']), wrong('a/effect')]
  const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
  const ignoring = (until: string, isIgnoring = true): ReturnType<typeof run> =>
    run(checks, {
      isIgnoring,
      deployment: {
        name: 'prod',
        platform: 'host',
        vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
        timeZone: null,
        ignore: [{ check: 'a/cause', reason: 'known, {deployment}', until }],
      },
    })

  it('does not count, is kept with its findings, and hides none of its effects', async () => {
    const until = day(0)
    const { summary, rootCauses, checks: reports } = await ignoring(until)
    expect(summary).toEqual({ ok: 0, warning: 0, error: 1, skipped: 1, unknown: 0, suppressed: 1 })
    expect(rootCauses).toEqual(['a/effect'])
    expect(reports[0]).toMatchObject({
      status: 'skipped',
      reason: `suppressed until ${until}: known, {deployment}`,
      suppressed: { severity: 'error', findings: [{ message: 'no', evidence: ['x'] }], until },
    })
    expect(reports[1]).toMatchObject({ status: 'problem', remedy: { text: 'Repair prod.' } })
    expect(reports[1]!.because).toBe(undefined)
  })

  it('counts again after that day, and the report says so', async () => {
    const until = day(-1)
    const { summary, rootCauses, checks: reports } = await ignoring(until)
    expect([summary.error, summary.suppressed, rootCauses]).toEqual([2, 0, ['a/cause']])
    expect(reports.map(({ ignoredUntil }) => ignoredUntil)).toEqual([until, undefined])
  })

  it('is ignored until the last of its days, and never where all else rests on it', async () => {
    const ignore = [day(-3), day(2), day(-5)].map((until) => ({ check: 'a/cause', reason: 'known', until }))
    const own = { name: 'prod', platform: 'host', vendor: { prefix: 'V', package: 'V' }, timeZone: null } as const
    const { summary } = await run(checks, { isIgnoring: true, deployment: { ...own, ignore } })
    expect([summary.error, summary.suppressed]).toEqual([1, 1])
    const all = ['database/reachable', 'service/unfinished-repair'].map((id) => wrong(id))
    const planted = all.map(({ id }) => ({ check: id, reason: 'planted', until: day(2) }))
    const counted = await run(all, { isIgnoring: true, deployment: { ...own, ignore: planted } })
    expect([counted.summary.error, counted.summary.suppressed]).toEqual([2, 0])
  })

  it('counts where a repair is verified', async () => {
    const { summary, rootCauses } = await ignoring(day(30), false)
    expect([summary.error, summary.suppressed, rootCauses]).toEqual([2, 0, ['a/cause']])
  })

  it('is not judged as healthy if it could not be judged', async () => {
    const lost = { ...wrong('a/cause'), run: async () => Promise.reject(new AdminError('UNREACHABLE', 'gone')) }
    const { summary } = await run([lost], {
      isIgnoring: true,
      deployment: {
        name: 'prod',
        platform: 'host',
        vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
        timeZone: null,
        ignore: [{ check: 'a/cause', reason: 'known', until: day(1) }],
      },
    })
    expect([summary.unknown, summary.suppressed]).toEqual([1, 0])
  })
})
