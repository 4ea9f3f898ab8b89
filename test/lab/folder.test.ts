import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { AdminError } from '../../src/core/error.ts'
import { takeLabDown } from '../../src/lab/down.ts'
import type { LabOptions } from '../../src/lab/lab.ts'
import { labLayout } from '../../src/lab/layout.ts'
import { asOperator, operatorAtWork } from '../../src/lab/operator-lock.ts'
import { identify } from '../../src/adapters/process-identity.ts'
import { labStatus } from '../../src/lab/status.ts'
import { bringLabUp } from '../../src/lab/up.ts'

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-folder-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}

function options(root: string): LabOptions & { said: string[] } {
  const said: string[] = []
  return {
    root,
    said,
    progress: (message) => said.push(message),
    diagnose: () => Promise.reject(new Error('nobody asked')),
  }
}

const errorOf = async (work: Promise<unknown>): Promise<AdminError> => {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(AdminError)
  return error as AdminError
}

describe('a folder with other things in it', () => {
  const files = { 'service/mine.txt': 'mine', 'secrets/mine.txt': 'mine', 'notes.txt': 'mine' }

  test('gets no lab', async () => {
    const root = await folderWith(files)
    const error = await errorOf(bringLabUp(options(root), {}))
    expect({ code: error.code, message: error.message }).toEqual({
      code: 'REFUSED',
      message: `cannot put a lab into ${root}: the folder contains other files (notes.txt, secrets, service)`,
    })
    expect((await readdir(root)).sort()).toEqual(['notes.txt', 'secrets', 'service'])
  })

  test('loses nothing by `lab down`, even where it bears names that a lab uses', async () => {
    const root = await folderWith(files)
    expect(await takeLabDown(options(root))).toEqual({ found: false, removed: [] })
    expect((await readdir(root, { recursive: true })).sort()).toEqual([
      'notes.txt',
      'secrets',
      'secrets/mine.txt',
      'service',
      'service/mine.txt',
    ])
  })

  test('keeps them when the lab beside them is taken down', async () => {
    const root = await folderWith({
      'lab.json': '{"schemaVersion": ',
      'lab.json.7.new': '',
      cpuinfo: '',
      'notes.txt': 'mine',
      'lab.json.bak': 'mine',
    })
    const asked = options(root)
    expect(await takeLabDown(asked)).toEqual({ found: true, removed: [] })
    expect(asked.said).toEqual([`${root} was not removed: the folder contains other files (lab.json.bak, notes.txt)`])
    expect((await readdir(root)).sort()).toEqual(['lab.json.bak', 'notes.txt'])
  })

  test('is left with the records of a deployment that is called lab, without a word', async () => {
    const records = { 'runs/a/journal.jsonl': '', 'repair.lock': '' }
    const root = await folderWith({ ...records, 'lab.json': '{"schemaVersion": ' })
    const asked = options(root)
    expect(await takeLabDown(asked)).toEqual({ found: true, removed: [] })
    expect(asked.said).toEqual([])
    expect((await readdir(root)).sort()).toEqual(['repair.lock', 'runs'])
  })
})

test.each([
  [
    'is a file',
    async () => join(await folderWith({ lab: '' }), 'lab'),
    'there is a file where a folder should be',
    'there is a file where a folder should be',
  ],
  [
    'lies below a file',
    async () => join(await folderWith({ file: '' }), 'file/lab'),
    'there is a file where a folder should be',
    null,
  ],
  ['cannot be made', async () => '/proc/testops-admin-lab', 'cannot create a folder there', null],
  ['has a name that is too long', async () => join(tmpdir(), 'x'.repeat(300)), 'the name is too long', null],
])('a folder that %s is one clear error, and nothing hangs', async (_, make, reason, whenRead) => {
  const root = await make()
  const error = await errorOf(bringLabUp(options(root), {}))
  expect({ code: error.code, exitCode: error.exitCode, message: error.message }).toEqual({
    code: 'UNAVAILABLE',
    exitCode: 69,
    message: `cannot use the lab's folder ${root}: ${reason}`,
  })
  expect(error.suggestions).toEqual([
    `ls -ld ${root}`,
    'export TESTOPS_ADMIN_LAB_DIR=…   # the path of a folder that you can write to',
  ])
  if (whenRead === null) return
  for (const look of [takeLabDown, labStatus]) {
    expect((await errorOf(look(options(root)))).message).toMatch(
      new RegExp(`^cannot use the lab's folder .*: ${whenRead}`),
    )
  }
})

