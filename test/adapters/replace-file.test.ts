import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { markOf } from '../../src/adapters/process-identity.ts'
import { nextOf, replaceFile } from '../../src/adapters/replace-file.ts'
import { asNobody } from '../support/as-nobody.ts'

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'testops-admin-replace-'))
  file = join(folder, 'settings.env')
})
afterEach(async () => rm(folder, { recursive: true, force: true }))

test('of several at the same moment one replaces the file, and the others change nothing', async () => {
  for (let round = 0; round < 40; round += 1) {
    const from = Buffer.from(`before ${round}\n`)
    await writeFile(file, from)
    const texts = ['a', 'b', 'c'].map((name) => `${name.repeat(100_000)}\n`)
    const done = await Promise.all(texts.map(async (text) => replaceFile(file, { from, to: Buffer.from(text) })))
    expect(texts.filter((_, index) => done[index])).toEqual([await readFile(file, 'utf8')])
    expect(await readdir(folder)).toEqual(['settings.env'])
  }
})

test('what a killed process left is removed, and what is in use by another one stays', async () => {
  const [gone, alive] = [spawn('sleep', ['60']), spawn('sleep', ['60'])]
  try {
    const nameOf = async (pid: number): Promise<string> =>
      `.settings.env.testops-admin-${await markOf(pid)}-0123abcd.new`
    const [left, used] = [await nameOf(gone.pid!), await nameOf(alive.pid!)]
    const former = '.settings.env.testops-admin.new'
    const others = ['.other.env.testops-admin.new', '.settings.env.testops-admin-nonsense.new']
    const ofContainer = '.settings.env.testops-admin-00000000-7-00000000-0123abcd.new'
    for (const name of [left, used, former, ofContainer, ...others]) await writeFile(join(folder, name), 'half')
    const old = new Date(Date.now() - 2 * 3_600_000)
    await utimes(join(folder, ofContainer), old, old)
    await utimes(join(folder, used), old, old)
    const ended = once(gone, 'exit')
    gone.kill('SIGKILL')
    await ended
    expect(await replaceFile(file, { from: null, to: Buffer.from('A=1\n') })).toBe(true)
    expect((await readdir(folder)).toSorted()).toEqual([used, ...others, 'settings.env'].toSorted())
  } finally {
    for (const child of [gone, alive]) child.kill('SIGKILL')
  }
})

test('a name as long as names can be, and a folder of that name, are in nobody’s way', async () => {
  const long = join(folder, `${'x'.repeat(39)}😀${'é'.repeat(100)}`)
  const left = join(folder, `.${'x'.repeat(39)}😀.testops-admin-00000000-7-00000000-0123abcd.new`)
  await writeFile(left, '')
  await utimes(left, 0, 0)
  expect(await replaceFile(long, { from: null, to: Buffer.from('A=1\n') })).toBe(true)
  await mkdir(join(folder, '.settings.env.testops-admin.new'))
  expect(await replaceFile(file, { from: null, to: Buffer.from('A=1\n') })).toBe(true)
  expect(await readFile(long, 'utf8')).toBe(await readFile(file, 'utf8'))
  expect((await readdir(folder)).length).toBe(3)
})

test('two names are never the same', async () => {
  expect(new Set(await Promise.all(Array.from({ length: 20 }, async () => nextOf(file)))).size).toBe(20)
})

test('a file is replaced in a folder that may be written, but not read', async () => {
  await chmod(folder, 0o755)
  const own = join(folder, 'own')
  await mkdir(own)
  if (process.geteuid?.() === 0) await chown(own, 65_534, 65_534)
  await chmod(own, 0o300)
  const path = join(own, 'settings.env')
  const done = await asNobody(async () => replaceFile(path, { from: null, to: Buffer.from('A=1\n') }))
  await chmod(own, 0o700)
  expect([done, await readFile(path, 'utf8')]).toEqual([true, 'A=1\n'])
})
