import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { faultsOf } from '../../output/schemas.ts'
import { failpointsOf, undoFailpointsOf } from '../support/failpoints.ts'
import { operator } from '../support/operator.ts'
import type { Ended, Operator } from '../support/operator.ts'

const before = '# of prod\r\nversion: 526u03 # two\r\nimage:\r\n  registry: r\r\npassword: geheim'
const after = before
  .replace('526u03', '527u01')
  .replace('registry: r\r\n', 'registry: r\r\n  imageName: testops-legacy\r\n')

interface Situation {
  someone: Operator
  folder: string
  file: string
  words: readonly string[]
  text: () => Promise<string>
  onFile: (...words: string[]) => string[]
}

/** An operator with one values file, and nothing else. */
async function situation(text = before, name = 'values.yaml'): Promise<Situation> {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-legacy-'))
  const file = join(folder, name)
  await writeFile(file, text)
  // the deployment of its environment is passed over
  const someone = await operator({ name, environment: {} })
  onTestFinished(async () => {
    await someone.leave()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    someone,
    folder,
    file,
    words: ['use-legacy-image', '--values', file, '--build', '527u01'],
    text: async () => readFile(file, 'utf8'),
    onFile: (...words) => [...words, '--values', file],
  }
}

function endOf(ended: Ended): object {
  const document = ended.json<RepairDocument>()
  expect(faultsOf('repair', document)).toEqual([])
  return { code: ended.code, outcome: document.outcome }
}
const done = { code: 0, outcome: 'done' }
const nothing = { code: 0, outcome: 'nothing-to-do' }

async function allIn(folder: string): Promise<string> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((it) => it.isFile())
  return (await Promise.all(files.map(async (it) => readFile(join(it.parentPath, it.name), 'utf8')))).join('\n')
}

test('done, on record, found done, taken back to the byte; a secret of the file is kept nowhere', async () => {
  const { someone, words, text, onFile, file } = await situation()
  const ended = await someone.repair(words)
  expect([endOf(ended), await text()]).toEqual([done, after])
  expect(ended.stderr).toContain(
    `${file}\n    - version: 526u03 # two\n    + version: 527u01 # two\n    +   imageName: testops-legacy\n`,
  )
  expect(endOf(await someone.repair(words))).toEqual(nothing)
  const { run } = ended.json<RepairDocument>()
  const history = await someone.run(onFile('history'))
  expect(history.stdout).toMatch(new RegExp(`^${run}  done  1 of 1 steps by \\S+\n$`))
  expect((await someone.run(onFile('resume'))).code).toBe(0)
  expect(endOf(await someone.repair(onFile('undo', run!)))).toEqual(done)
  expect(await text()).toBe(before)
  expect((await allIn(someone.state)) + ended.stdout + ended.stderr).not.toContain('geheim')
})

test('without a confirmation the plan and the difference are shown, and nothing is changed', async () => {
  const { someone, words, text, file } = await situation()
  const ended = await someone.run(words)
  expect([ended.code, await text()]).toEqual([4, before])
  expect(ended.stderr).toContain(`Plan: use-legacy-image on file ${file}\n`)
  expect(ended.stderr).toContain('    - version: 526u03 # two\n    + version: 527u01 # two\n')
  expect(ended.stderr).toContain(`testops-admin use-legacy-image --values ${file} --build 527u01 --confirm values.yaml`)
})

test.each([
  { what: 'another name', more: ['--confirm', 'prod'], code: 4 },
  { what: 'a dry run', more: ['--dry-run', '--json'], code: 0 },
  { what: 'read-only', more: ['--confirm', 'values.yaml'], env: { TESTOPS_ADMIN_READ_ONLY: '1' }, code: 4 },
  { what: 'a risk that is none', more: ['--confirm', 'values.yaml', '--accept-risk', 'x'], code: 64 },
  { what: 'two kinds of file', more: ['--compose', 'x'], code: 64 },
  { what: 'an empty path', more: ['--path', 'a..b'], code: 64 },
  { what: 'a service of a values file', more: ['--service', 'a'], code: 64 },
])('$what: nothing is written anywhere', async ({ more, env, code }) => {
  const { someone, words, text, folder } = await situation()
  const ended = await someone.run([...words, ...more], { ...(env && { env }) })
  expect([ended.code, await text(), await readdir(folder), await readdir(someone.state)]).toEqual([
    code,
    before,
    ['values.yaml'],
    [],
  ])
})

