import { describe, expect, test } from 'vitest'
import { isUnfinished } from '../../src/core/run-state.ts'
import { forgetFinished, standingOf } from '../../src/engine/records.ts'
import { carryOut, carryOutUndo } from '../../src/engine/carry-out.ts'
import type { RunResult } from '../../src/engine/carry-out.ts'
import { fakeDeployment, fakeRunStore } from '../fakes/index.ts'
import type { FakeDeployment } from '../fakes/index.ts'
import { begun, free, goneOnWith, machine, passing, runOf, run, stuck } from './repairing.ts'
import type { Machines } from './repairing.ts'

/** Every instant that the run of a repair passes, in its order; of those with one name each. */
async function instantsOf(
  work: (failpoint: (name: string) => Promise<void>) => Promise<unknown>,
): Promise<[name: string, times: number][]> {
  const { reached, failpoint } = passing()
  await work(failpoint)
  return reached.map((name, index) => [name, reached.slice(0, index + 1).filter((it) => it === name).length])
}

const broken = (): FakeDeployment => fakeDeployment({ rows: [stuck] })
const repaired = { service: 'running', rows: [free] }

async function repair(
  journals: Machines,
  deployment: FakeDeployment,
  failpoint: (name: string) => Promise<void>,
): Promise<RunResult> {
  return carryOut(await begun(journals, deployment, failpoint))
}

/** A process that is killed there. */
async function killedAt(
  name: string,
  times: number,
  work: (failpoint: (name: string) => Promise<void>) => Promise<unknown>,
): Promise<void> {
  const { failpoint, killed } = passing(name, times)
  await Promise.race([killed, work(failpoint).then(() => Promise.reject(new Error(`${name} was not reached`)))])
}

const instants = await instantsOf((failpoint) => repair(machine(), broken(), failpoint))

test('the instants of a repair', () => {
  expect(instants.map(([name, times]) => (times === 1 ? name : `${name}#${times}`))).toMatchInlineSnapshot(`
    [
      "begin:recorded",
      "begin:copied",
      "journal:here",
      "stop-service:before",
      "journal:here#2",
      "stop-service:intended",
      "stop-service:stopped",
      "stop-service:after",
      "journal:here#3",
      "release-lock:before",
      "journal:here#4",
      "release-lock:intended",
      "release-lock:judged",
      "journal:here#5",
      "release-lock:noted",
      "release-lock:released",
      "release-lock:after",
      "journal:here#6",
      "start-service:before",
      "journal:here#7",
      "start-service:intended",
      "start-service:started",
      "start-service:after",
      "journal:here#8",
      "verify:before",
      "end:before",
      "journal:here#9",
      "end:after",
    ]
  `)
})

describe.each(instants)('killed at %s, time %i', (name, times) => {
  const isOver = (journals: Machines): Promise<boolean> =>
    journals.here.read(run).then((history) => !isUnfinished(history))

  test('the same machine goes on with it', async () => {
    const journals = machine()
    const deployment = broken()
    await killedAt(name, times, (failpoint) => repair(journals, deployment, failpoint))
    if (!(await isOver(journals))) {
      const { document, exitCode } = await carryOut(await goneOnWith(journals, deployment))
      expect([document.outcome, exitCode]).toEqual(['done', 0])
    }
    await forgetFinished(journals, async () => true)
    expect(deployment).toMatchObject(repaired)
    expect(await isOver(journals)).toBe(true)
    expect([...journals.deployment.kept.keys()]).toEqual([])
  })

  test('the same machine takes it back', async () => {
    const journals = machine()
    const deployment = broken()
    await killedAt(name, times, (failpoint) => repair(journals, deployment, failpoint))
    if (await isOver(journals)) return
    // the lock is put back only under a service that is stopped
    const { record, events } = (await standingOf(journals, run, { adopt: false })).history
    if (deployment.service === 'running' && deployment.rows[0]?.locked === false) deployment.service = 'stopped'
    const performance = await goneOnWith(journals, deployment)
    const { document } = await carryOutUndo(runOf(deployment, { record, events }, performance.journal))
    expect([document.outcome, document.error]).toEqual(['done', undefined])
    expect(deployment).toMatchObject({ service: 'running', rows: [stuck] })
    expect(await isOver(journals)).toBe(true)
    expect([...journals.deployment.kept.keys()]).toEqual([])
  })

  test('another machine goes on with it, where the deployment knows of it', async () => {
    const journals = machine()
    const deployment = broken()
    await killedAt(name, times, (failpoint) => repair(journals, deployment, failpoint))
    const elsewhere = machine(journals.deployment, fakeRunStore('another machine'))
    const isKnown = journals.deployment.kept.has(run)
    if (!isKnown) {
      // nothing was begun yet
      expect(deployment.changes).toEqual([])
      return
    }
    if (isUnfinished(await journals.deployment.read(run))) {
      const { document } = await carryOut(await goneOnWith(elsewhere, deployment, { adopt: true, by: 'op@elsewhere' }))
      expect([document.outcome, document.error]).toEqual(['done', undefined])
      expect(await isOver(elsewhere)).toBe(true)
    }
    await forgetFinished(elsewhere, async () => true)
    expect(deployment).toMatchObject(repaired)
    expect([...journals.deployment.kept.keys()]).toEqual([])
    // the first machine is told so, instead of doing it again
    expect((await standingOf(journals, run, { adopt: false })).isGone).toBe(
      !(await isOver(journals)) && isCopied(journals),
    )
  })
})

function isCopied(journals: Machines): boolean {
  return (journals.here.kept.get(run) as { event?: string }[]).some(({ event }) => event === 'copied')
}

describe('an adoption that is killed is repeated', async () => {
  const begunElsewhere = async (): Promise<{ elsewhere: Machines; deployment: FakeDeployment }> => {
    const journals = machine()
    const deployment = broken()
    await killedAt('release-lock:released', 1, (failpoint) => repair(journals, deployment, failpoint))
    return { elsewhere: machine(journals.deployment, fakeRunStore('another machine')), deployment }
  }
  const first = await begunElsewhere()
  const own = await instantsOf(async (failpoint) =>
    carryOut(await goneOnWith(first.elsewhere, first.deployment, { adopt: true, failpoint })),
  )

  test.each(own)('%s, time %i', async (name, times) => {
    const { elsewhere, deployment } = await begunElsewhere()
    await killedAt(name, times, async (failpoint) =>
      carryOut(await goneOnWith(elsewhere, deployment, { adopt: true, failpoint })),
    )
    const standing = await standingOf(elsewhere, run, { adopt: true })
    if (isUnfinished(standing.history)) {
      const { document } = await carryOut(await goneOnWith(elsewhere, deployment, { adopt: true }))
      expect([document.outcome, document.error]).toEqual(['done', undefined])
    }
    await forgetFinished(elsewhere, async () => true)
    expect(deployment).toMatchObject(repaired)
    expect([...elsewhere.deployment.kept.keys()]).toEqual([])
  })
})
