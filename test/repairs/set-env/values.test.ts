import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { faultsOf } from '../../output/schemas.ts'
import { failpointsOf } from '../support/failpoints.ts'
import { operator } from '../support/operator.ts'
import type { Operator } from '../support/operator.ts'

async function situation(text: string): Promise<{ someone: Operator; file: string; text: () => Promise<string> }> {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-set-env-'))
  const file = join(folder, 'values.yaml')
  await writeFile(file, text)
  const someone = await operator({ name: 'values.yaml', environment: {} })
  onTestFinished(async () => {
    await someone.leave()
    await rm(folder, { recursive: true })
  })
  return { someone, file, text: async () => readFile(file, 'utf8') }
}

const vendor = ['--vendor-prefix', 'VENDOR', '--vendor-package', 'VENDOR_PACKAGE']
const open = 'version: 527u01\nenv:\n  open:\n    A: "1" # c\n'

test.each<{ what: string; before: string; words: string[]; after: string; path?: string[] }>([
  {
    what: 'a number as a text',
    before: open,
    words: ['B=1', 'A=2'],
    after: 'version: 527u01\nenv:\n  open:\n    A: "2" # c\n    B: "1"\n',
  },
  {
    what: 'a boolean as a text',
    before: 'env: {open: {}}\n',
    words: ['--durable-queues', 'true', '--vendor-prefix', 'VENDOR'],
    after: 'env: {open: {VENDOR_RABBIT_DURABLE: "true"}}\n',
  },
  {
    what: 'where there is none',
    before: 'version: 527u01\n',
    words: ['A=UTC'],
    after: 'version: 527u01\nenv:\n  open:\n    A: UTC\n',
  },
  { what: 'one away', before: `${open}    B: x\n`, words: ['A-'], after: 'version: 527u01\nenv:\n  open:\n    B: x\n' },
  {
    what: "by the chart's own key",
    before: 'bearerTokenExpirationAfter: 57600 # 16 h\n',
    words: ['--token-lifetime', '3600'],
    after: 'bearerTokenExpirationAfter: "3600" # 16 h\n',
  },
  {
    what: 'the same where env.open stands above it',
    before: 'bearerTokenExpirationAfter: 1\nenv:\n  open:\n    ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS: "1"\n',
    words: ['--token-lifetime', '60'],
    after: 'bearerTokenExpirationAfter: 1\nenv:\n  open:\n    ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS: "60"\n',
  },
  {
    what: 'below a key',
    before: 'testops:\n  version: 527u01\n',
    words: ['--path', 'testops', 'A=b'],
    after: 'testops:\n  version: 527u01\n  env:\n    open:\n      A: b\n',
  },
])('$what: set, found set, and taken back to the byte', async ({ before, words, after }) => {
  const { someone, file, text } = await situation(before)
  const ended = await someone.repair(['set-env', '--values', file, ...words])
  const document = ended.json<RepairDocument>()
  expect([ended.code, faultsOf('repair', document), await text()], ended.stdout).toEqual([0, [], after])
  expect((await someone.repair(['set-env', '--values', file, ...words])).json<RepairDocument>().outcome).toBe(
    'nothing-to-do',
  )
  expect((await someone.repair(['undo', document.run!, '--values', file])).code).toBe(0)
  expect(await text()).toBe(before)
})