test('which file, that there is none, or that it cannot be edited, is said', async () => {
  const { someone, words, file } = await situation('a:\n\tb: 1\n')
  const none = await someone.run(['use-legacy-image'])
  expect([none.code, none.stderr]).toEqual([
    64,
    expect.stringContaining('testops-admin use-legacy-image --values values.yaml') as string,
  ])
  const missing = await someone.run(['use-legacy-image', '--values', 'none.yaml', '--json'])
  expect([missing.code, missing.json()]).toMatchObject([
    64,
    { error: { code: 'USAGE', message: expect.stringMatching(/^the file \S+\/none\.yaml is missing$/) as string } },
  ])
  const tabs = await someone.repair(words)
  expect([tabs.code, tabs.json()]).toMatchObject([
    4,
    {
      error: {
        code: 'REFUSED',
        message: `${file} line 2 cannot be edited safely: tab characters must not be used in indentation`,
      },
    },
  ])
})

test('a build before the first is refused with the command to type, which works', async () => {
  const { someone, file, text } = await situation()
  const ended = await someone.repair(['use-legacy-image', '--values', file])
  const { error } = ended.json<{ error: { code: string; suggestions: string[] } }>()
  expect([ended.code, error.code]).toEqual([4, 'REFUSED'])
  const [, ...words] = error.suggestions[0]!.replace(/ +#.*/, '').split(' ')
  expect(endOf(await someone.repair(words))).toEqual(done)
  expect(await text()).toBe(after)
})

test('an unknown build goes on by its risk alone', async () => {
  const { someone, file, text } = await situation('image: {imageName: testops}\n')
  const words = ['use-legacy-image', '--values', file]
  expect(endOf(await someone.repair(words))).toEqual({ code: 4, outcome: 'refused' })
  expect(endOf(await someone.repair([...words, '--accept-risk', 'unknown-build']))).toEqual(done)
  expect(await text()).toBe('image: {imageName: testops-legacy}\n')
})

test('of several files the one that counts is edited, and confirms by its name', async () => {
  const { someone, folder, file, text } = await situation('version: 527u01\nimage: {imageName: testops}\n')
  const other = join(folder, 'prod.yaml')
  await writeFile(other, 'replicaCount: 1\n')
  const words = ['use-legacy-image', '--values', file, '--values', other]
  expect((await someone.run([...words, '--confirm', 'prod.yaml'])).code).toBe(4)
  expect(endOf(await someone.repair(words))).toEqual(done)
  expect([await text(), await readFile(other, 'utf8')]).toEqual([
    'version: 527u01\nimage: {imageName: testops-legacy}\n',
    'replicaCount: 1\n',
  ])
})

test('where the file of the name needs no change, it still is the one by which the run is known', async () => {
  const { someone, folder, file, text, onFile } = await situation('image: {imageName: testops-legacy}\n')
  const other = join(folder, 'prod.yaml')
  await writeFile(other, 'version: 526u03\n')
  const ended = await someone.run([
    'use-legacy-image',
    '--values',
    file,
    '--values',
    other,
    '--build',
    '527u01',
    '--confirm',
    'values.yaml',
  ])
  const undo = /undo \S+ --values \S+/.exec(ended.stdout)?.[0].split(' ') ?? []
  expect([ended.code, undo.at(-1), await readFile(other, 'utf8')]).toEqual([0, file, 'version: 527u01\n'])
  expect((await someone.run(onFile('history'))).stdout).toContain('done')
  expect(endOf(await someone.repair(undo))).toEqual(done)
  expect([await readFile(other, 'utf8'), await text()]).toEqual([
    'version: 526u03\n',
    'image: {imageName: testops-legacy}\n',
  ])
})

test('a link is one file with what it names', async () => {
  const { someone, folder, words, text, onFile } = await situation()
  await mkdir(join(folder, 'x'))
  const link = join(folder, 'x', 'link.yaml')
  await symlink('../values.yaml', link)
  expect(endOf(await someone.repair(['use-legacy-image', '--values', link, '--build', '527u01']))).toEqual(done)
  expect(endOf(await someone.repair(words))).toEqual(nothing)
  expect((await someone.run(onFile('history'))).stdout).toContain('done')
  expect(await text()).toBe(after)
})

test('a compose file, there and back', async () => {
  const compose = 'services:\n  testops:\n    image: ${R}/testops:${V} # c\n'
  const { someone, folder, file, text } = await situation(compose, 'compose.yml')
  await writeFile(join(folder, '.env'), 'V=527u01\n')
  const ended = await someone.repair(['use-legacy-image', '--compose', file])
  expect([endOf(ended), await text()]).toEqual([done, compose.replace('/testops:', '/testops-legacy:')])
  const { run } = ended.json<RepairDocument>()
  expect(endOf(await someone.repair(['undo', run!, '--compose', file]))).toEqual(done)
  expect(await text()).toBe(compose)
})

test('a saved plan is carried out, and not where the file is another', async () => {
  const { someone, words, text, file, folder } = await situation()
  const plan = (await someone.run([...words, '--dry-run', '--json'])).stdout
  await writeFile(join(folder, 'plan.json'), plan)
  await writeFile(file, before.replace('526u03', '526u04'))
  expect(endOf(await someone.repair(['apply', join(folder, 'plan.json')]))).toEqual({ code: 4, outcome: 'refused' })
  await writeFile(file, before)
  expect(endOf(await someone.repair(['apply', join(folder, 'plan.json')]))).toEqual(done)
  expect(await text()).toBe(after)
})

describe('killed', () => {
  // a file keeps no copy of the journal
  test.each(failpointsOf(['edit-values']).filter((name) => name !== 'begin:copied'))(
    'at %s, it is gone on with, and taken back',
    async (failpoint) => {
      const { someone, words, text, onFile, folder } = await situation()
      await someone.killedAt(failpoint, words)
      expect([before, after]).toContain(await text())
      const ended = await someone.run(onFile('resume', '--json'))
      expect([ended.code, await text()], ended.stdout).toEqual([0, after])
      expect(await readdir(folder)).toEqual(['values.yaml'])
      const { runs } = (await someone.run(onFile('history', '--json'))).json<{
        runs: { run: string; state: string }[]
      }>()
      expect(runs.map(({ state }) => state)).toEqual(['done'])
      expect(endOf(await someone.repair(onFile('undo', runs[0]!.run)))).toEqual(done)
      expect(await text()).toBe(before)
    },
  )

  test.each(undoFailpointsOf(['edit-values']))('at %s, while it is taken back', async (failpoint) => {
    const { someone, words, text, onFile } = await situation()
    const { run } = (await someone.repair(words)).json<RepairDocument>()
    await someone.killedAt(failpoint, onFile('undo', run!))
    expect((await someone.run(onFile('resume', '--json'))).code).toBe(0)
    expect(await text()).toBe(before)
  })
})

test('of two operators one is told who is at work, and a further one that a run is not over', async () => {
  const { someone, words, text } = await situation()
  const first = someone.begin([...words, '--confirm', 'values.yaml', '--json'], {
    failpoint: 'edit-values:before=stop',
  })
  await first.untilStopped()
  const second = await someone.repair(words)
  expect([second.code, second.json<RepairDocument>().error?.code]).toEqual([5, 'BUSY'])
  first.goOn()
  expect(endOf(await first.ended)).toEqual(done)
  expect(await text()).toBe(after)
})

test('what was changed by somebody else meanwhile is left alone', async () => {
  const { someone, words, text, file, onFile } = await situation()
  const begun = someone.begin([...words, '--confirm', 'values.yaml', '--json'], {
    failpoint: 'edit-values:intended=stop',
  })
  await begun.untilStopped()
  await writeFile(file, before.replace('526u03', '526u04'))
  begun.goOn()
  const ended = await begun.ended
  expect([endOf(ended), ended.json<RepairDocument>().error?.message]).toEqual([
    { code: 6, outcome: 'interrupted' },
    `somebody else has changed image.imageName, version in ${file}: the file has neither the old value nor the ` +
      'one that this run sets',
  ])
  expect(await text()).toBe(before.replace('526u03', '526u04'))
  // nothing of it is there to take back
  const [run] = (await someone.run(onFile('history', '--json'))).json<{ runs: { run: string }[] }>().runs
  expect(endOf(await someone.repair(onFile('undo', run!.run)))).toEqual(done)
  expect(await text()).toBe(before.replace('526u03', '526u04'))
  expect(endOf(await someone.repair(words))).toEqual(done)
  expect(await text()).toBe(after)
})

test('what was changed at that place after a run is not taken back', async () => {
  const { someone, words, text, file, onFile } = await situation()
  const { run } = (await someone.repair(words)).json<RepairDocument>()
  await writeFile(file, `# more\r\n${after.replace('527u01', '527u02')}`)
  const ended = await someone.repair(onFile('undo', run!))
  expect([ended.code, ended.json<RepairDocument>().error?.message]).toEqual([
    4,
    `somebody else has changed image.imageName, version in ${file}: the file has neither the old value nor the ` +
      'one that this run sets',
  ])
  expect(await text()).toBe(`# more\r\n${after.replace('527u01', '527u02')}`)
})
