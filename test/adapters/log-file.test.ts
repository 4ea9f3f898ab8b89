import { appendFile, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLog } from '../../src/adapters/log-file.ts'
import type { LogPart } from '../../src/core/sources.ts'
import { typed } from '../../src/core/typed.ts'
import { failureOf } from './failure-of.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'testops-admin-log-'))
})
afterAll(async () => rm(folder, { recursive: true, force: true }))

const options = { timeoutMs: 10_000 }

describe('a log file', () => {
  const tails = [
    { what: 'a short file', content: 'one\ntwo\n', maxBytes: 100, complete: true, text: 'one\ntwo\n' },
    { what: 'a file of just that size', content: 'one\ntwo\n', maxBytes: 8, complete: true, text: 'one\ntwo\n' },
    { what: 'a part that begins with a line', content: 'one\ntwo\n', maxBytes: 4, complete: false, text: 'two\n' },
    {
      what: 'a part that begins within a line',
      content: 'one\ntwo\nthree\n',
      maxBytes: 8,
      complete: false,
      text: 'three\n',
    },
    { what: 'a last line without its end', content: 'one\ntwo\nthr', maxBytes: 8, complete: false, text: 'two\nthr' },
    { what: 'an empty file', content: '', maxBytes: 8, complete: true, text: '' },
    {
      what: 'bytes that are no UTF-8',
      content: Buffer.from([0x61, 0xff, 0xfe, 0x0a]),
      maxBytes: 8,
      complete: true,
      text: 'a\ufffd\ufffd\n',
    },
    { what: 'a character cut in two', content: 'щщ\nдва\n', maxBytes: 8, complete: false, text: 'два\n' },
  ]
  test.each(tails)('$what', async ({ content, maxBytes, complete, text }) => {
    const file = join(folder, 'tail.log')
    await writeFile(file, content)
    expect(await openLog({ file }, options).newest({ maxBytes })).toEqual({ complete, text })
  })

  test('is read anew after it was rotated', async () => {
    const file = join(folder, 'rotated.log')
    await writeFile(file, 'old\n')
    const log = openLog({ file }, options)
    await log.newest({ maxBytes: 100 })
    await rename(file, `${file}.1`)
    expect(await failureOf(log.newest({ maxBytes: 100 }))).toBe(`UNAVAILABLE the log file ${file} does not exist`)
    await writeFile(file, 'new\n')
    await appendFile(file, 'newer\n')
    expect(await log.newest({ maxBytes: 100 })).toEqual({ complete: true, text: 'new\nnewer\n' })
  })

  test('is no folder', async () => {
    expect(await failureOf(openLog({ file: folder }, options).newest({ maxBytes: 10 }))).toBe(
      `UNAVAILABLE the log ${folder} is not a file`,
    )
  })
})

describe('a log command', () => {
  const print = (script: string): { command: [string, ...string[]] } => ({ command: [process.execPath, '-e', script] })

  test('gives what it prints', async () => {
    expect(await openLog(print('console.log("one\\ntwo")'), options).newest({ maxBytes: 100 })).toEqual({
      complete: true,
      text: 'one\ntwo\n',
    })
  })

  test('gives whole lines of a long output', async () => {
    const log = openLog(print('for (let i = 0; i < 1000; i++) console.log("line " + i)'), options)
    expect(await log.newest({ maxBytes: 25 })).toEqual({ complete: false, text: 'line 998\nline 999\n' })
  })

  test('that hangs is ended', async () => {
    const origin = print('setInterval(() => {}, 1000)')
    const reading = openLog(origin, { ...options, signal: AbortSignal.timeout(200) }).newest({ maxBytes: 10 })
    expect(await failureOf(reading)).toBe(`INTERRUPTED \`${typed(origin.command)}\` was interrupted`)
  })

  test('that fails says how', async () => {
    const origin = print('console.error("no such unit"); process.exit(4)')
    expect(await failureOf(openLog(origin, options).newest({ maxBytes: 10 }))).toBe(
      `UNEXPECTED_ANSWER the log command \`${typed(origin.command)}\` exited with 4: no such unit`,
    )
  })
})

describe('all of a log', () => {
  const read = async (part: LogPart): Promise<string> => {
    const all: Uint8Array[] = []
    for await (const block of part.blocks()) all.push(block)
    return Buffer.concat(all).toString()
  }

  test('of a file: with those that were rotated from it, unpacked', async () => {
    const file = join(folder, 'whole.log')
    await writeFile(`${file}.2.gz`, gzipSync('one\n'))
    await utimes(`${file}.2.gz`, 1, 1)
    await writeFile(`${file}.1`, 'two\n')
    await utimes(`${file}.1`, 2, 2)
    await writeFile(file, 'three\n')
    const parts = await openLog({ file }, options).parts({})
    expect(parts.map(({ name }) => name)).toEqual([`${file}.2.gz`, `${file}.1`, file])
    expect(await Promise.all(parts.map(read))).toEqual(['one\n', 'two\n', 'three\n'])
  })

  test('of a command: what it prints, however much, and how it failed', async () => {
    const print = (script: string): [string, ...string[]] => [process.execPath, '-e', script]
    const parts = async (command: [string, ...string[]]): Promise<readonly LogPart[]> =>
      openLog({ command }, options).parts({ since: new Date() })
    const [much] = await parts(print('process.stdout.write("x".repeat(30_000_000))'))
    expect((await read(much!)).length).toBe(30_000_000)
    const [failing] = await parts(print('console.log("one"); console.error("no such unit"); process.exit(4)'))
    expect(await failureOf(read(failing!))).toMatch(
      /^UNEXPECTED_ANSWER the log command `.*` exited with 4: no such unit$/s,
    )
  })

  test('of a journal: without its bound on lines, and from a moment on', async () => {
    const journalctl = join(folder, 'journalctl')
    await writeFile(journalctl, '#!/bin/sh\necho "$*"\n', { mode: 0o700 })
    const log = openLog({ command: [journalctl, '-u', 'testops', '-o', 'cat', '-n', '50000'] }, options)
    const [part] = await log.parts({ since: new Date('2026-11-22T10:00:00.250Z') })
    expect(await read(part!)).toBe('-u testops -o cat -n 50000 --lines=all --all --since=@1795341600.250\n')
  })
})
