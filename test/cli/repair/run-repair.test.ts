import { describe, expect, test } from 'vitest'
import { repairIn } from '../../../src/cli/repair/run-repair.ts'
import type { RepairFlags } from '../../../src/cli/repair/flags.ts'
import type { Wish } from '../../../src/cli/repair/run-repair.ts'
import { AdminError } from '../../../src/core/error.ts'
import type { RepairLock } from '../../../src/core/lock.ts'
import type { RunResult } from '../../../src/engine/carry-out.ts'
import { repairText } from '../../../src/output/repair.ts'
import { plainScreen } from '../../../src/output/paint.ts'
import { free, passing, recordOf, run, stuck, told } from '../../engine/repairing.ts'
import { fakeDeployment } from '../../fakes/index.ts'
import { flags, operator, saidBy, wish } from './session.ts'
import type { Operator } from './session.ts'

async function repaired(
  of: Operator,
  more: Partial<RepairFlags> = {},
  wished: Partial<Wish> = {},
): Promise<RunResult & { said: string }> {
  let performed: RunResult | null = null
  const said = await saidBy(
    async () => (performed = await repairIn(of.session, { ...flags, ...more }, { ...wish, ...wished })),
  )
  return { ...performed!, said }
}

/** How it ended, and that nothing at all was written. */
async function untouched(
  of: Operator,
  more: Partial<RepairFlags> = {},
  wished: Partial<Wish> = {},
): Promise<unknown[]> {
  const { document, exitCode } = await repaired(of, more, wished)
  expect([of.deployment.changes, of.journals.here.writes, of.journals.deployment.writes]).toEqual([[], 0, 0])
  return [document.outcome, exitCode, document.error?.message, document.error?.suggestions]
}

const lockOf = (of: Partial<RepairLock>): RepairLock => ({
  where: 'db',
  take: async () => null,
  isHeld: async () => true,
  release: async () => undefined,
  ...of,
})

test('a plan that is confirmed is carried out, and on record', async () => {
  const of = operator()
  const { document, exitCode, said } = await repaired(of)
  expect([document.outcome, exitCode, of.deployment.rows]).toEqual(['done', 0, [free]])
  expect(said.replaceAll(/\d{8}T\S+/g, 'RUN').replaceAll(/\d\.\d s/g, '0.0 s')).toMatchInlineSnapshot(`
    "Run RUN
      1/3  stop the service
        waiting for the service and its processes to stop
      1/3  done after 0.0 s
      2/3  release the lock
      2/3  done after 0.0 s
      3/3  start the service
        waiting until the service answers
      3/3  done after 0.0 s
    "
  `)
  const [name] = [...of.journals.here.kept.keys()]
  expect(name).toBe(document.run)
  expect(told(await of.journals.here.read(name!)).at(-1)).toBe('ended done')
  expect(of.journals.deployment.kept.size).toBe(0)
})

test('a dry run writes nothing anywhere, even where it could not go on', async () => {
  expect(await untouched(operator(), { 'dry-run': true, confirm: undefined })).toEqual([
    'planned',
    0,
    undefined,
    undefined,
  ])
  const busy = operator({
    locks: [lockOf({ take: async () => ({ who: 'op2', since: null, what: null }) })],
    deployment: fakeDeployment({ rows: [{ ...stuck, lockedBy: 'alive' }] }),
  })
  expect(await untouched(busy, { 'dry-run': true })).toEqual(['planned', 0, undefined, undefined])
})

test('where there is nothing to do, that is a success', async () => {
  expect(await untouched(operator({ deployment: fakeDeployment() }), { confirm: undefined })).toEqual([
    'nothing-to-do',
    0,
    undefined,
    undefined,
  ])
})

describe('what is not confirmed is refused', () => {
  test('another name, even where there is nothing to do', async () => {
    expect((await untouched(operator({ deployment: fakeDeployment() }), { confirm: '' })).slice(0, 3)).toEqual([
      'refused',
      4,
      'Nothing changed: --confirm names ``, but this is deployment `prod`',
    ])
  })

  test('another name', async () => {
    expect(
      await untouched(
        operator(),
        { confirm: 'staging' },
        { words: ['unlock-changelog', '--confirm', 'staging', '--schema', 'my schema'] },
      ),
    ).toEqual([
      'refused',
      4,
      'Nothing changed: --confirm names `staging`, but this is deployment `prod`',
      ["testops-admin unlock-changelog --schema 'my schema' --confirm prod"],
    ])
  })

  test('no name, and no terminal to ask on', async () => {
    expect(await untouched(operator(), { confirm: undefined })).toEqual([
      'refused',
      4,
      'Nothing changed: this command needs a confirmation, but there is no terminal to ask on',
      ['testops-admin unlock-changelog -d prod --confirm prod'],
    ])
  })
})

