import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { onTerminal } from '../support/terminal.ts'
import type { Shown, Terminal } from '../support/terminal.ts'

const values = 'version: 527u01\nimage:\n  imageName: testops\n'
const question = /to confirm: /
const edit = 'testops-admin use-legacy-image --values values.yaml'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'testops-admin-terminal-'))
  await writeFile(join(folder, 'values.yaml'), values)
})
afterEach(async () => rm(folder, { recursive: true, force: true }))

async function type(line: string, more: Terminal = {}): Promise<Shown> {
  return onTerminal(line, {
    cwd: folder,
    env: {
      XDG_STATE_HOME: join(folder, 'state'),
      XDG_CONFIG_HOME: join(folder, 'config'),
      TESTOPS_ADMIN_LAB_DIR: join(folder, 'lab'),
    },
    ...more,
  })
}

async function isUnchanged(): Promise<boolean> {
  return (await readFile(join(folder, 'values.yaml'), 'utf8')) === values
}

test('Ctrl-C at the question cancels in one sentence', async () => {
  const { exitCode, text } = await type(edit, { answers: [[question, '\u0003']] })
  expect([exitCode, text.trimEnd().split('\n').at(-1)]).toEqual([4, 'Cancelled. Nothing was changed.'])
  expect(await isUnchanged()).toBe(true)
})

test('after Ctrl-Z and fg the question can still be answered', async () => {
  const { exitCode, text } = await type(`set -m; ${edit}; echo stopped; fg`, {
    answers: [
      [question, '\u001A'],
      [/stopped[^]*to confirm: /, 'values.yaml\r'],
    ],
  })
  expect(text).toMatch(/stopped[^]*Done\./)
  expect(exitCode).toBe(0)
  expect(await isUnchanged()).toBe(false)
})

test('a refusal is said on standard error, and under --json is the document', async () => {
  const refused = `${edit} --confirm other`
  expect((await type(`${refused} 2>/dev/null`)).text).toBe('')
  const { exitCode, text } = await type(`${refused} --json 2>/dev/null`)
  expect([exitCode, (JSON.parse(text) as { outcome: string }).outcome]).toEqual([4, 'refused'])
})

test('a folder that was removed is told in one sentence', async () => {
  const { exitCode, text } = await type(
    'mkdir gone; cd gone; rmdir ../gone; testops-admin explain stuck-lock 2>&1 | grep Error; exit ${PIPESTATUS[0]}',
  )
  expect([exitCode, text]).toEqual([69, 'Error: the current folder no longer exists\n'])
})

test('a loop that reads names keeps all of them, whatever it runs', async () => {
  const commands = ['explain', 'resume', 'undo', 'apply', 'lab mend', 'discard', 'scan-logs'].map(
    (words) => `testops-admin ${words} >/dev/null 2>&1`,
  )
  const { text } = await type(
    `printf 'one\\ntwo\\n' | while read name; do ${commands.join('; ')}; echo "[$name]"; done`,
  )
  expect(text).toBe('[one]\n[two]\n')
})

test.each([
  ['testops-admin doctor lab', 'Error: `testops-admin doctor` takes no argument: lab', 'testops-admin doctor -d lab'],
  [
    'testops-admin apply',
    'Error: `testops-admin apply` needs FILE, or - for standard input',
    'testops-admin apply --help',
  ],
])('%s is answered with one short sentence', async (line, said, next) => {
  const { exitCode, text } = await type(line)
  expect([exitCode, text.split('\n')]).toEqual([64, expect.arrayContaining([said, `  ${next}`])])
})
