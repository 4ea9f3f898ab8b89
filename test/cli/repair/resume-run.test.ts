import { describe, expect, test } from 'vitest'
import type { RepairFlags } from '../../../src/cli/repair/flags.ts'
import { refuseIfUnfinished, runsOf } from '../../../src/cli/repair/list-runs.ts'
import { resumeIn, undoIn } from '../../../src/cli/repair/resume-run.ts'
import type { Going } from '../../../src/cli/repair/resume-run.ts'
import { repairIn } from '../../../src/cli/repair/run-repair.ts'
import { AdminError } from '../../../src/core/error.ts'
import type { BrokerSource } from '../../../src/core/sources.ts'
import type { RunResult } from '../../../src/engine/carry-out.ts'
import { errorOf } from '../../adapters/failure-of.ts'
import { eventOf, free, machine, passing, planOf, recordOf, run, stuck } from '../../engine/repairing.ts'
import { brokerWorld, fakeDeployment, fakeLogs, fakeRunStore, record, unreachable } from '../../fakes/index.ts'
import { adopting, flags, operator, saidBy, wish } from './session.ts'
import type { Operator } from './session.ts'

const stole = fakeLogs({
  recent: {
    complete: true,
    records: [
      record('liquibase.lockservice : Waiting for changelog lock....'),
      record('liquibase.lockservice : Successfully released change log lock'),
      record('LockException: Could not acquire change log lock.  Currently locked by a (10.0.0.8) since 1/1/26'),
    ],
  },
})

type Ending = [outcome: string, exitCode: number, message?: string, suggestions?: readonly string[]]

function ending(performed: RunResult | null): Ending {
  if (performed === null) return ['nothing-to-do', 0]
  const { document, exitCode } = performed
  return document.error ? [document.outcome, exitCode, document.error.message] : [document.outcome, exitCode]
}

async function told(work: () => Promise<RunResult | null>): Promise<RunResult | null> {
  let performed: RunResult | null = null
  await saidBy(async () => void (performed = await work()))
  return performed
}

async function quietly(work: () => Promise<RunResult | null>): Promise<Ending> {
  let end: Ending | null = null
  await saidBy(async () => {
    try {
      end = ending(await work())
    } catch (error) {
      if (!(error instanceof AdminError)) throw error
      end = ['error', error.exitCode, error.message, error.suggestions]
    }
  })
  return end!
}

const resumed = (of: Operator, going: Partial<Going> = {}, more: Partial<RepairFlags> = {}): Promise<Ending> =>
  quietly(() =>
    resumeIn(
      of.session,
      { ...flags, confirm: undefined, ...more },
      { run: null, adopt: false, words: ['resume'], ...going },
    ),
  )
const undone = (of: Operator, name: string, more: Partial<RepairFlags> = {}): Promise<Ending> =>
  quietly(() => undoIn(of.session, { ...flags, ...more }, name, ['undo', name]))

/** Killed at that instant; gives the run's name. */
async function killedAt(name: string, of: Operator): Promise<string> {
  const { failpoint, killed } = passing(name)
  await saidBy(() => Promise.race([killed, repairIn({ ...of.session, failpoint }, flags, wish)]))
  return [...of.journals.here.kept.keys()][0]!
}

/** The same deployment, from another machine. */
function elsewhere({ deployment, journals }: Operator): Operator {
  return operator({ deployment, journals: machine(journals.deployment, fakeRunStore('another machine')) })
}

