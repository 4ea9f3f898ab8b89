import { appendFile, copyFile, mkdtemp, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { openLog } from '../../src/adapters/log-file.ts'
import { AdminError } from '../../src/core/error.ts'
import { followed } from '../platforms/followed.ts'
import type { Followed } from '../platforms/followed.ts'

const timeout = 20_000
let file = ''
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-follow-'))
  file = join(folder, 'testops.log')
  return async () => rm(folder, { recursive: true })
})

/** Follows the file, and has seen what is in it: a mark that is written until it comes through. */
async function following(since?: Date): Promise<Followed> {
  const it = followed(openLog({ file }, { timeoutMs: 5000 }), { ...(since && { since }) })
  await expect.poll(async () => (await appendFile(file, 'mark\n'), it.lines.includes('mark')), { timeout }).toBe(true)
  // those that were written meanwhile
  await appendFile(file, 'marked\n')
  await expect.poll(() => it.lines.at(-1), { timeout }).toBe('marked')
  it.lines.splice(0, it.lines.indexOf('marked') + 1)
  return it
}

test('what is written from now on comes in whole lines', async () => {
  await writeFile(file, 'old\n')
  const { lines, stop, ended } = await following()
  await appendFile(file, 'one\ntw')
  await expect.poll(() => lines, { timeout }).toEqual(['one'])
  await appendFile(file, Buffer.from([0xd1]))
  await appendFile(file, Buffer.from([0x89, 0xff, 0x0a]))
  await expect.poll(() => lines, { timeout }).toEqual(['one', 'twщ\ufffd'])
  await appendFile(file, 'three\nwithout an end')
  stop.abort()
  expect(await ended).toBe(null)
  expect(lines).toEqual(['one', 'twщ\ufffd', 'three', 'without an end'])
})

test('older lines come first where they are wanted', async () => {
  await writeFile(file, 'old\n')
  const { lines } = followed(openLog({ file }, { timeoutMs: 5000 }), { since: new Date(0) })
  await expect.poll(() => lines, { timeout }).toEqual(['old'])
})

test(
  'all of a long file comes where it is wanted from 1970 on, ' + 'and the newest 10 MB where it is from later on',
  async () => {
    const line = `${'x'.repeat(999)}\n`
    await writeFile(file, `first\n${line.repeat(12_000)}last\n`)
    const whole = followed(openLog({ file }, { timeoutMs: 5000 }), { since: new Date(0) })
    await expect.poll(() => whole.lines.at(-1), { timeout }).toBe('last')
    expect([whole.lines[0], whole.lines.length]).toEqual(['first', 12_002])
    const newest = followed(openLog({ file }, { timeoutMs: 5000 }), { since: new Date() })
    await expect.poll(() => newest.lines.at(-1), { timeout }).toBe('last')
    expect(newest.lines.length).toBe(10_001)
  },
)

test('a file that is renamed is read to its end, then the one in its place, once something is in it', async () => {
  await writeFile(file, '')
  const { lines } = await following()
  await rename(file, `${file}.1`)
  await writeFile(file, '')
  // the service has the former one open for a while
  await appendFile(`${file}.1`, 'late\n')
  await expect.poll(() => lines, { timeout }).toEqual(['late'])
  await appendFile(`${file}.1`, 'without an end')
  await appendFile(file, 'new\n')
  await expect.poll(() => lines, { timeout }).toEqual(['late', 'without an end', 'new'])
  await rm(file)
  await writeFile(file, 'newer\n')
  await expect.poll(() => lines, { timeout }).toEqual(['late', 'without an end', 'new', 'newer'])
})

test('a file that is copied and cut down is read from its beginning', async () => {
  await writeFile(file, `${'x'.repeat(1000)}\n`)
  const { lines, stop } = await following()
  await copyFile(file, `${file}.1`)
  await truncate(file)
  await appendFile(file, 'new\n')
  await expect.poll(() => lines, { timeout }).toEqual(['new'])
  stop.abort()
})

test('a file that appears later is read from its beginning', async () => {
  const { lines, told } = followed(openLog({ file }, { timeoutMs: 5000 }))
  await expect.poll(() => told, { timeout }).toEqual([`the log file ${file} does not exist yet`])
  await writeFile(file, 'first\n')
  await expect.poll(() => lines, { timeout }).toEqual(['first'])
})

test('a line is kept short, and a long log is read in parts', async () => {
  await writeFile(file, `${'x'.repeat(3_000_000)}\n${'line\n'.repeat(50_000)}`)
  const { lines } = followed(openLog({ file }, { timeoutMs: 5000 }), { since: new Date(0) })
  await expect.poll(() => lines.length, { timeout }).toBe(50_001)
  expect(lines[0]).toHaveLength(1_000_000)
})

test('who asks for no more leaves nothing open, and a folder is no log', async () => {
  await writeFile(file, 'one\ntwo\n')
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  for await (const { text } of openLog({ file }, { timeoutMs: 5000 }).follow({
    signal: stop.signal,
    since: new Date(0),
  })) {
    expect(text).toBe('one')
    break
  }
  const error = await followed(openLog({ file: join(file, '..') }, { timeoutMs: 5000 })).ended
  expect(error).toBeInstanceOf(AdminError)
  expect(error).toMatchObject({ code: 'UNAVAILABLE', message: `the log ${join(file, '..')} is not a file` })
})
