import { describe, expect, it } from 'vitest'
import { defineCheck } from '../../src/core/check.ts'
import type { Check, Remedy } from '../../src/core/check.ts'
import type { Deployment } from '../../src/core/deployment.ts'
import { AdminError } from '../../src/core/error.ts'
import type { CheckReport } from '../../src/core/report.ts'
import { runChecks } from '../../src/engine/run-checks.ts'
import type { RunOptions } from '../../src/engine/run-checks.ts'
import { commands, fakeApi, fakeDatabase, openFakes, unreachable } from '../fakes/index.ts'

const remedy = { text: 'Repair {deployment}.', commands: ['repair -d {deployment}', '{start}'] }
const fine = async () => ({ status: 'ok', detail: 'fine' }) as const
const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

function run(checks: readonly Check[], options: Partial<RunOptions> = {}): ReturnType<typeof runChecks> {
  return runChecks({
    checks,
    open: openFakes(),
    deployment: { name: 'prod', platform: 'host', vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' }, timeZone: null },
    deadlineMs: 1000,
    commands,
    ...options,
  })
}

async function one(check: Check, options: Partial<RunOptions> = {}): Promise<CheckReport> {
  return (await run([check], options)).checks[0]!
}

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
    const skipping: Check = { ...throwing(null), run: async () => ({ status: 'skipped', reason: 'type: look -d {deployment}' }) }
    expect(await one(skipping)).toMatchObject({ status: 'skipped', reason: 'type: look -d prod' })
  })

  it('skips it where the deployment has no such part', async () => {
    expect(await one(throwing(new AdminError('NOT_CONFIGURED', 'no token')))).toMatchObject({
      status: 'skipped',
      reason: 'no token',
    })
  })

  it('is a bug where it is no error for the operator, and never ends the run', async () => {
    const report = await run([throwing(new TypeError('x is not a function')), { ...throwing(null), id: 'c/d', run: fine }])
    expect(report.checks[0]).toMatchObject({
      status: 'unknown',
      error: { code: 'BUG', message: 'a bug of this program: x is not a function' },
    })
    expect(report.checks[0]?.error?.suggestions[0]).toContain('run-checks.test.ts')
    expect(report.summary).toEqual({ ok: 1, warning: 0, error: 0, skipped: 0, unknown: 1 })
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

describe('sources', () => {
  const reader = (id: string): Check => defineCheck({ id, title: 'well', reads: ['database', 'api'], remedy, run: fine })
  const guard = defineCheck({
    id: 'database/reachable',
    title: 'well',
    reads: ['database'],
    guards: 'database',
    remedy,
    run: fine,
  })

  it('are opened once each, and only those that are read', async () => {
    const opened: string[] = []
    const open = Object.fromEntries(
      Object.entries(openFakes()).map(([name, opener]) => [name, () => (opened.push(name), opener())]),
    ) as unknown as RunOptions['open']
    await run([guard, reader('a/b'), reader('c/d')], { open })
    expect(opened.sort()).toEqual(['api', 'database'])
  })

  it('that cannot be opened cause nothing where what they show may well run', async () => {
    const broken = defineCheck({ ...reader('a/b'), reads: [], run: async () => ({ status: 'problem', severity: 'error', findings: [{ message: 'broken', evidence: [] }] }) })
    const open = openFakes({ database: unreachable('database') })
    const blind = { ...guard, explains: ['a/b'] }
    expect((await run([blind, broken], { open })).rootCauses).toEqual([guard.id])
    expect((await run([{ ...blind, explainsUnopened: false }, broken], { open })).rootCauses).toEqual([guard.id, 'a/b'])
  })

  it.each<[what: string, error: AdminError, explains: boolean]>([
    ["the service's login is refused", new AdminError('UNAUTHENTICATED', 'refused'), true],
    ['the login of the configuration is refused', new AdminError('UNAUTHENTICATED', 'refused', [], { obstacle: { kind: 'login' } }), false],
    ['the login of the configuration is not allowed it', new AdminError('FORBIDDEN', 'no such vhost', [], { obstacle: { kind: 'login' } }), false],
    ['a secret of the configuration is missing', new AdminError('SECRET_MISSING', 'not set'), false],
    ["the service's own setting makes no sense", new AdminError('CONFIGURATION', 'is no port'), true],
    ['no slot is left', new AdminError('EXHAUSTED', 'no free connection'), true],
  ])('that cannot be opened explain what the service suffers from too: %s', async (_, error, explains) => {
    const down = defineCheck({ ...reader('service/running'), reads: [], run: async () => ({ status: 'problem', severity: 'error', findings: [{ message: 'stopped', evidence: [] }] }) })
    const report = await run([{ ...guard, explains: [down.id] }, reader('a/b'), down], { open: openFakes({ database: error }) })
    expect(report.checks).toMatchObject([
      { status: 'problem', findings: [{ message: error.message }] },
      { status: 'unknown', because: guard.id },
      { status: 'problem', ...(explains && { because: guard.id }) },
    ])
    expect(report.rootCauses).toEqual(explains ? [guard.id] : [guard.id, down.id])
  })

  it('that have not been tried, for it is not known where they are, are nobody’s problem', async () => {
    const error = new AdminError('UNAVAILABLE', 'the settings cannot be read', ['ls -l /etc'], { obstacle: { kind: 'settings' } })
    const report = await run([guard, reader('a/b')], { open: openFakes({ database: error }) })
    const told = { code: 'UNAVAILABLE', message: 'the settings cannot be read', suggestions: ['ls -l /etc'] }
    expect(report.checks.map(({ status, error: said, because }) => ({ status, said, because }))).toEqual([
      { status: 'unknown', said: told, because: undefined },
      { status: 'unknown', said: told, because: undefined },
    ])
    expect(report.rootCauses).toEqual([])
    const both = await run([guard, { ...guard, id: 'api/reachable', reads: ['api'], guards: 'api' }, reader('a/b')], {
      open: openFakes({ database: error, api: unreachable('api') }),
    })
    expect(both.checks[2]).toMatchObject({ status: 'unknown', because: 'api/reachable', error: { code: 'UNREACHABLE' } })
  })

  it('that cannot be opened are the problem of the check that stands for them', async () => {
    const report = await run([guard, reader('a/b')], { open: openFakes({ database: unreachable('database') }) })
    expect(report.rootCauses).toEqual(['database/reachable'])
    expect(report.checks).toMatchObject([
      {
        status: 'problem',
        severity: 'error',
        findings: [
          {
            message: 'PostgreSQL at db.example.org:5432 refused the connection',
            evidence: ['pg_isready -h db.example.org -p 5432'],
          },
        ],
      },
      { status: 'unknown', because: 'database/reachable', error: { code: 'UNREACHABLE' } },
    ])
    expect(report.checks[1]).not.toHaveProperty('remedy')
  })

  it('leave a check unknown by itself where none stands for them', async () => {
    const report = await one(reader('a/b'), { open: openFakes({ database: unreachable('database') }) })
    expect(report).toMatchObject({ status: 'unknown', error: { code: 'UNREACHABLE' } })
    expect(report).not.toHaveProperty('because')
  })

  it('are mended as the check that stands for them says for that error', async () => {
    const unopened = ({ code }: AdminError, { platform }: Deployment): Remedy => ({
      text: `Mend ${code} of {deployment} on ${platform}.`,
      commands: ['{restart}'],
    })
    const open = openFakes({ database: new AdminError('EXHAUSTED', 'no free connection', ['psql -U postgres']) })
    expect(await one({ ...guard, unopened }, { open })).toMatchObject({
      status: 'problem',
      findings: [{ message: 'no free connection', evidence: ['psql -U postgres'] }],
      remedy: { text: 'Mend EXHAUSTED of prod on host.', commands: ['systemctl restart testops'] },
    })
  })

  it('show what the error came from, unless it says that already', async () => {
    const failed = (message: string, cause: string): AdminError =>
      new AdminError('UNREACHABLE', message, ['pg_isready -h db'], { cause: new Error(cause) })
    const evidence = async (error: AdminError): Promise<unknown> =>
      (await one(guard, { open: openFakes({ database: error }) })).findings?.[0]?.evidence
    expect(await evidence(failed('no such thing', 'connect ECONNREFUSED'))).toEqual(['pg_isready -h db', 'connect ECONNREFUSED'])
    expect(await evidence(failed('it said: timeout', 'timeout'))).toEqual(['pg_isready -h db'])
    expect(await evidence(new AdminError('SECRET_MISSING', 'the secret is missing'))).toEqual([])
  })

  it('that the deployment does not have skip their checks', async () => {
    const open = openFakes({ database: new AdminError('NOT_CONFIGURED', 'no database'), api: unreachable('api') })
    expect((await run([guard, reader('a/b')], { open })).checks).toMatchObject([
      { status: 'skipped', reason: 'no database' },
      { status: 'skipped', reason: 'no database' },
    ])
  })

  it('that are wanted only come as the error that opening them gave', async () => {
    const seen: unknown[] = []
    const check = defineCheck({
      id: 'a/b',
      title: 'well',
      reads: [],
      wants: ['database', 'api'],
      remedy,
      run: async ({ database, api }) => {
        seen.push(database instanceof AdminError && database.code, api instanceof AdminError)
        return { status: 'ok', detail: '' }
      },
    })
    await one(check, { open: openFakes({ database: unreachable('database') }) })
    expect(seen).toEqual(['UNREACHABLE', false])
  })

  it('fail with a bug of ours as a bug', async () => {
    const open = {
      ...openFakes(),
      database: async () => {
        throw new TypeError('oops')
      },
    }
    expect((await run([guard, reader('a/b')], { open })).checks).toMatchObject([
      { status: 'unknown', error: { code: 'BUG' } },
      { status: 'unknown', error: { code: 'BUG' }, because: 'database/reachable' },
    ])
  })

  it('are asked each question once', async () => {
    const asked: string[] = []
    const api = fakeApi({
      latencies: () => (asked.push('latencies'), [1]),
      health: () => (asked.push('health'), { httpStatus: 200, status: 'UP', durationMs: 1 }),
    })
    const database = fakeDatabase({ changelogLocks: () => (asked.push('locks'), []) })
    const asking = (id: string): Check =>
      defineCheck({
        id,
        title: 'well',
        reads: ['api', 'database'],
        remedy,
        run: async (sources) => {
          await Promise.all([
            sources.api.latencies(),
            sources.api.health(),
            sources.api.health(),
            sources.database[0].changelogLocks(),
          ])
          return { status: 'ok', detail: sources.database[0].target }
        },
      })
    const report = await run([asking('a/b'), asking('c/d')], { open: openFakes({ api, database: [database] }) })
    expect(asked.sort()).toEqual(['health', 'latencies', 'locks'])
    expect(report.checks[0]?.detail).toBe('db.example.org:5432/testops')
  })
})

describe('deadlines', () => {
  const hanging = defineCheck({ id: 'a/b', title: 'well', reads: [], remedy, run: () => new Promise<never>(() => undefined) })

  it('end a check that hangs, and no other', async () => {
    const report = await run([hanging, { ...hanging, id: 'c/d', run: fine }], { deadlineMs: 30 })
    expect(report.checks).toMatchObject([
      {
        status: 'unknown',
        error: {
          code: 'TIMED_OUT',
          message: 'a/b did not finish within 0.03 s',
          suggestions: ['testops-admin doctor -d prod --only a/b --timeout 30'],
        },
      },
      { status: 'ok' },
    ])
  })

  it('end the opening of a source that hangs', async () => {
    const open = { ...openFakes(), database: () => new Promise<never>(() => undefined) }
    const check = defineCheck({
      id: 'database/reachable',
      title: 'well',
      reads: ['database'],
      guards: 'database',
      remedy,
      run: fine,
    })
    expect(await one(check, { open, deadlineMs: 30 })).toMatchObject({
      status: 'problem',
      findings: [{ message: 'the database could not be opened within 0.03 s' }],
    })
  })

  it('run at the same time', async () => {
    const slow = (id: string): Check => ({ ...hanging, id, run: async () => (await wait(60), { status: 'ok', detail: '' }) })
    const before = performance.now()
    await run(['a/a', 'a/b', 'a/c', 'a/d'].map(slow))
    expect(performance.now() - before).toBeLessThan(200)
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
    const running = run([after('a/slow', 300), after('b/quick', 1)], {
      onResult: ({ id }) => seen.push(id),
      signal: controller.signal,
    })
    setTimeout(() => controller.abort(), 40)
    const before = performance.now()
    await expect(running).rejects.toMatchObject({ code: 'INTERRUPTED', exitCode: 6 })
    expect(performance.now() - before).toBeLessThan(250)
    await wait(300)
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
    summary: { ok: 1, warning: 0, error: 0, skipped: 0, unknown: 0 },
    rootCauses: [],
    checks: [{ id: 'a/b', title: 'well', status: 'ok', detail: 'fine', docs: 'testops-admin explain a/b', durationMs: 0 }],
  })
})