describe('risks', () => {
  const risky = (): Operator => operator({ deployment: fakeDeployment({ rows: [{ ...stuck, lockedBy: 'alive' }] }) })

  test('one that was not accepted is refused, with the command that accepts it', async () => {
    expect(await untouched(risky(), {}, { words: ['unlock-changelog', '--schema', 'my schema'] })).toEqual([
      'refused',
      4,
      'the holder is alive: pid 7',
      [
        'wait until it has ended',
        "testops-admin unlock-changelog --schema 'my schema' --accept-risk live-holder   # only if you are sure",
      ],
    ])
  })

  test('one that was accepted is on record', async () => {
    const of = risky()
    const { document } = await repaired(of, { 'accept-risk': ['live-holder', 'unproven-holder'] })
    expect(document.outcome).toBe('done')
    expect((await of.journals.here.read(document.run!)).record.acceptedRisks).toEqual([
      'live-holder',
      'unproven-holder',
    ])
  })
})

describe('a plan that is not of now is refused', () => {
  test('a lock that changes hands between the question and the first step', async () => {
    const deployment = fakeDeployment({ rows: [stuck] })
    const changing = lockOf({
      async take() {
        deployment.rows = [{ ...stuck, lockedBy: 'testops-2 (10.0.0.8)' }]
        return null
      },
    })
    expect(await untouched(operator({ deployment, locks: [changing] }))).toEqual([
      'refused',
      4,
      'the deployment has changed since the plan was made: a new plan would differ in its steps',
      ['testops-admin unlock-changelog -d prod --config own.yaml --dry-run'],
    ])
  })

  test('a saved plan of yesterday', async () => {
    const saved = (await repaired(operator(), { 'dry-run': true })).document.plan
    expect(
      (
        await untouched(
          operator({ deployment: fakeDeployment({ rows: [{ ...stuck, lockedBy: 'testops-2' }] }) }),
          {},
          { saved },
        )
      ).slice(0, 2),
    ).toEqual(['refused', 4])
    expect((await untouched(operator({ deployment: fakeDeployment() }), {}, { saved })).slice(0, 2)).toEqual([
      'refused',
      4,
    ])
    expect((await repaired(operator(), {}, { saved })).document.outcome).toBe('done')
  })
})

describe('one repair at a time', () => {
  test('the second operator is told who, since when and what', async () => {
    const held = lockOf({
      take: async () => ({
        who: 'op2@bastion (process 7)',
        since: new Date('2026-11-21T02:12:44Z'),
        what: 'unlock-changelog',
      }),
    })
    expect(await untouched(operator({ locks: [held] }))).toEqual([
      'refused',
      5,
      'op2@bastion (process 7) has been running unlock-changelog on this deployment since 2026-11-21 02:12:44Z',
      [
        'testops-admin history -d prod --config own.yaml',
        "wait until the other operator's repair has ended, then try again",
      ],
    ])
  })

  test('locks are given back, however it ends', async () => {
    let held = 0
    const counted = lockOf({ take: async () => ((held += 1), null), release: async () => void (held -= 1) })
    await repaired(operator({ locks: [counted] }))
    await repaired(
      operator({ locks: [counted], failpoint: async () => Promise.reject(new AdminError('FAILED', 'x')) }),
    ).catch(() => undefined)
    expect(held).toBe(0)
  })

  test.each<[what: string, there: boolean, suggestions: string[]]>([
    [
      'of this machine',
      false,
      [`testops-admin resume ${run} -d prod --config own.yaml`, `testops-admin undo ${run} -d prod --config own.yaml`],
    ],
    [
      'of another machine',
      true,
      [
        'testops-admin history -d prod --config own.yaml',
        `testops-admin resume --adopt ${run} -d prod --config own.yaml --dry-run`,
      ],
    ],
  ])('a run %s that is not finished comes first', async (_, there, suggestions) => {
    const of = operator()
    await (there ? of.journals.deployment : of.journals.here).begin(recordOf())
    const { document, exitCode } = await repaired(of)
    expect([document.outcome, exitCode, document.error?.suggestions, of.deployment.changes]).toEqual([
      'refused',
      4,
      suggestions,
      [],
    ])
  })

  test('it comes first where this repair finds nothing to do, and where it cannot be planned', async () => {
    const of = operator({ deployment: fakeDeployment({ service: 'stopped' }) })
    await of.journals.here.begin(recordOf())
    const said = `run ${run} (unlock-changelog, by op@bastion) is unfinished`
    const { document, exitCode } = await repaired(of)
    expect([document.plan.steps, document.outcome, exitCode, document.error?.message]).toEqual([[], 'refused', 4, said])
    const unplanned: Wish['repair'] = {
      ...wish.repair,
      plan: async () => Promise.reject(new AdminError('UNREACHABLE', 'the database is gone')),
    }
    await expect(repairIn(of.session, flags, { ...wish, repair: unplanned })).rejects.toMatchObject({
      code: 'REFUSED',
      message: said,
    })
    await expect(
      repairIn(of.session, { ...flags, 'dry-run': true }, { ...wish, repair: unplanned }),
    ).rejects.toMatchObject({ code: 'UNREACHABLE' })
  })

  test('a plan alone tells of it', async () => {
    const of = operator()
    await of.journals.here.begin(recordOf())
    const { document, exitCode } = await repaired(of, { 'dry-run': true })
    expect([document.outcome, exitCode, document.plan.notes]).toEqual([
      'planned',
      0,
      [
        `at the moment, testops-admin would refuse this repair: run ${run} (unlock-changelog, by op@bastion) ` +
          'is unfinished; ' +
          `\`testops-admin resume ${run} -d prod --config own.yaml\`; \`testops-admin undo ${run} -d prod ` +
          `--config own.yaml\``,
      ],
    ])
  })

  test('a plan alone tells for which step this user lacks a right, and tries nothing else', async () => {
    const of = operator()
    const lacking = (code: 'FORBIDDEN' | 'UNAVAILABLE') =>
      repairIn(
        {
          ...of.session,
          opened: {
            ...of.session.opened,
            control: {
              ...of.session.opened.control,
              service: async () => ({
                ...(await of.session.opened.control.service()),
                askRights: async () => {
                  throw new AdminError(code, 'user op may not patch deployments/scale', ['look -d {deployment}'])
                },
              }),
            },
          },
        },
        { ...flags, 'dry-run': true },
        wish,
      )
    const { document, exitCode } = await lacking('FORBIDDEN')
    const stop = document.plan.steps.findIndex(({ action }) => action.kind === 'stop-service')
    expect([document.outcome, exitCode, document.plan.notes, of.deployment.changes]).toEqual([
      'planned',
      0,
      [
        `step ${stop + 1} would fail for a missing right: user op may not patch deployments/scale; ` +
          '`look -d prod --config own.yaml`',
      ],
      [],
    ])
    expect((await lacking('UNAVAILABLE')).document.plan.notes).toEqual([])
  })

  test('a journal that cannot be read may be of one that is not finished', async () => {
    const of = operator()
    of.journals.here.kept.set(run, ['damaged'])
    const { document, exitCode } = await repaired(of)
    expect([exitCode, document.error?.message]).toEqual([
      4,
      expect.stringMatching(/^cannot tell whether run .* is finished: .* is damaged/),
    ])
    expect(of.deployment.changes).toEqual([])
  })

  test('the copy of a run that is over elsewhere is in nobody’s way, and goes', async () => {
    const of = operator()
    await of.journals.deployment.begin(recordOf(), [
      { at: '2026-11-21T02:12:44.000Z', by: 'op@elsewhere', event: 'ended', outcome: 'done' },
    ])
    expect((await repaired(of)).document.outcome).toBe('done')
    expect(of.journals.deployment.kept.size).toBe(0)
  })
})

