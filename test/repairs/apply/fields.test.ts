import { beforeAll, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair-document.ts'
import { kubernetesTools } from '../../support/kubernetes-tools.ts'
import { chart, situation } from './situation.ts'
import type { Situation } from './situation.ts'

beforeAll(async () => void (await kubernetesTools()), 300_000)

const name = 'ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS'
const legacy = ['use-legacy-image', '--apply', '--build', '527u01']

async function done({ someone }: Situation, words: readonly string[]): Promise<string> {
  const ended = await someone.repair(words)
  expect([words.join(' '), ended.code], ended.stdout + ended.stderr).toEqual([words.join(' '), 0])
  return ended.json<RepairDocument>().run!
}

const upgrade = async ({ helm, file }: Situation): Promise<string> => helm('upgrade', 'testops', chart, '-f', file)

test('a setting, an upgrade of the owner, and the way back leave no conflict behind', async () => {
  const it = await situation()
  it.cluster.timing.stopMs = 1200
  const run = await done(it, ['set-env', `${name}=3600`])
  await upgrade(it)
  await done(it, ['undo', run])
  await upgrade(it)
  const legacyRun = await done(it, legacy)
  await done(it, ['undo', legacyRun])
  await upgrade(it)
}, 240_000)
