import { chmod, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withCurrent } from '../../../src/runtime/configuration/deployments.ts'
import { knownDeployments, setCurrent } from '../../../src/runtime/index.ts'
import { folderWith } from '../folder.ts'

const two = 'deployments:\n  prod: {url: "https://one.example.org"}\n  staging: {urll: x}\n'

describe('withCurrent', () => {
  test.each([
    ['before the deployments', `# ours\n\n${two}`, 'prod', `# ours\n\ncurrent: prod\n${two}`],
    ['in the place of the former', `current: other\n${two}`, 'prod', `current: prod\n${two}`],
    ['and keeps a comment', `current:   'other'  # mine\n${two}`, 'prod', `current: prod  # mine\n${two}`],
    ['also at the end', `${two}current: "other"`, 'prod', `${two}current: prod`],
    [
      'and keeps the ends of lines',
      'current: a\r\ndeployments:\r\n  b: {}\r\n',
      'b',
      'current: b\r\ndeployments:\r\n  b: {}\r\n',
    ],
    [
      'with the ends of lines that the others have',
      'deployments:\r\n  b: {}\r\n',
      'b',
      'current: b\r\ndeployments:\r\n  b: {}\r\n',
    ],
    ['an empty one', `current:\n${two}`, 'prod', `current: prod\n${two}`],
    ['a name that is a number', two, '123', `current: "123"\n${two}`],
    ['a name that is a yes', two, 'true', `current: "true"\n${two}`],
    ['a file in one line', '{deployments: {prod: {}}}\n', 'prod', null],
    ['a value on the next line', `current:\n  other\n${two}`, 'prod', null],
    ['a block', `current: >-\n  other\n${two}`, 'prod', null],
    ['an anchor', `current: &a other\n${two}`, 'prod', null],
    ['a key in quotation marks', `"current": other\n${two}`, 'prod', null],
  ])('%s', (_, text, name, wanted) => {
    expect(withCurrent(text, name)).toBe(wanted)
  })
})

describe('setCurrent', () => {
  const request = (folder: string) => ({ environment: { HOME: folder }, workingDirectory: folder })

  test('keeps the mode and every other byte, and does nothing twice', async () => {
    const folder = await folderWith({ 'testops-admin.yaml': `${two}# the end` })
    const file = join(folder, 'testops-admin.yaml')
    await chmod(file, 0o640)
    expect(await setCurrent('prod', request(folder))).toEqual({ file, before: null, isChanged: true })
    expect(await readFile(file, 'utf8')).toBe(`current: prod\n${two}# the end`)
    expect((await stat(file)).mode & 0o777).toBe(0o640)
    expect(await setCurrent('prod', request(folder))).toEqual({ file, before: 'prod', isChanged: false })
  })

  test('mends a current one that names none', async () => {
    const folder = await folderWith({ 'testops-admin.yaml': `current: gone\n${two}` })
    expect(await setCurrent('prod', request(folder))).toMatchObject({ before: 'gone', isChanged: true })
    expect(await readFile(join(folder, 'testops-admin.yaml'), 'utf8')).toBe(`current: prod\n${two}`)
  })

  test('writes the target of a link', async () => {
    const folder = await folderWith({ 'kept.yaml': two })
    await symlink('kept.yaml', join(folder, 'testops-admin.yaml'))
    await setCurrent('prod', request(folder))
    expect(await readFile(join(folder, 'kept.yaml'), 'utf8')).toBe(`current: prod\n${two}`)
  })

  test.each([
    ['lab', 'USAGE', /^`lab` is the practice deployment/, ['export TESTOPS_ADMIN_DEPLOYMENT=lab']],
    ['pro', 'USAGE', /^no deployment `pro` in .*; did you mean `prod`\?$/, ['testops-admin use prod']],
    ['staging', 'CONFIGURATION', /^unknown key `urll`/, [expect.stringMatching(/^keys allowed there: /) as string]],
  ] as const)('%s is refused, and nothing is written', async (name, code, message, suggestions) => {
    const folder = await folderWith({ 'testops-admin.yaml': two })
    await expect(setCurrent(name, request(folder))).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
      suggestions,
    })
    expect(await readFile(join(folder, 'testops-admin.yaml'), 'utf8')).toBe(two)
  })

  test('what is suggested names the file that was named', async () => {
    const folder = await folderWith({ 'other.yaml': two })
    const file = join(folder, 'other.yaml')
    await expect(setCurrent('pro', { ...request(folder), file })).rejects.toMatchObject({
      suggestions: [`testops-admin use prod --config ${file}`],
    })
  })

  test('a form that is not edited is refused with what to do', async () => {
    const text = '{deployments: {prod: {url: "https://one.example.org"}}}\n'
    const folder = await folderWith({ 'testops-admin.yaml': text })
    await expect(setCurrent('prod', request(folder))).rejects.toMatchObject({
      code: 'REFUSED',
      suggestions: [
        expect.stringMatching(/^\$\{EDITOR:-vi\} .*testops-admin\.yaml {3}# write current: prod$/) as string,
        'export TESTOPS_ADMIN_DEPLOYMENT=prod',
      ],
    })
    expect(await readFile(join(folder, 'testops-admin.yaml'), 'utf8')).toBe(text)
  })
})

test('the configured deployments, a wrong one with its reason, and the lab while it is up', async () => {
  const folder = await folderWith({ 'testops-admin.yaml': `current: prod\n${two}` })
  const state = await folderWith({})
  const environment = { HOME: folder, TESTOPS_ADMIN_LAB_DIR: state }
  const known = async (): Promise<unknown> =>
    (await knownDeployments({ environment, workingDirectory: folder })).deployments.map(
      ({ name, source, platform, current, error }) => [name, source, platform, current, error?.message.split(';')[0]],
    )
  const own = [
    ['prod', 'configuration', 'host', true, undefined],
    ['staging', 'configuration', null, false, 'unknown key `urll` at testops-admin.yaml:4'],
  ]
  expect(await known()).toEqual(own)
  await writeFile(join(state, 'testops-admin.yaml'), 'deployments:\n  lab: {url: "http://127.0.0.1:1"}\n', {
    mode: 0o600,
  })
  expect(await known()).toEqual([...own, ['lab', 'lab', 'host', false, undefined]])
})

test.each([
  ['the current one', 'current: b\n', undefined, 'b', undefined],
  ['none, if there are several', '', undefined, null, undefined],
  ['the one of the environment', 'current: b\n', 'c', 'c', undefined],
  ['none, if the environment names none', 'current: b\n', 'zz', null, 'zz'],
  ['none, if `current` names none', 'current: zz\n', undefined, null, 'zz'],
])('a command without -d uses %s', async (_, current, named, wanted, missing) => {
  const text = `${current}deployments:\n  b: {url: "https://b.example.org"}\n  c: {url: "https://c.example.org"}\n`
  const workingDirectory = await folderWith({ 'testops-admin.yaml': text })
  const environment = { HOME: workingDirectory, ...(named !== undefined && { TESTOPS_ADMIN_DEPLOYMENT: named }) }
  const known = await knownDeployments({ environment, workingDirectory })
  expect(known.deployments.find((it) => it.current)?.name ?? null).toBe(wanted)
  expect(known.missing).toEqual(missing)
  expect(known.chosenBy).toBe(
    named === undefined ? (current === '' ? undefined : 'current') : 'TESTOPS_ADMIN_DEPLOYMENT',
  )
})
