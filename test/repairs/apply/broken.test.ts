import { writeFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { kubernetesTools } from '../../support/kubernetes-tools.ts'
import { after, before, chart, situation } from './situation.ts'

beforeAll(async () => void (await kubernetesTools()), 300_000)

const legacy = ['use-legacy-image', '--apply', '--build', '527u01']
const [was, is] = ['r/testops/testops:526u03', 'r/testops/testops-legacy:527u01']
const withHook = `${before}check: {enabled: true}\n`

test('a hook that fails fails the run, which is taken back, or gone on with once it does not', async () => {
  const it = await situation({ values: withHook })
  it.cluster.hooks.job = () => 'Failed'
  const ended = await it.someone.repair(legacy)
  const { run, error } = ended.json<RepairDocument>()
  expect([ended.code, error?.code, error?.message]).toEqual([
    1,
    'FAILED',
    expect.stringMatching(
      /^a hook of the chart failed for release testops in namespace testops: pre-upgrade hooks failed/,
    ) as string,
  ])
  expect(error?.suggestions).toContainEqual(expect.stringContaining(`testops-admin resume ${run} -d prod`))
  expect((await it.history()).at(-1)).toMatch(/^failed: /)
  it.cluster.hooks.job = () => 'Complete'
  const resumed = await it.someone.run(['resume', '--json'])
  expect([resumed.code, it.image(), (await it.history()).at(-1)], resumed.stdout).toEqual([
    0,
    is,
    'deployed: Upgrade complete',
  ])
  expect((await it.someone.repair(['undo', run!])).code).toBe(0)
  expect([await it.text(), it.image()]).toEqual([withHook, was])
}, 120_000)

test('pods that do not come up: what they say is told, and undo has the service up again', async () => {
  const it = await situation()
  it.cluster.hooks.starting = ({ spec }) =>
    spec.containers[0]!.image === is ? { exitCode: 1, reason: 'Error', log: 'starting\nFatal: no such build' } : 'ready'
  const ended = await it.someone.repair([...legacy, '--patience', '4'])
  const { run, error, outcome } = ended.json<RepairDocument>()
  expect([ended.code, outcome, error?.code]).toEqual([6, 'interrupted', 'TIMED_OUT'])
  expect(error?.message).toMatch(
    new RegExp(
      '^the service did not come up within 4 s: ' +
        '.*CrashLoopBackOff, restarted 3 times, last exited with 1 at .*Fatal: no such build',
    ),
  )
  expect(error?.suggestions.some((line) => / logs \S+ .*--previous/.test(line))).toBe(true)
  expect((await it.someone.repair(['undo', run!])).code).toBe(0)
  expect([await it.text(), it.image()]).toEqual([before, was])
}, 120_000)

test('of two that upgrade at once, the one that finds the other at work takes its edit back', async () => {
  const it = await situation()
  const begun = it.someone.begin([...legacy, '--confirm', 'prod', '--json'], {
    failpoint: 'upgrade-release:intended=stop',
  })
  await begun.untilStopped()
  let finish = (): void => undefined
  const finished = new Promise<void>((resolve) => (finish = resolve))
  it.cluster.hooks.job = async () => finished.then(() => 'Complete' as const)
  const other = it.helm('upgrade', 'testops', chart, '-f', it.file, '--set', 'check.enabled=true')
  await expect
    .poll(async () => (await it.history()).at(-1), { timeout: 30_000, interval: 200 })
    .toMatch(/^pending-upgrade/)
  begun.goOn()
  const ended = await begun.ended
  const { error, outcome } = ended.json<RepairDocument>()
  expect([outcome, error?.message], ended.stdout).toEqual([
    'refused',
    expect.stringContaining('Nothing was changed') as string,
  ])
  expect([4, 5]).toContain(ended.code)
  expect(await it.text()).toBe(before)
  finish()
  await other
}, 120_000)

test('a Ctrl-C while helm waits leaves the release noted as failed, and the run to be gone on with', async () => {
  const it = await situation({ values: withHook })
  it.cluster.hooks.job = async () => new Promise<never>(() => undefined)
  const begun = it.someone.begin([...legacy, '--confirm', 'prod', '--json'])
  await expect
    .poll(async () => (await it.history()).at(-1), { timeout: 30_000, interval: 200 })
    .toMatch(/^pending-upgrade/)
  begun.child.kill('SIGINT')
  const ended = await begun.ended
  expect([ended.code, ended.json<RepairDocument>().outcome], ended.stdout).toEqual([6, 'interrupted'])
  expect((await it.history()).at(-1)).toMatch(/^failed: .*context canceled/)
  it.cluster.hooks.job = () => 'Complete'
  expect((await it.someone.run(['resume', '--json'])).code).toBe(0)
  expect(it.image()).toBe(is)
}, 120_000)

test('what somebody else has changed in the file meanwhile is not applied along with it', async () => {
  const it = await situation()
  const begun = it.someone.begin([...legacy, '--confirm', 'prod', '--json'], {
    failpoint: 'upgrade-release:intended=stop',
  })
  await begun.untilStopped()
  await writeFile(it.file, `${after}replicaCount: 7\n`)
  begun.goOn()
  const ended = await begun.ended
  expect([ended.code, ended.json<RepairDocument>().error?.message], ended.stdout).toEqual([
    4,
    expect.stringMatching(
      /^release testops in namespace testops was not upgraded: an upgrade with the current values files would also/,
    ) as string,
  ])
  expect([await it.text(), it.image()]).toEqual([`${before}replicaCount: 7\n`, was])
}, 120_000)

test('a run whose release somebody else has changed since is not taken back', async () => {
  const it = await situation()
  const { run } = (await it.someone.repair(legacy)).json<RepairDocument>()
  await it.helm('upgrade', 'testops', chart, '-f', it.file, '--set', 'replicaCount=2')
  const ended = await it.someone.repair(['undo', run!])
  expect([ended.code, ended.json<RepairDocument>().error?.message]).toEqual([
    4,
    expect.stringMatching(/^release testops in namespace testops has changed since this run: revision 3/) as string,
  ])
  expect([await it.text(), it.image()]).toEqual([after, is])
}, 120_000)