describe('resume', () => {
  test('says that all have come to their end only where all could be seen', async () => {
    let times = 0
    const there = async (): Promise<never> => {
      times += 1
      throw new AdminError('UNREACHABLE', 'RabbitMQ at mq:5672 refused the connection', ['nc -z mq 5672'])
    }
    expect(await resumed(operator({ there }))).toEqual([
      'error',
      69,
      'this machine has no run to resume; cannot tell whether another machine has one: RabbitMQ at mq:5672 ' +
        'refused the connection',
      ['nc -z mq 5672'],
    ])
    expect(times).toBe(1)
    const none = async (): Promise<never> => Promise.reject(new AdminError('NOT_CONFIGURED', 'no broker is configured'))
    expect(await resumed(operator({ there: none }))).toEqual(['nothing-to-do', 0])
    const of = operator()
    of.journals.here.kept.set(run, ['damaged'])
    expect((await resumed(of)).slice(0, 3)).toEqual([
      'error',
      4,
      expect.stringMatching(/^cannot tell whether run \S+ is finished: .* is damaged/),
    ])
  })

  test('goes on with the only one there is, without a question', async () => {
    const of = operator()
    await killedAt('release-lock:released', of)
    expect(await resumed(of)).toEqual(['done', 0])
    expect([of.deployment.rows, of.journals.deployment.kept.size]).toEqual([[free], 0])
    expect(await resumed(of)).toEqual(['nothing-to-do', 0])
  })

  test('a run that is over has nothing left to do', async () => {
    const of = operator()
    const name = await killedAt('end:after', of)
    expect(of.journals.deployment.kept.size).toBe(1)
    expect(await resumed(of, { run: name })).toEqual(['nothing-to-do', 0])
    expect(of.journals.deployment.kept.size).toBe(0)
  })

  test('--confirm with another name is refused', async () => {
    const of = operator()
    const name = await killedAt('stop-service:stopped', of)
    expect(await resumed(of, { words: ['resume', name, '--confirm', 'staging'] }, { confirm: 'staging' })).toEqual([
      'error',
      4,
      'Nothing changed: --confirm names `staging`, but this is deployment `prod`',
      [`testops-admin resume ${name} --confirm prod`],
    ])
  })

  test('of several, one has to be named', async () => {
    const of = operator()
    for (const last of ['0001', '0002']) await of.journals.here.begin(recordOf({ run: run.replace(/....$/, last) }))
    expect((await resumed(of)).slice(0, 2)).toEqual(['error', 64])
  })

  test('a run that there is not', async () => {
    expect(await resumed(operator(), { run })).toEqual([
      'error',
      64,
      `no run \`${run}\` on record in this machine`,
      ['testops-admin history -d {deployment}'],
    ])
  })

  test(
    'one of a deployment of the same name in another cluster, ' + 'where kubectl leads there by now, is left alone',
    async () => {
      const of = operator()
      const at = (server: string): string => `https://${server}:6443, namespace testops`
      Object.assign(of.session.opened.deployment, { platform: 'kubernetes', cluster: at('10.0.0.2') })
      await of.journals.here.begin(
        recordOf({ by: of.session.by, plan: planOf({ target: { cluster: at('10.0.0.1') } }) }),
      )
      const said =
        `Nothing changed: run ${run} was started on ${at('10.0.0.1')}, ` + `but this deployment is on ${at('10.0.0.2')}`
      const next = [
        'kubectl config use-context NAME   # NAME: the context of the cluster where the run began',
        'kubectl config get-contexts',
        'testops-admin history -d prod',
      ]
      expect(await resumed(of)).toEqual(['error', 4, said, next])
      expect((await undone(of, run)).slice(0, 4)).toEqual(['error', 4, said, next])
      of.session.opened.deployment.cluster = at('10.0.0.1')
      expect((await resumed(of)).slice(0, 2)).toEqual(['done', 0])
    },
  )

  test.each(['resume', 'undo'] as const)(
    '%s does not start the service beside a migration whose lock its last start released',
    async (way) => {
      const of = operator()
      of.deployment.rows.splice(0, 1, stuck)
      const name = await killedAt('release-lock:after', of)
      Object.assign(of.session.opened.open, { logs: async () => stole })
      const end = (more: Partial<RepairFlags> = {}): Promise<Ending> =>
        way === 'undo' ? undone(of, name, more) : resumed(of, {}, { confirm: 'prod', ...more })
      const before = [...of.deployment.changes]
      const [outcome, code, message, next] = await end()
      expect([outcome, code, message]).toEqual([
        'error',
        4,
        expect.stringContaining('starting the service now runs a second migration at the same time'),
      ])
      expect(next!.at(-1)).toMatch(/ --accept-risk running-migration {3}# only if you are sure$/)
      expect([of.deployment.changes, of.deployment.service]).toEqual([before, 'stopped'])
      expect((await end({ 'accept-risk': ['running-migration'] }))[1]).toBe(0)
      expect(of.deployment.service).toBe('running')
    },
  )

  test('one of another deployment, which has the broker or the state folder in common, is left alone', async () => {
    const of = operator()
    const record = recordOf({ plan: planOf({ deployment: 'staging' }) })
    const said = `Nothing changed: run ${run} belongs to deployment \`staging\`, but this is deployment \`prod\``
    for (const place of [of.journals.deployment, of.journals.here]) {
      await place.begin(record)
      expect(await resumed(of, { run, adopt: true }, { confirm: 'prod' })).toEqual([
        'error',
        4,
        said,
        ['testops-admin history -d staging'],
      ])
      expect((await undone(of, run)).slice(0, 3)).toEqual(['error', 4, said])
    }
    expect(of.deployment.changes).toEqual([])
  })

  test('after an undo that was killed, goes on taking back', async () => {
    const of = operator()
    const name = await killedAt('release-lock:released', of)
    const { failpoint, killed } = passing('release-lock:undo-after')
    await saidBy(() => Promise.race([killed, undoIn({ ...of.session, failpoint }, flags, name, ['undo'])]))
    expect(await resumed(of)).toEqual(['done', 0])
    expect([of.deployment.service, of.deployment.rows]).toEqual(['running', [stuck]])
  })
})

describe('a run that has deleted queues, and was being taken back', () => {
  const transient = { name: 'upload', durable: false, autoDelete: false, arguments: {} }
  const plan = planOf({
    repair: 'reset-queues',
    steps: [
      {
        title: 'delete them',
        action: {
          kind: 'delete-queues',
          queues: [{ queue: transient, holding: null }],
          bindings: [],
          discards: false,
          counts: { messages: 0 },
        },
        interrupts: false,
      },
    ],
  })
  const deleted = [eventOf({ event: 'intent', step: 0 }, 1)]
  const asked = [...deleted, eventOf({ event: 'undo-intent', step: 0 }, 2)]

  test('is told of as a run where the broker cannot be asked for what it takes', async () => {
    const deployment = fakeDeployment()
    const of = operator({
      deployment: {
        ...deployment,
        sources: { ...deployment.sources, broker: unreachable('broker') as unknown as BrokerSource },
      },
    })
    await of.journals.here.begin(recordOf({ plan }), asked)
    expect((await resumed(of)).slice(0, 2)).toEqual(['interrupted', 6])
  })

  test(
    'cannot be, once the broker takes them no more: ' + 'resume goes on with it, which the undo that is refused says',
    async () => {
      const of = operator({ deployment: fakeDeployment({ broker: brokerWorld({ deniesTransient: true }) }) })
      await of.journals.here.begin(recordOf({ plan }), deleted)
      const refused = await told(() => undoIn(of.session, flags, run, ['undo', run]))
      expect([refused?.exitCode, refused?.document.outcome, refused?.document.error?.suggestions]).toEqual([
        4,
        'refused',
        [
          'testops-admin doctor -d prod --config own.yaml',
          `testops-admin resume ${run} -d prod --config own.yaml   # finishes the run instead of undoing it`,
        ],
      ])
      await (await of.journals.here.reopen(run)).append(asked[1]!)
      expect(await resumed(of)).toEqual(['done', 0])
    },
  )
})

describe('resume --adopt', () => {
  test('has to be confirmed, and then goes on from the deployment’s copy', async () => {
    const of = operator()
    const name = await killedAt('release-lock:judged', of)
    const other = elsewhere(of)
    expect((await resumed(other)).slice(0, 2)).toEqual(['error', 64])
    expect(await resumed(other, { run: name })).toEqual([
      'error',
      64,
      `no run \`${name}\` on record in another machine; the deployment has a copy of the run's record`,
      [`testops-admin resume --adopt ${name} -d {deployment} --dry-run`],
    ])
    expect((await resumed(other, { run: name, adopt: true })).slice(0, 2)).toEqual(['error', 4])
    expect(await resumed(other, { run: name, adopt: true }, adopting)).toEqual(['done', 0])
    expect([of.deployment.rows, of.journals.deployment.kept.size]).toEqual([[free], 0])
  })

  test('the first machine is told that it is gone, and goes on only when that is confirmed', async () => {
    const of = operator()
    const name = await killedAt('release-lock:judged', of)
    expect(await resumed(elsewhere(of), { run: name, adopt: true }, adopting)).toEqual(['done', 0])
    expect((await runsOf(of.session)).runs).toMatchObject([{ run: name, state: 'unfinished', copyGone: true }])
    expect(await resumed(of)).toEqual([
      'error',
      4,
      `the deployment no longer has its copy of the record of run ${name}: most likely another machine ` +
        'finished or undid the run',
      [
        'testops-admin doctor -d {deployment}',
        `testops-admin resume ${name} -d {deployment} --confirm {deployment}   # resumes the run anyway`,
        `testops-admin undo ${name} -d {deployment} --confirm {deployment}   # undoes the changes made ` +
          'from this machine',
      ],
    ])
    expect(await resumed(of, {}, { confirm: 'prod' })).toEqual(['done', 0])
    expect((await runsOf(of.session)).runs).toMatchObject([{ run: name, state: 'done' }])
  })

  test('the first machine catches up where the other one was stopped too', async () => {
    const of = operator()
    const name = await killedAt('stop-service:stopped', of)
    const other = elsewhere(of)
    const { failpoint, killed } = passing('release-lock:after')
    await saidBy(() =>
      Promise.race([
        killed,
        resumeIn({ ...other.session, failpoint }, { ...flags, ...adopting }, { run: name, adopt: true, words: [] }),
      ]),
    )
    expect(await resumed(of)).toEqual(['done', 0])
    expect((await of.journals.here.read(name)).events.length).toBeGreaterThan(
      (await other.journals.here.read(name)).events.length,
    )
    expect(of.deployment.changes.filter((change) => change === 'database.releaseLock')).toHaveLength(1)
  })

  test('takes the place of a journal of this machine that is damaged', async () => {
    const of = operator()
    const name = await killedAt('release-lock:judged', of)
    of.journals.here.kept.set(name, ['damaged'])
    expect((await errorOf(refuseIfUnfinished(of.session)))?.suggestions).toEqual([
      'testops-admin history -d {deployment}',
      `testops-admin resume --adopt ${name} -d {deployment} --dry-run   # if the deployment has a copy of the ` +
        'saved record of this run',
      `mv 'this machine/${name}' 'this machine/${name}.aside'   # sets the record aside; only once you are ` +
        'sure that the run is over',
    ])
    expect(await resumed(of, { run: name, adopt: true }, adopting)).toEqual(['done', 0])
    expect((await of.journals.here.read(name)).events.at(-1)).toMatchObject({ event: 'ended', outcome: 'done' })
  })
})

describe('undo', () => {
  test('takes a half done run back to a service that is up', async () => {
    const of = operator()
    const name = await killedAt('release-lock:released', of)
    expect(await undone(of, name)).toEqual(['done', 0])
    expect([of.deployment.service, of.deployment.rows]).toEqual(['running', [stuck]])
    expect(await undone(of, name)).toEqual(['nothing-to-do', 0])
  })

  test('has to be confirmed', async () => {
    const of = operator()
    const name = await killedAt('release-lock:released', of)
    expect(await undone(of, name, { confirm: undefined })).toEqual([
      'error',
      4,
      expect.stringMatching(/no terminal to ask on/),
      [`testops-admin undo ${name} --confirm prod`],
    ])
  })

  test('works from another machine', async () => {
    const of = operator()
    const name = await killedAt('release-lock:released', of)
    expect(await undone(elsewhere(of), name, adopting)).toEqual(['done', 0])
    expect([of.deployment.service, of.deployment.rows, of.journals.deployment.kept.size]).toEqual([
      'running',
      [stuck],
      0,
    ])
  })

  test('ends a run that was killed before it touched anything', async () => {
    const of = operator()
    const name = await killedAt('begin:recorded', of)
    expect(await undone(of, name)).toEqual(['done', 0])
    expect((await runsOf(of.session)).runs).toMatchObject([{ state: 'undone' }])
    expect(of.deployment.changes).toEqual([])
  })

  test('of a run that is over waits for one that is not', async () => {
    const of = operator()
    await saidBy(() => repairIn(of.session, flags, wish))
    const name = [...of.journals.here.kept.keys()][0]!
    await of.journals.deployment.begin(recordOf({ by: 'op@elsewhere' }))
    const before = [...of.deployment.changes]
    expect(await undone(of, name)).toEqual([
      'error',
      4,
      `run ${run} (unlock-changelog, by op@elsewhere) from another machine is unfinished`,
      ['testops-admin history -d {deployment}', `testops-admin resume --adopt ${run} -d {deployment} --dry-run`],
    ])
    expect(of.deployment.changes).toEqual(before)
  })

  test('one that is refused leaves it as it stood, and is refused again', async () => {
    const of = operator()
    await saidBy(() => repairIn(of.session, flags, wish))
    const name = [...of.journals.here.kept.keys()][0]!
    for (let time = 0; time < 2; time += 1) {
      expect((await undone(of, name)).slice(0, 2)).toEqual(['refused', 4])
      expect((await runsOf(of.session)).runs).toMatchObject([{ state: 'done' }])
    }
  })
})

test('history tells of both places', async () => {
  const of = operator()
  await of.journals.here.begin(recordOf({ run: run.replace(/....$/, '0001') }), [
    { at: '2026-11-21T02:12:44.000Z', by: 'op@bastion', event: 'ended', outcome: 'refused' },
  ])
  await of.journals.deployment.begin(recordOf({ by: 'op@elsewhere' }))
  of.journals.here.kept.set(run.replace(/....$/, '0002'), ['damaged'])
  expect(await runsOf(of.session)).toMatchObject({
    schemaVersion: 1,
    deployment: 'prod',
    runs: [
      { run: run.replace(/....$/, '0001'), state: 'refused', where: 'here' },
      { run, state: 'unfinished', where: 'deployment', by: 'op@elsewhere' },
    ],
    unreadable: [{ run: run.replace(/....$/, '0002'), reason: expect.stringMatching(/is damaged/) as string }],
  })
})
