import { describe, expect, it } from 'vitest'
import { defineCheck } from '../../src/core/check.ts'
import type { Check, Remedy } from '../../src/core/check.ts'
import type { Deployment } from '../../src/core/deployment.ts'
import { AdminError } from '../../src/core/error.ts'
import type { RunOptions } from '../../src/engine/run-checks.ts'
import { fakeApi, fakeDatabase, openFakes, unreachable } from '../fakes/index.ts'
import { fine, guard, one, remedy, run } from './run.ts'

describe('sources', () => {
  const reader = (id: string): Check =>
    defineCheck({ id, title: 'well', reads: ['database', 'api'], remedy, run: fine })

  it('are opened once each, and only those that are read', async () => {
    const opened: string[] = []
    const open = Object.fromEntries(
      Object.entries(openFakes()).map(([name, opener]) => [name, () => (opened.push(name), opener())]),
    ) as unknown as RunOptions['open']
    await run([guard, reader('a/b'), reader('c/d')], { open })
    expect(opened.sort()).toEqual(['api', 'database'])
  })

  it('that cannot be opened cause nothing where what they show may well run', async () => {
    const broken = defineCheck({
      ...reader('a/b'),
      reads: [],
      run: async () => ({ status: 'problem', severity: 'error', findings: [{ message: 'broken', evidence: [] }] }),
    })
    const open = openFakes({ database: unreachable('database') })
    const blind = { ...guard, explains: ['a/b'] }
    expect((await run([blind, broken], { open })).rootCauses).toEqual([guard.id])
    expect((await run([{ ...blind, explainsUnopened: false }, broken], { open })).rootCauses).toEqual([guard.id, 'a/b'])
  })

  it.each<[what: string, error: AdminError, explains: boolean]>([
    ["the service's login is refused", new AdminError('UNAUTHENTICATED', 'refused'), true],
    [
      'the login of the configuration is refused',
      new AdminError('UNAUTHENTICATED', 'refused', [], { obstacle: { kind: 'login' } }),
      false,
    ],
    [
      'the login of the configuration is not allowed it',
      new AdminError('FORBIDDEN', 'no such vhost', [], { obstacle: { kind: 'login' } }),
      false,
    ],
    ['a secret of the configuration is missing', new AdminError('SECRET_MISSING', 'not set'), false],
    ["the service's own setting makes no sense", new AdminError('CONFIGURATION', 'is no port'), true],
    ['no slot is left', new AdminError('EXHAUSTED', 'no free connection'), true],
  ])('that cannot be opened explain what the service suffers from too: %s', async (_, error, explains) => {
    const down = defineCheck({
      ...reader('service/running'),
      reads: [],
      run: async () => ({ status: 'problem', severity: 'error', findings: [{ message: 'stopped', evidence: [] }] }),
    })
    const report = await run([{ ...guard, explains: [down.id] }, reader('a/b'), down], {
      open: openFakes({ database: error }),
    })
    expect(report.checks).toMatchObject([
      { status: 'problem', findings: [{ message: error.message }] },
      { status: 'unknown', because: guard.id },
      { status: 'problem', ...(explains && { because: guard.id }) },
    ])
    expect(report.rootCauses).toEqual(explains ? [guard.id] : [guard.id, down.id])
  })

  it.each([
    ['no route to host', ['nc -z x 1', 'no route to host']],
    [
      '0010D2B4:error:0A00010B:SSL routines:ssl3_get_record:wrong version ' +
        'number:../deps/openssl/ssl/record/ssl3_record.c:355:\n',
      ['nc -z x 1'],
    ],
  ])('that cannot be opened show what the system says of it, but no text of OpenSSL: %s', async (said, evidence) => {
    const error = new AdminError('UNREACHABLE', 'it cannot be reached', ['nc -z x 1'], { cause: new Error(said) })
    const report = await run([guard], { open: openFakes({ database: error }) })
    expect(report.checks[0]).toMatchObject({ findings: [{ message: 'it cannot be reached', evidence }] })
  })

  it('that have not been tried, for it is not known where they are, are nobody’s problem', async () => {
    const error = new AdminError('UNAVAILABLE', 'the settings cannot be read', ['ls -l /etc'], {
      obstacle: { kind: 'settings' },
    })
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
    expect(both.checks[2]).toMatchObject({
      status: 'unknown',
      because: 'api/reachable',
      error: { code: 'UNREACHABLE' },
    })
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
    expect(await evidence(failed('no such thing', 'connect ECONNREFUSED'))).toEqual([
      'pg_isready -h db',
      'connect ECONNREFUSED',
    ])
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