test.each([
  {
    what: 'a secret from a file',
    before: open,
    words: ['DB_PASSWORD=@/etc/hostname'],
    code: 4,
    said: 'DB_PASSWORD is a secret and does not belong in FILE. Nothing was changed',
  },
  {
    what: 'a secret that is there',
    before: `${open}    URL: amqp://u:geheim@h\n`,
    words: ['URL-'],
    code: 4,
    said: 'URL is a secret and does not belong in FILE. Nothing was changed',
  },
  {
    what: 'below a key that is not named',
    before: 'testops:\n  version: 1\n',
    words: ['A=1'],
    code: 4,
    said:
      "the values of the service's chart seem to be under testops, as in an umbrella chart. Values at the top of " +
      'the file would have no effect',
  },
  {
    what: 'SOPS',
    before: `${open}sops: {mac: x}\n`,
    words: ['A=2'],
    code: 4,
    said:
      'FILE line 5 cannot be edited safely: SOPS has encrypted the file, and rejects it if it is changed ' +
      'without SOPS',
  },
  {
    what: 'a setting as a map',
    before: 'env: {open: {A: {b: 1}}}\n',
    words: ['A=2'],
    code: 4,
    said: 'FILE line 1 cannot be edited safely: env.open.A is a map',
  },
  {
    what: 'a setting twice',
    before: open,
    words: ['A=2', 'A-'],
    code: 64,
    said: 'A appears twice. Each setting may appear only once',
  },
])('$what is refused, and changes nothing', async ({ before, words, code, said }) => {
  const { someone, file, text } = await situation(before)
  const ended = await someone.repair(['set-env', '--values', file, ...words])
  const { error } = ended.json<{ error: { message: string } }>()
  expect([ended.code, error.message.replaceAll(file, 'FILE'), await text()]).toEqual([code, said, before])
  expect(ended.stdout + ended.stderr).not.toContain('geheim')
})

test('of an umbrella chart, the command that is proposed does it', async () => {
  const { someone, file, text } = await situation('testops:\n  version: 527u01\n  env:\n    open:\n      B: "1"\n')
  const { error } = (
    await someone.repair([
      'set-env',
      '--values',
      file,
      'A=a b',
      'B-',
      '--durable-queues',
      'true',
      '--token-lifetime',
      '60',
      '--integration-debug',
      'on',
      ...vendor,
    ])
  ).json<{ error: { suggestions: string[] } }>()
  expect(error.suggestions).toEqual([
    `testops-admin set-env --values ${file} --path testops 'A=a b' B- --durable-queues true --token-lifetime ` +
      '60 --integration-debug on --vendor-prefix VENDOR --vendor-package VENDOR_PACKAGE',
  ])
  const words = [
    'set-env',
    '--values',
    file,
    '--path',
    'testops',
    'A=a b',
    'B-',
    '--durable-queues',
    'true',
    '--token-lifetime',
    '60',
    '--integration-debug',
    'on',
    ...vendor,
  ]
  expect((await someone.repair(words)).code).toBe(0)
  expect(await text()).toContain('A: "a b"')
})

test('a number that stands there bare is told of, and so are queues', async () => {
  const { someone, file } = await situation('env: {open: {A: 1}}\n')
  const ended = await someone.repair(['set-env', '--values', file, 'A=1', '--durable-queues', 'true', ...vendor])
  expect(ended.json<RepairDocument>().plan.notes.slice(0, 2)).toEqual([
    'env.open.A is not text in the file, but Kubernetes accepts only text. Put the value in quotes',
    'if the existing queues do not match this setting, the service fails to declare them. To change the ' +
      'queues: testops-admin reset-queues',
  ])
})

test.each(failpointsOf(['edit-values']).filter((name) => name.startsWith('edit-values')))(
  'killed at %s, gone on with',
  async (failpoint) => {
    const { someone, file, text } = await situation(open)
    await someone.killedAt(failpoint, ['set-env', '--values', file, 'A=2'])
    expect((await someone.run(['resume', '--values', file, '--json'])).code).toBe(0)
    expect(await text()).toBe(open.replace('"1"', '"2"'))
  },
)

test('a value that is empty is told as one', async () => {
  const { someone, file } = await situation('env: {open: {A: x}}\n')
  const planned = (await someone.repair(['set-env', '--values', file, 'A=', '--dry-run'])).json<RepairDocument>()
  expect(planned.plan.steps.map(({ title }) => title)).toEqual([`set env.open.A to '' in ${file}`])
})
