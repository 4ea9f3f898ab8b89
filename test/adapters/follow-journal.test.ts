import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openLog } from '../../src/adapters/log-file.ts'
import { folderWith } from '../runtime/folder.ts'
import { followed } from '../platforms/followed.ts'

const timeout = 20_000
const entry = (cursor: number, MESSAGE: unknown): string =>
  JSON.stringify({ __CURSOR: `s=${cursor}`, MESSAGE, _PID: '1' })

/**
 * Stands for `journalctl` that prints what a file holds, once for each call; then it ends, or goes on until it is
 * ended.
 */
async function journal(
  ...runs: readonly { prints: readonly string[]; goesOn?: boolean; exitCode?: number }[]
): Promise<{ command: [string, ...string[]]; asked: () => Promise<string[]>; pids: () => Promise<number[]> }> {
  const cases = runs.map(
    ({ goesOn = false, exitCode = 0 }, index) =>
      `${index + 1}) cat "$here/run${index + 1}"; ` +
      `${goesOn ? 'exec sleep 1000' : `echo trouble >&2; exit ${exitCode}`} ;;`,
  )
  const folder = await folderWith({
    asked: '',
    pids: '',
    ...Object.fromEntries(runs.map(({ prints }, index) => [`run${index + 1}`, prints.map((it) => `${it}\n`).join('')])),
  })
  const program = join(folder, 'journalctl')
  await writeFile(
    program,
    `#!/bin/sh\nhere=$(dirname "$0")\necho "$*" >>"$here/asked"\necho $$ >>"$here/pids"\ncase $(wc -l ` +
      `<"$here/asked" | tr -d ' ') in\n${cases.join('\n')}\nesac\n`,
    { mode: 0o700 },
  )
  const lines = async (name: string): Promise<string[]> =>
    (await readFile(join(folder, name), 'utf8')).split('\n').filter(Boolean)
  return {
    command: [program, '-u', 'testops', '-o', 'cat', '-n', '50000'],
    asked: async () => lines('asked'),
    pids: async () => (await lines('pids')).map(Number),
  }
}

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test(
  'the journal is followed from a moment, ' + 'and where it breaks off from its last entry; no program is left',
  async () => {
    const { command, asked, pids } = await journal(
      {
        prints: [entry(1, 'one'), 'no entry', entry(2, 'two\nthree'), entry(3, [...Buffer.from('щ\u0007')])],
        exitCode: 1,
      },
      { prints: [entry(4, 'four'), entry(5, null)], goesOn: true },
    )
    const { lines, told, stop, ended } = followed(openLog({ command }, { timeoutMs: 5000 }), {
      since: new Date('2026-11-22T10:00:00.250Z'),
    })
    await expect.poll(() => lines, { timeout }).toEqual(['one', 'two', 'three', 'щ\u0007', 'four'])
    const words = '-u testops -o cat -n 50000 --follow --lines=all --output=json --all'
    expect(await asked()).toEqual([`${words} --since=@1795341600.250`, `${words} --after-cursor=s=3`])
    expect(told).toEqual([expect.stringMatching(/ exited with 1: trouble$/)])
    stop.abort()
    expect(await ended).toBe(null)
    expect((await pids()).map(isThere)).toEqual([false, false])
  },
)

test('who asks for no more ends the program', async () => {
  const { command, pids } = await journal({ prints: [entry(1, 'one')], goesOn: true })
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  for await (const { text } of openLog({ command }, { timeoutMs: 5000 }).follow({ signal: stop.signal })) {
    expect(text).toBe('one')
    break
  }
  expect((await pids()).map(isThere)).toEqual([false])
})

test('what cannot begin is told', async () => {
  const { command } = await journal({ prints: [], exitCode: 1 })
  expect(await followed(openLog({ command }, { timeoutMs: 5000 })).ended).toMatchObject({
    code: 'UNEXPECTED_ANSWER',
    message: expect.stringMatching(/ exited with 1: trouble$/) as string,
  })
  expect(await followed(openLog({ command: ['/nonexistent/journalctl'] }, { timeoutMs: 5000 })).ended).toMatchObject({
    code: 'UNAVAILABLE',
  })
  expect(await followed(openLog({ command: ['cat', 'some.log'] }, { timeoutMs: 5000 })).ended).toMatchObject({
    code: 'NOT_CONFIGURED',
    message: 'cannot follow the log command `cat some.log`: only `journalctl` and log files can be followed',
  })
})
