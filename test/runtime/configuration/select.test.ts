import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { everySelected, findDeployment } from '../../../src/runtime/index.ts'
import { errorOf } from '../error-of.ts'
import { folderWith } from '../folder.ts'

const one = 'deployments:\n  prod: {url: "https://one.example.org"}\n'
const two = `${one}  staging: {url: "https://two.example.org"}\n`

test.each([
  ['the only one', one, undefined, 'prod'],
  ['the current one', `current: staging\n${two}`, undefined, 'staging'],
  ['the named one', `current: staging\n${two}`, 'prod', 'prod'],
])('%s', async (_, text, name, expected) => {
  const workingDirectory = await folderWith({ 'testops-admin.yaml': text })
  const selected = await findDeployment({ name, environment: {}, workingDirectory })
  expect(selected.name).toBe(expected)
  expect(selected.file).toBe(join(workingDirectory, 'testops-admin.yaml'))
})

test.each([
  ['no choice', two, undefined, 'CONFIGURATION: FILE has several deployments, but no `current` entry to select one'],
  ['a name that is nearly right', two, 'stagin', 'USAGE: no deployment `stagin` in FILE; did you mean `staging`?'],
  [
    'a name that is nearly the practice deployment',
    two,
    'labb',
    'USAGE: no deployment `labb` in FILE; did you mean `lab`?',
  ],
  [
    'a name that is not',
    two,
    'x',
    'USAGE: no deployment `x` in FILE; the closest known names are `prod`, `staging` or `lab`',
  ],
])('%s', async (_, text, name, expected) => {
  const workingDirectory = await folderWith({ 'testops-admin.yaml': text })
  const message = await errorOf(findDeployment({ name, environment: {}, workingDirectory }))
  expect(message.replace(join(workingDirectory, 'testops-admin.yaml'), 'FILE')).toBe(expected)
})

test('a `current` that names none is an error only for who names none', async () => {
  const workingDirectory = await folderWith({ 'testops-admin.yaml': `current: prdo\n${two}` })
  const around = { environment: {}, workingDirectory }
  expect((await findDeployment({ name: 'staging', ...around })).name).toBe('staging')
  const said =
    'CONFIGURATION: `current` at testops-admin.yaml:1 names `prdo`, which is not in `deployments`; did you mean `prod`?'
  expect(await errorOf(findDeployment(around))).toBe(said)
  const file = join(workingDirectory, 'testops-admin.yaml')
  await expect(findDeployment({ ...around, file })).rejects.toMatchObject({
    suggestions: [`testops-admin use prod --config ${file}`],
  })
})

test('lab is the practice deployment, unless the configuration has one of that name', async () => {
  const folder = await folderWith({
    'lab/testops-admin.yaml':
      'deployments:\n  lab: {url: "http://127.0.0.1:1"}\n  lab-owner: {url: "http://127.0.0.1:3"}\n',
    'state/testops-admin/lab/testops-admin.yaml': 'deployments:\n  lab: {url: "http://127.0.0.1:2"}\n',
    'own/testops-admin.yaml': 'deployments:\n  lab: {url: "http://own.example.org"}\n',
    'other/testops-admin.yaml': one,
    'empty/x': '',
  })
  const urlIn = async (
    workingDirectory: string,
    environment: Record<string, string>,
    name = 'lab',
  ): Promise<string | undefined> => {
    const request = {
      name,
      environment: { HOME: folder, ...environment },
      workingDirectory: join(folder, workingDirectory),
    }
    return (await findDeployment(request)).settings.url
  }
  expect(await urlIn('own', { TESTOPS_ADMIN_LAB_DIR: join(folder, 'lab') })).toBe('http://own.example.org')
  expect(await urlIn('other', { TESTOPS_ADMIN_LAB_DIR: join(folder, 'lab') })).toBe('http://127.0.0.1:1')
  expect(await urlIn('empty', { XDG_STATE_HOME: join(folder, 'state') })).toBe('http://127.0.0.1:2')
  expect(await urlIn('other', { TESTOPS_ADMIN_LAB_DIR: join(folder, 'lab') }, 'lab-owner')).toBe('http://127.0.0.1:3')
  expect(await errorOf(urlIn('other', { TESTOPS_ADMIN_LAB_DIR: join(folder, 'lab') }, 'lab-guest'))).toMatch(
    /^USAGE: no deployment `lab-guest` in /,
  )
  expect(await errorOf(urlIn('empty', {}))).toBe(
    `CONFIGURATION: no deployment \`lab\`: the practice deployment is not running ` +
      `(${folder}/.local/state/testops-admin/lab/testops-admin.yaml is missing)`,
  )
})

describe('every deployment', () => {
  const text =
    'current: nowhere\ndeployments:\n  good: {url: "https://a.example.org"}\n  wrong: {urll: x}\n' +
    '  better: {url: "https://b.example.org"}\n'
  const all = async (content: string, names: readonly string[] | null = null): Promise<Record<string, string>> => {
    const folder = await folderWith({ 'testops-admin.yaml': content })
    const request = { environment: { HOME: folder }, workingDirectory: folder }
    const chosen = await everySelected(request, names)
    return Object.fromEntries(
      chosen.map((it) => [it.name, 'error' in it ? it.error.message.split(';')[0]! : it.selected.settings.url!]),
    )
  }

  test('a wrong one leaves the others usable, and the order is that of the file', async () => {
    expect(Object.entries(await all(text))).toEqual([
      ['good', 'https://a.example.org'],
      ['wrong', 'unknown key `urll` at testops-admin.yaml:4'],
      ['better', 'https://b.example.org'],
    ])
  })

  test('some of them are named, in any order, each once', async () => {
    expect(Object.keys(await all(text, ['better', 'good', 'better']))).toEqual(['better', 'good'])
    await expect(all(text, ['good', 'god'])).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('did you mean `good`?') as string,
    })
  })

  test('a `current` that names none keeps nobody from the others, and a lab that is down is wrong', async () => {
    const stale = 'current: gone\ndeployments:\n  a: {url: "https://a.example.org"}\n'
    expect(await all(stale)).toEqual({ a: 'https://a.example.org' })
    expect(await all(stale, ['a', 'lab'])).toEqual({
      a: 'https://a.example.org',
      lab: expect.stringContaining('the practice deployment is not running') as string,
    })
  })

  test.each([
    ['deployments: {}\n', /names no deployment/],
    ['deployments:\n  a: {}\nothers: 1\n', /unknown key `others`/],
    ['', /is empty/],
    ['deployments: [a]\n', /must be/],
  ])('a file that is wrong as a whole is an error: %j', async (content, message) => {
    await expect(all(content)).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringMatching(message) as string,
    })
  })
})
