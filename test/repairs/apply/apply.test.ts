import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { faultsOf } from '../../output/schemas.ts'
import { kubernetesTools } from '../../support/kubernetes-tools.ts'
import type { Ended } from '../support/operator.ts'
import { after, before, chart, isQuestion, situation } from './situation.ts'

beforeAll(async () => void (await kubernetesTools()), 300_000)

function endOf(ended: Ended): object {
  const document = ended.json<RepairDocument>()
  expect(faultsOf('repair', document)).toEqual([])
  return { code: ended.code, outcome: document.outcome, ...(document.error && { message: document.error.message }) }
}
const done = { code: 0, outcome: 'done' }
const legacy = ['use-legacy-image', '--apply', '--build', '527u01']
const [was, is] = ['r/testops/testops:526u03', 'r/testops/testops-legacy:527u01']

async function allIn(folder: string): Promise<string> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((it) => it.isFile())
  return (await Promise.all(files.map(async (it) => readFile(join(it.parentPath, it.name), 'utf8')))).join('\n')
}

test('file and cluster have it, a second time there is nothing to do, and undo takes both back; a secret is told ' +
  'nowhere', async () => {
  const { someone, text, image, history, cluster } = await situation()
  const ended = await someone.repair(legacy)
  expect(endOf(ended)).toEqual(done)
  expect([await text(), image(), await history()]).toEqual([
    after,
    is,
    ['superseded: Install complete', 'deployed: Upgrade complete'],
  ])
  expect(
    cluster.pods
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ spec }) => spec.containers[0]!.image),
  ).toEqual([is])
  expect(endOf(await someone.repair(legacy))).toEqual({ code: 0, outcome: 'nothing-to-do' })
  const { run } = ended.json<RepairDocument>()
  expect(endOf(await someone.repair(['undo', run!]))).toEqual(done)
  expect([await text(), image(), (await history()).at(-1)]).toEqual([before, was, 'deployed: Rollback to 1'])
  expect((await allIn(someone.state)) + ended.stdout + ended.stderr).not.toContain('geheim123')
}, 120_000)

test('a setting is set through the values, with the chart of a flag, ' +
  'on a service whose file has it already', async () => {
  const { someone, text, file, cluster } = await situation({ settings: {} })
  const words = ['set-env', 'ALLURE_REDIS_SESSIONTTL=10d', '--values', file, '--apply', '--chart', chart]
  expect(endOf(await someone.repair(words))).toEqual(done)
  const env = (): unknown =>
    cluster.deployments[0]!.spec.template.spec.containers[0]!.env?.find(
      ({ name }) => name === 'ALLURE_REDIS_SESSIONTTL',
    )
  expect(env()).toEqual({ name: 'ALLURE_REDIS_SESSIONTTL', value: '10d' })
  await writeFile(file, (await text()).replace('10d', '12d'))
  expect(endOf(await someone.repair(words.with(1, 'ALLURE_REDIS_SESSIONTTL=12d')))).toEqual(done)
  expect(env()).toEqual({ name: 'ALLURE_REDIS_SESSIONTTL', value: '12d' })
}, 120_000)

test('a dry run changes nothing, and without a confirmation the command is told that does', async () => {
  const { someone, server, text, history } = await situation()
  const seen = server.requests.length
  const dry = await someone.run([...legacy, '--dry-run', '--json'])
  expect([dry.code, dry.json<RepairDocument>().plan.steps.map(({ action }) => action.kind)]).toEqual([
    0,
    ['edit-values', 'upgrade-release', 'await-rollout'],
  ])
  const unasked = await someone.run(legacy)
  expect([unasked.code, unasked.stderr.replace(/\s+/g, ' ')]).toEqual([
    4,
    expect.stringContaining('testops-admin use-legacy-image --apply --build 527u01 --confirm prod') as string,
  ])
  expect((await someone.run([...legacy, '--confirm', 'values.yaml'])).code).toBe(4)
  expect(server.requests.slice(seen).filter((it) => !isQuestion(it))).toEqual([])
  expect([await text(), await history()]).toEqual([before, ['deployed: Install complete']])
}, 120_000)

test('with -d alone the file of the configuration is edited, and the cluster is left alone', async () => {
  const { someone, text, image } = await situation()
  const ended = await someone.run([
    'use-legacy-image',
    '-d',
    'prod',
    '--build',
    '527u01',
    '--confirm',
    'values.yaml',
    '--json',
  ])
  expect([endOf(ended), await text(), image()]).toEqual([done, after, was])
  // the release has still to get it
  expect(endOf(await someone.repair(legacy))).toEqual(done)
  expect(image()).toBe(is)
}, 120_000)