test('a journal that cannot be begun keeps everything as it is', async () => {
  const of = operator()
  of.journals.here.failing = new AdminError('UNAVAILABLE', 'the record of this run cannot be saved: EROFS')
  expect((await untouched(of)).slice(0, 3)).toEqual(['failed', 69, 'the record of this run cannot be saved: EROFS'])
})

test('a deployment that keeps no journal is named in the plan and when the run begins', async () => {
  const of = operator({
    there: async () => Promise.reject(new AdminError('NOT_CONFIGURED', 'no broker is configured')),
  })
  const { document, said } = await repaired(of)
  expect(document.plan.notes).toEqual([
    "`resume` works only on this machine, because the deployment cannot keep a copy of the run's record: no " +
      'broker is configured',
  ])
  expect(said).toContain('The record of this run is saved only on this machine: no broker is configured')
})

test('Ctrl-C before the first step changes nothing and leaves nothing half done', async () => {
  const controller = new AbortController()
  const { failpoint } = passing()
  const of = operator({
    signal: controller.signal,
    failpoint: async (name) => {
      if (name === 'begin:recorded') controller.abort(new AdminError('INTERRUPTED', 'interrupted by SIGINT'))
      await failpoint(name)
    },
  })
  const { document, exitCode } = await repaired(of)
  expect([document.outcome, exitCode, of.deployment.changes, of.journals.deployment.kept.size]).toEqual([
    'interrupted',
    6,
    [],
    0,
  ])
  expect((await repaired(operator({ journals: of.journals }))).document.outcome).toBe('done')
})

test('a lock that is lost before the first step changes nothing, and leaves nothing to go on with', async () => {
  let isHeld = true
  const of = operator({
    locks: [lockOf({ isHeld: async () => isHeld })],
    failpoint: async (name) => void (isHeld = isHeld && name !== 'begin:recorded'),
  })
  const { document, exitCode } = await repaired(of)
  expect([document.outcome, exitCode, document.error, of.deployment.changes]).toEqual([
    'interrupted',
    6,
    {
      code: 'INTERRUPTED',
      message: 'this run lost its lock on the deployment (db). Another operator may be repairing the deployment now',
      suggestions: [],
    },
    [],
  ])
  expect(repairText(document, plainScreen).split('\n')[0]).toBe(`Interrupted: nothing changed. Run ${document.run}.`)
  isHeld = true
  expect((await repaired(operator({ journals: of.journals }))).document.outcome).toBe('done')
})
