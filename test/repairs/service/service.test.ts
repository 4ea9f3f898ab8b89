import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { faultsOf } from '../../output/schemas.ts'
import type { Ended } from '../support/operator.ts'
import { failpointsOf, undoFailpointsOf } from '../support/failpoints.ts'
import { free, stuck } from '../unlock-changelog/situation.ts'
import type { Situation } from '../unlock-changelog/situation.ts'
import { foreign } from '../support/operator.ts'
import { inner } from '../../support/campaign.ts'

let all: Situation
beforeAll(async () => void (all = await stuck({ withBroker: true })))
afterAll(async () => all.leave())
beforeEach(async () => {
  await all.write(free)
  await all.service.behave({ start: null, stop: null, status: null })
  await all.service.start()
})

function endOf(ended: Ended): object {
  const document = ended.json<RepairDocument>()
  expect(faultsOf('repair', document)).toEqual([])
  return { code: ended.code, outcome: document.outcome }
}
const done = { code: 0, outcome: 'done' }
const nothing = { code: 0, outcome: 'nothing-to-do' }

test('stopped, left alone, started, left alone, restarted', async () => {
  const { someone, service } = all
  const before = (await service.calls()).length
  expect(endOf(await someone.repair(['service', 'stop']))).toEqual(done)
  expect(await service.isRunning()).toBe(false)
  expect(endOf(await someone.repair(['service', 'stop']))).toEqual(nothing)
  expect(endOf(await someone.repair(['service', 'start']))).toEqual(done)
  expect(await service.isRunning()).toBe(true)
  expect(endOf(await someone.repair(['service', 'start']))).toEqual(nothing)
  expect(endOf(await someone.repair(['service', 'restart']))).toEqual(done)
  expect((await service.calls()).slice(before)).toEqual(['stop', 'start', 'stop', 'start'])
})

test('a stop is taken back by a start; a start and a restart leave nothing to take back', async () => {
  const { someone, service } = all
  const text = await someone.run(['service', 'stop', '--confirm', 'prod'])
  const run = /undo (\S+-service-stop-\w+) -d prod/.exec(text.stdout)?.[1]
  expect(run, text.stdout).toBeDefined()
  expect((await someone.repair(['undo', run!])).code).toBe(0)
  expect(await service.isRunning()).toBe(true)
  expect((await someone.run(['service', 'restart', '--confirm', 'prod'])).stdout).not.toContain('undo')
  await service.stop()
  expect((await someone.run(['service', 'start', '--confirm', 'prod'])).stdout).not.toContain('undo')
})

test('the state, as text and as a document', async () => {
  const { someone, service } = all
  const up = await someone.run(['service', 'status', '--json'])
  expect([up.code, faultsOf('service-status', up.json())]).toEqual([0, []])
  expect(up.json()).toMatchObject({ deployment: 'prod', platform: 'host', state: 'running' })
  await service.stop()
  const down = await someone.run(['service', 'status'])
  expect(down).toMatchObject({
    code: 1,
    stderr: '',
    stdout: expect.stringMatching(/^✖ service of prod: stopped: /) as string,
  })
})

test('refused without a confirmation, with another name, and where nothing may be changed', async () => {
  const { someone, service } = all
  const before = (await service.calls()).length
  for (const [words, env] of [
    [['service', 'stop']],
    [['service', 'stop', '--confirm', 'other']],
    [['service', 'stop', '--confirm', 'prod'], { TESTOPS_ADMIN_READ_ONLY: '1' }],
  ] as const) {
    expect((await someone.run(words, { ...(env && { env }) })).code).toBe(4)
  }
  expect((await someone.run(['service', 'stop', '--dry-run'])).code).toBe(0)
  expect((await service.calls()).length).toBe(before)
})

test('a service that ends at once is a failure, and what to read is named', async () => {
  const { someone, service } = all
  await service.behave({ start: 'die' })
  const ended = await someone.repair(['service', 'restart', '--patience', '10'])
  const { outcome, error } = ended.json<RepairDocument>()
  expect({ code: ended.code, outcome }).toMatchObject({
    code: expect.any(Number) as number,
    outcome: expect.stringMatching(/failed|interrupted/) as string,
  })
  expect(ended.code).not.toBe(0)
  expect(error?.suggestions.join('\n')).toMatch(/log[^]*resume/)
  await service.behave({ start: null })
  expect(endOf(await someone.run(['resume', '--json']))).toEqual(done)
})

describe('killed, and gone on with or taken back', () => {
  test.each(inner(failpointsOf(['stop-service', 'start-service']), 3))('a restart at %s', async (failpoint) => {
    const { someone, service } = all
    await someone.killedAt(failpoint, ['service', 'restart'])
    const ended = await someone.run(['resume', '--json'])
    expect(ended.code, ended.stdout).toBe(0)
    expect(await service.isRunning()).toBe(true)
    expect(endOf(await someone.repair(['service', 'start']))).toEqual(nothing)
  })

  test.each(inner(failpointsOf(['stop-service']), 2))('a stop at %s, on another machine', async (failpoint) => {
    const { service } = all
    const someone = await all.someone.elsewhere()
    await someone.killedAt(failpoint, ['service', 'stop'])
    const { runs } = (await someone.run(['history', '--json'])).json<{ runs: { run: string; state: string }[] }>()
    const unfinished = runs.find(({ state }) => state === 'unfinished')
    expect(unfinished === undefined).toBe(failpoint === 'end:after')
    // before its journal is copied, the deployment knows nothing of it
    const isHereAlone = ['begin:recorded', 'journal:here'].includes(failpoint)
    const other = isHereAlone ? someone : await someone.elsewhere()
    const ended = await other.repair(
      unfinished === undefined
        ? ['service', 'stop']
        : ['resume', ...(isHereAlone ? [] : ['--adopt']), unfinished.run, ...(isHereAlone ? [] : foreign)],
    )
    expect(ended.code, ended.stdout).toBe(0)
    expect(await service.isRunning()).toBe(false)
  })

  test.each(inner(undoFailpointsOf(['stop-service']), 2))('the undo of a stop at %s', async (failpoint) => {
    const { someone, service } = all
    const { run } = (await someone.repair(['service', 'stop'])).json<RepairDocument>()
    await someone.killedAt(failpoint, ['undo', run!])
    expect((await someone.repair(['undo', run!])).code).toBe(0)
    expect(await service.isRunning()).toBe(true)
  })
})

test('of two operators one is told who is at work', async () => {
  const { someone } = all
  const first = someone.begin(['service', 'restart', '--confirm', 'prod', '--json'], {
    failpoint: 'stop-service:stopped=stop',
  })
  await first.untilStopped()
  const second = await (await someone.elsewhere()).repair(['service', 'start'])
  expect([second.code, second.json<RepairDocument>().error?.message]).toEqual([
    5,
    expect.stringMatching(/has been running service-restart on this deployment since /),
  ])
  first.goOn()
  expect((await first.ended).code).toBe(0)
})