describe('without room on its disk', () => {
  /** What is about to be written in this folder lands on a device that is always full. */
  const full = async (root: string, ...names: string[]): Promise<void> => {
    for (const name of names) await symlink('/dev/full', join(root, name))
  }
  const state = JSON.stringify({ schemaVersion: 1, id: 'x', phase: 'up', faults: [], currentLine: '4.3' })

  test('a lab is not begun, and nothing half written stays', async () => {
    const root = join(await folderWith({ 'lab/x': '' }), 'lab')
    await rm(join(root, 'x'))
    await full(root, `operator.lock.${process.pid}`)
    const error = await errorOf(bringLabUp(options(root), {}))
    expect(error.message).toBe(`cannot use the lab's folder ${root}: no space is left on its disk`)
    expect(error.suggestions[0]).toBe(`df -h ${root}`)
    expect(existsSync(root)).toBe(false)
  })

  test('a lab is taken down all the same', async () => {
    const root = await folderWith({ 'lab.json': state, 'service/service.env': '' })
    await full(
      root,
      `operator.lock.${process.pid}`,
      `lab.json.${process.pid}.new`,
      `service/service.lock.${process.pid}`,
    )
    expect(await takeLabDown(options(root))).toEqual({ found: true, removed: [] })
    expect(existsSync(root)).toBe(false)
  })

  test('but not while somebody else is at work', async () => {
    const root = await folderWith({ 'lab.json': state })
    const other = {
      ...(await identify(process.ppid))!,
      command: 'lab break api-slow',
      since: '2026-11-21T04:00:00.000Z',
    }
    await writeFile(join(root, 'operator.lock'), JSON.stringify(other))
    await full(root, `operator.lock.${process.pid}`)
    expect(await errorOf(takeLabDown(options(root)))).toMatchObject({ code: 'BUSY', exitCode: 5 })
    expect(existsSync(join(root, 'lab.json'))).toBe(true)
  })
})

describe('the lock of an operator', () => {
  test('who died is taken over, also where another process got the number, or the lock is damaged', async () => {
    for (const found of [
      JSON.stringify({ pid: 1, startTime: '1', command: 'lab up', since: '' }),
      JSON.stringify({ pid: process.ppid, startTime: '1' }),
      '',
      '{',
    ]) {
      const layout = labLayout(await folderWith({ 'operator.lock': found }))
      expect(await operatorAtWork(layout)).toBeNull()
      expect(await asOperator(layout, 'lab mend', () => operatorAtWork(layout))).toMatchObject({
        pid: process.pid,
        command: 'lab mend',
      })
      expect(existsSync(layout.root)).toBe(false)
    }
  })

  test('who lives is respected, and named', async () => {
    const layout = labLayout(await folderWith({ notes: '' }))
    await asOperator(layout, 'lab break api-slow', async () => {
      const text = await readFile(layout.lock, 'utf8')
      expect((await stat(layout.lock)).mode & 0o777).toBe(0o600)
      const { message } = await errorOf(asOperator(layout, 'lab mend', () => Promise.resolve()))
      expect(message).toMatch(
        new RegExp(
          `^another operator has been running \`lab break api-slow\` \\(process ${process.pid}\\) on this lab since 20`,
        ),
      )
      expect(await readFile(layout.lock, 'utf8')).toBe(text)
    })
    expect(await readdir(layout.root)).toEqual(['notes'])
  })

  test('that a killed command left alone is no lab: `lab down` tidies it up', async () => {
    const root = await folderWith({
      'operator.lock': '{"pid": 1, "startTime": "1"}',
      'operator.lock.77': '{',
      'operator.lock.stale.77': '',
    })
    expect(await takeLabDown(options(root))).toEqual({ found: false, removed: [] })
    expect(existsSync(root)).toBe(false)
  })
})
