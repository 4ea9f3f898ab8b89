import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { refuseUnknownRisks } from '../../../src/cli/repair/flags.ts'
import { refuseIfReadOnly } from '../../../src/cli/repair/read-only.ts'
import { savedPlan } from '../../../src/cli/repair/saved-plan.ts'
import { filledError } from '../../../src/cli/repair/session.ts'
import { AdminError } from '../../../src/core/error.ts'
import { risksOf, runRisks } from '../../../src/core/plan.ts'
import { documentOf } from '../../../src/engine/carry-out.ts'
import { errorOf, failureOf } from '../../adapters/failure-of.ts'
import { planOf } from '../../engine/repairing.ts'
import { commands } from '../../fakes/index.ts'

describe('accepted risks', () => {
  const known = [...new Set([...Object.values(risksOf).flat(), ...runRisks])].sort()
  test('those that a repair knows, whether its plan has them or not', () => refuseUnknownRisks(known))
  test('any other is wrong usage, with the nearest', async () => {
    const error = await errorOf((async () => refuseUnknownRisks(['live-holder', 'life-holder']))())
    expect([error?.code, error?.message, error?.suggestions]).toEqual([
      'USAGE',
      `unknown risk \`life-holder\`; the known risks are ${known.join(', ')}`,
      ['--accept-risk live-holder'],
    ])
  })
})

describe('TESTOPS_ADMIN_READ_ONLY', () => {
  test.each([undefined, '', '0', 'false', 'No', 'n'])('%s: repairs are made', (value) =>
    refuseIfReadOnly({ TESTOPS_ADMIN_READ_ONLY: value }),
  )
  test.each(['1', 'true', 'yes', 'please'])('%s: none is', async (value) => {
    expect(await failureOf((async () => refuseIfReadOnly({ TESTOPS_ADMIN_READ_ONLY: value }))())).toBe(
      'REFUSED Nothing changed: TESTOPS_ADMIN_READ_ONLY is set',
    )
  })
})

describe('a saved plan', () => {
  async function saved(content: unknown): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'testops-admin-plan-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'my plan.json')
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
    return file
  }
  const document = documentOf(planOf(), { outcome: 'planned' })

  test('is what was printed', async () => {
    expect(await savedPlan(await saved(document), undefined)).toEqual(planOf())
    expect(await savedPlan(await saved(document), 'prod')).toEqual(planOf())
  })

  test('for a file contradicts a deployment that was typed, but none from the environment', async () => {
    const main = '/a/values.yaml'
    const plan = planOf({
      repair: 'use-legacy-image',
      deployment: 'values.yaml',
      options: { values: [main], main, path: [], build: null, revert: false },
    })
    const file = await saved(documentOf(plan, { outcome: 'planned' }))
    expect(await savedPlan(file, 'prod', false)).toEqual(plan)
    expect(await failureOf(savedPlan(file, 'prod', true))).toMatch(/ for deployment `values.yaml`, not for `prod`$/)
    expect(await failureOf(savedPlan(await saved(document), 'staging', false))).toMatch(/ not for `staging`$/)
  })

  test.each<[what: string, content: unknown, said: RegExp]>([
    [
      'one that was changed',
      { ...document, plan: planOf({ steps: planOf().steps.slice(1) }) },
      /^REFUSED the plan in .* was edited after it was made$/,
    ],
    [
      'one whose secret was hidden',
      { ...document, plan: planOf({ steps: planOf().steps.map((it) => ({ ...it, title: 'set X=[secret]' })) }) },
      /^REFUSED the plan in .* shows `\[secret\]` instead of a secret, so it cannot be applied\. Run the command again/,
    ],
    ['no JSON', '{"plan":', /^USAGE .* is not a JSON document: /],
    ['a number', '7', /^USAGE .* is not a plan$/],
    [
      'an error',
      { error: { code: 'BUG', message: 'x', suggestions: [] } },
      /^USAGE .* is not a plan that this version of testops-admin can read: `schemaVersion` is not 1$/,
    ],
    ['a later form', { ...document, schemaVersion: 2 }, /`schemaVersion` is not 1$/],
    ['no hash', { ...document, hash: undefined }, /`hash` is missing$/],
    ['a repair of a later version', { ...document, plan: { ...planOf(), repair: 'paint' } }, /plan\.repair is "paint"/],
    [
      'an action of a later version',
      { ...document, plan: { ...planOf(), steps: [{ title: 'x', action: { kind: 'paint' }, interrupts: false }] } },
      /has the unknown kind "paint"$/,
    ],
  ])('%s is refused', async (_, content, said) =>
    expect(await failureOf(savedPlan(await saved(content), undefined))).toMatch(said),
  )

  test('for another deployment, it is said how it is applied', async () => {
    const file = await saved(document)
    expect((await errorOf(savedPlan(file, 'staging')))?.suggestions).toEqual([`testops-admin apply '${file}' -d prod`])
  })

  test('a file that is not there', async () =>
    expect(await failureOf(savedPlan('/nowhere/plan.json', undefined))).toMatch(
      /^USAGE \/nowhere\/plan\.json cannot be read: ENOENT/,
    ))
})

test('errors say what to type on this deployment', () => {
  const error = new AdminError(
    'REFUSED',
    'no',
    ['testops-admin doctor -d {deployment}', 'testops-admin undo RUN --confirm {deployment}', '{stop}'],
    { cause: 'x', obstacle: { kind: 'login' } },
  )
  const deployment = {
    name: 'my prod',
    config: 'own.yaml',
    platform: 'host',
    vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
    timeZone: null,
  } as const
  expect(filledError(error, { deployment, commands })).toMatchObject({
    code: 'REFUSED',
    suggestions: [
      "testops-admin doctor -d 'my prod' --config own.yaml",
      "testops-admin undo RUN --confirm 'my prod'",
      'systemctl stop testops',
    ],
    cause: 'x',
    obstacle: { kind: 'login' },
  })
})
