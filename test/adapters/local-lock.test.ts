import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'

const contenders = 8
const rounds = 60

/** Each asks for the lock when it is told to, and gives it back when it is told to. */
const program = `
import { takeLock, giveBack } from './src/adapters/local-lock.ts'
import { identify } from './src/adapters/process-identity.ts'
const own = await identify(process.pid)
process.on('message', async ({ lock, ask }) => {
  if (ask) process.send({ holder: (await takeLock(lock, own))?.pid ?? null })
  else {
    await giveBack(lock, own)
    process.send({})
  }
})
process.on('disconnect', () => process.exit())
process.send({})
`

let folder = ''
let all: ChildProcess[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'local-lock-'))
  const file = join(folder, 'contender.mjs')
  await build({
    stdin: { contents: program, resolveDir: process.cwd(), loader: 'ts' },
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
  })
  all = Array.from({ length: contenders }, () => fork(file, { execArgv: [] }))
  await Promise.all(all.map(answer))
}, 60_000)
afterAll(async () => {
  for (const child of all) child.kill('SIGKILL')
  await rm(folder, { recursive: true })
})

interface Answer {
  holder?: number | null
}

const answer = async (child: ChildProcess): Promise<Answer> =>
  new Promise((resolve) => child.once('message', (message) => resolve(message as Answer)))

async function told(lock: string, ask: boolean): Promise<Answer[]> {
  const answers = all.map(answer)
  for (const child of all) child.send({ lock, ask })
  return Promise.all(answers)
}

test.each([
  ['of a dead process', '{"pid": 1, "startTime": "1"}'],
  ['that holds nothing', ''],
  ['that nobody wrote so', 'rubbish'],
])(
  'of many at once at a lock %s, one has it, and the others are told who is there',
  async (_, text) => {
    const pids = all.map(({ pid }) => pid)
    for (let round = 0; round < rounds; round += 1) {
      const lock = join(folder, `${round}.lock`)
      await writeFile(lock, text)
      const answers = await told(lock, true)
      expect(answers.filter(({ holder }) => holder === null).length, `round ${round}`).toBe(1)
      expect(answers.every(({ holder }) => holder === null || pids.includes(holder))).toBe(true)
      await told(lock, false)
    }
    expect((await readdir(folder)).filter((name) => name !== 'contender.mjs')).toEqual([])
  },
  60_000,
)
