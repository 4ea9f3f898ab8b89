import { symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import { grouped } from '../../../src/core/format.ts'
import type { LogPart } from '../../../src/core/sources.ts'
import { inputsIn, inputsOf, startScan } from '../../../src/runtime/scan/index.ts'
import type { Inputs, ScanResult } from '../../../src/runtime/scan/index.ts'
import { fakeLogs } from '../../fakes/index.ts'
import { folderWith } from '../folder.ts'

const line = (at: string, text: string): string => `2026-11-22 ${at}.000 ERROR 1 --- [main] a.B : ${text}\n`
const failed = (at: string): string => line(at, 'HTTP FAILED: x')
const part = (name: string, ...texts: string[]): LogPart => ({
  name,
  async *blocks() {
    for (const text of texts) yield Buffer.from(text)
  },
})
const options = { timeZone: 'UTC', hide: (text: string) => text.replaceAll('hunter22', '[secret]') }

async function scanned({ parts, following }: Inputs, more: { since?: Date; until?: Date } = {}): Promise<ScanResult> {
  const run = startScan(parts, following, { ...options, ...more, signal: new AbortController().signal })
  await run.ended
  return run.result()
}
const counted = ({ causes }: ScanResult): Record<string, number> =>
  Object.fromEntries(causes.map(({ id, count }) => [id, count]))
const inFiles = async (names: readonly string[]): Promise<Inputs> =>
  inputsIn(names, { timeZone: 'UTC', input: part('', failed('01:00:00')).blocks() })

test('parts are counted apart and together; what is shown of a line holds no secret', async () => {
  const result = await scanned({
    parts: [
      part('one', failed('10:00:00'), line('10:00:01', 'password is hunter22, 400 Bad Request')),
      part('two', failed('09:00:00')),
    ],
    following: null,
  })
  expect(counted(result)).toEqual({ 'http-failed': 2, 'bad-request': 1 })
  expect(result.parts.map(({ name, tally }) => [name, tally.lines, tally.causes.length])).toEqual([
    ['one', 2, 2],
    ['two', 1, 1],
  ])
  expect(result.from?.toISOString()).toBe('2026-11-22T09:00:00.000Z')
  expect(result.causes[1]!.samples).toEqual([line('10:00:01', 'password is [secret], 400 Bad Request').trim()])
})

test('a part that cannot be read, or breaks, hides no other, and keeps what was read', async () => {
  const forbidden = new AdminError('FORBIDDEN', 'user a may not get pods/log `two` in namespace `n`')
  const two: LogPart = {
    name: 'two',
    blocks: () => ({ [Symbol.asyncIterator]: () => ({ next: async () => Promise.reject(forbidden) }) }),
  }
  const three: LogPart = {
    name: 'three',
    async *blocks() {
      yield Buffer.from(failed('10:00:00'))
      throw new AdminError('UNREACHABLE', 'gone')
    },
  }
  const result = await scanned({ parts: [two, three, part('four', failed('11:00:00'))], following: null })
  expect(counted(result)).toEqual({ 'http-failed': 2 })
  expect(result.unread.map(({ name, error }) => [name, error.code])).toEqual([
    ['two', 'FORBIDDEN'],
    ['three', 'UNREACHABLE'],
  ])
})

test('a text in UTF-16 behind one in 8 bits is not searched, and that is said', async () => {
  const wide = Buffer.from(failed('10:00:01'), 'utf16le')
  const before = `${failed('10:00:00')}\0\0\0\0\0\0\0\0\0\0\n`
  const folder = await folderWith({
    'a.log': Buffer.concat([Buffer.from(before), wide]),
    'b.log': Buffer.from(failed('10:00:01'), 'utf16le').swap16(),
    'c.log': before,
  })
  const result = await scanned(await inFiles(['a.log', 'b.log', 'c.log'].map((name) => join(folder, name))))
  expect(counted(result)).toEqual({ 'http-failed': 2 })
  expect(
    result.unread
      .map(({ name, error }) => [
        name.slice(folder.length + 1),
        error.code,
        error.message,
        String(error.suggestions[0]),
      ])
      .sort(),
  ).toEqual([
    [
      'a.log',
      'UNEXPECTED_ANSWER',
      `the text after byte ${before.length} is in UTF-16 and was not searched`,
      `tail -c +${before.length + 1} ${join(folder, 'a.log')} | iconv -c -f UTF-16LE -t UTF-8 | testops-admin ` +
        'scan-logs -',
    ],
    [
      'b.log',
      'UNEXPECTED_ANSWER',
      'the text after byte 1 is in UTF-16 and was not searched',
      `tail -c +2 ${join(folder, 'b.log')} | iconv -c -f UTF-16LE -t UTF-8 | testops-admin scan-logs -`,
    ],
  ])
  const stream = await scanned({
    parts: [
      {
        name: 'one',
        async *blocks() {
          yield Buffer.from(before)
          for (const byte of wide) yield Buffer.of(byte)
        },
      },
    ],
    following: null,
  })
  expect(stream.unread.map(({ error }) => error.message)).toEqual([
    `the text after byte ${before.length} is in UTF-16 and was not searched`,
  ])
})

test('files are scanned the oldest first, by what is in them', async () => {
  const folder = await folderWith({
    'a.log': failed('12:00:00'),
    'b.log': failed('09:00:00'),
    'undated.log': 'HTTP FAILED\n',
  })
  await writeFile(join(folder, 'c.gz'), gzipSync(failed('10:00:00') + failed('10:00:01')))
  const result = await scanned(
    await inFiles(['a.log', 'undated.log', 'b.log', 'c.gz', 'a.log'].map((name) => join(folder, name))),
  )
  expect(result.parts.map(({ name }) => name.slice(folder.length + 1))).toEqual([
    'b.log',
    'c.gz',
    'a.log',
    'undated.log',
  ])
  expect(counted(result)).toEqual({ 'http-failed': 5 })
  expect(result.parts.map(({ tally }) => tally.datesUnknown)).toEqual([false, false, false, true])
})

test('standard input stands among files', async () => {
  const folder = await folderWith({ 'a.log': failed('12:00:00') })
  const result = await scanned(await inFiles(['-', join(folder, 'a.log')]))
  expect(result.parts.map(({ name }) => name)).toEqual([join(folder, 'a.log'), 'standard input'])
})

test('a binary file is told, and scanned', async () => {
  const folder = await folderWith({ core: `\u0000\u0001HTTP FAILED\u0000\n`, plain: 'a\n' })
  const result = await scanned(await inFiles([join(folder, 'core'), join(folder, 'plain')]))
  expect(result.parts.map(({ isBinary }) => isBinary)).toEqual([true, false])
  expect(counted(result)).toEqual({ 'http-failed': 1 })
})

test('only what is of the time that is wanted is counted', async () => {
  const parts = [part('one', failed('10:00:00'), failed('11:00:00'), failed('12:00:00'))]
  expect(
    counted(
      await scanned(
        { parts, following: null },
        { since: new Date('2026-11-22T10:30:00Z'), until: new Date('2026-11-22T11:30:00Z') },
      ),
    ),
  ).toEqual({ 'http-failed': 1 })
})

test('a folder, and what is not there, are refused with what to name', async () => {
  const folder = await folderWith({ 'app.log': '', 'app.log.1': '', notes: '' })
  await expect(inFiles([folder])).rejects.toMatchObject({
    code: 'USAGE',
    message: `${folder} is a folder. Give the paths of the log files in it`,
    suggestions: [`testops-admin scan-logs ${folder}/app.log ${folder}/app.log.1`],
  })
  await expect(inFiles([`${folder}/ap.log`])).rejects.toMatchObject({
    code: 'USAGE',
    message: `there is no file ${folder}/ap.log`,
    suggestions: expect.arrayContaining([`testops-admin scan-logs ${folder}/app.log`]) as unknown,
  })
  await expect(inFiles([`${folder}/app.log/x`])).rejects.toMatchObject({ code: 'USAGE' })
})

test('a file under several names is read once, and a link that leads nowhere is named as such', async () => {
  const folder = await folderWith({ 'app-2026-11-22.log': failed('12:00:00') })
  const [log, link, dead] = ['app-2026-11-22.log', 'app.log', 'old.log'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  await symlink('app-2026-11-22.log', link)
  await symlink('gone.log', dead)
  const result = await scanned(await inFiles([link, log, `${folder}/./app.log`]))
  expect([result.parts.map(({ name }) => name), counted(result)]).toEqual([[link], { 'http-failed': 1 }])
  await expect(inFiles([dead])).rejects.toMatchObject({
    code: 'USAGE',
    message: `${dead} is a link to gone.log, which is missing`,
    suggestions: [`ls -l ${dead}`],
  })
})

test('what was found up to now can be asked for at any time, and an interruption keeps it', async () => {
  const stop = new AbortController()
  const endless: LogPart = {
    name: 'endless',
    async *blocks() {
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 1))
        yield Buffer.from(failed('10:00:00'))
      }
    },
  }
  const run = startScan([endless, part('never', failed('11:00:00'))], null, { ...options, signal: stop.signal })
  await expect.poll(() => counted(run.result())['http-failed'] ?? 0, { timeout: 20_000 }).toBeGreaterThan(2)
  stop.abort()
  await run.ended
  expect(run.result().parts.map(({ name }) => name)).toEqual(['endless'])
  expect(run.result().unread).toEqual([])
})

test(
  'of a file that was being read when it was interrupted its beginning is counted, ' + 'and up to where is said',
  async () => {
    const folder = await folderWith({ 'app.log': failed('12:00:00').repeat(100_000) })
    const stop = new AbortController()
    const { parts } = await inFiles([join(folder, 'app.log')])
    const run = startScan(parts, null, { ...options, signal: stop.signal })
    stop.abort()
    await run.ended
    const [{ tally } = { tally: null }] = run.result().parts
    expect(tally!.causes[0]?.count ?? 0).toBe(tally!.lines)
    const size = grouped(failed('12:00:00').length * 100_000)
    expect(run.result().unread.map(({ error }) => `${error.code}: ${error.message}`)).toEqual([
      `INTERRUPTED: interrupted after ${grouped(tally!.bytes)} of ${size} bytes`,
    ])
  },
)

test('the log of a deployment is read in its parts, with a margin before the time that is wanted', async () => {
  const asked: unknown[] = []
  const logs = {
    ...fakeLogs(),
    parts: async ({ since }: { since?: Date | undefined }) => (
      asked.push(since?.toISOString()), [part('pod', failed('10:00:00'))]
    ),
  }
  const inputs = await inputsOf(logs, { since: new Date('2026-11-22T09:00:00Z'), signal: new AbortController().signal })
  expect(counted(await scanned(inputs))).toEqual({ 'http-failed': 1 })
  expect(asked).toEqual(['2026-11-22T08:59:00.000Z'])
})

test('a deployment is followed from its first record on, each container by itself', async () => {
  const asked: (Date | undefined)[] = []
  const logs = {
    ...fakeLogs({ parts: [part('pod', failed('10:00:00'))] }),
    async *follow({ since }: { since?: Date | undefined }) {
      asked.push(since)
      const of = {
        one: [failed('10:00:00'), failed('10:00:01')],
        two: [line('10:00:05', 'x'), '\tat a.B', 'Caused by: java.net.UnknownHostException: a.b'],
      }
      // in turns, as they come
      for (const [from, text] of [
        ['one', of.one[0]],
        ['two', of.two[0]],
        ['one', of.one[1]],
        ['two', of.two[1]],
        ['two', of.two[2]],
      ])
        yield { from: from!, text: text!.replace('\n', '') }
    },
  }
  const result = await scanned(await inputsOf(logs, { signal: new AbortController().signal, follow: () => undefined }))
  expect(asked).toEqual([new Date(0)])
  expect(result.parts.map(({ name, tally }) => [name, tally.lines])).toEqual([
    ['one', 2],
    ['two', 3],
  ])
  expect(result.causes.map(({ id, count, first }) => [id, count, first?.toISOString()])).toEqual([
    ['unknown-host', 1, '2026-11-22T10:00:05.000Z'],
    ['http-failed', 2, '2026-11-22T10:00:00.000Z'],
  ])
})

test('files are followed where they are still written, and what was rotated from them is scanned', async () => {
  const folder = await folderWith({ 'app.log': failed('12:00:00'), 'app.log.1': failed('11:00:00') })
  await writeFile(join(folder, 'app.log.2.gz'), gzipSync(failed('10:00:00')))
  const { parts, following } = await inputsIn(
    ['app.log', 'app.log.1', 'app.log.2.gz'].map((name) => join(folder, name)),
    { timeZone: 'UTC', input: part('').blocks(), follow: () => undefined },
  )
  const stop = new AbortController()
  const run = startScan(parts, following, { ...options, signal: stop.signal })
  await expect.poll(() => counted(run.result()), { timeout: 20_000 }).toEqual({ 'http-failed': 3 })
  await writeFile(join(folder, 'app.log'), failed('12:00:01'), { flag: 'a' })
  await expect.poll(() => counted(run.result()), { timeout: 20_000 }).toEqual({ 'http-failed': 4 })
  await truncate(join(folder, 'app.log'))
  await writeFile(join(folder, 'app.log'), failed('12:00:02'), { flag: 'a' })
  await expect.poll(() => counted(run.result()), { timeout: 20_000 }).toEqual({ 'http-failed': 5 })
  stop.abort()
  await run.ended
  expect(run.result().parts.map(({ name }) => name.slice(folder.length + 1))).toEqual([
    'app.log.2.gz',
    'app.log.1',
    'app.log',
  ])
})

test('what is written without an end is counted when following is over, in each file', async () => {
  const folder = await folderWith({
    'a.log': failed('12:00:00') + failed('12:00:01').trimEnd(),
    'b.log': failed('12:00:02').trimEnd(),
  })
  const { parts, following } = await inputsIn(
    ['a.log', 'b.log'].map((name) => join(folder, name)),
    { timeZone: 'UTC', input: part('').blocks(), follow: () => undefined },
  )
  const stop = new AbortController()
  const run = startScan(parts, following, { ...options, signal: stop.signal })
  await expect.poll(() => counted(run.result()), { timeout: 20_000 }).toEqual({ 'http-failed': 1 })
  stop.abort()
  await run.ended
  expect([counted(run.result()), run.result().unread]).toEqual([{ 'http-failed': 3 }, []])
})

test('whoever ends following long before the end of a file is told that there is more', async () => {
  const folder = await folderWith({ 'a.log': failed('12:00:00').repeat(200_000) })
  const file = join(folder, 'a.log')
  const { parts, following } = await inputsIn([file], {
    timeZone: 'UTC',
    input: part('').blocks(),
    follow: () => undefined,
  })
  const stop = new AbortController()
  const first = async function* (signal: AbortSignal): AsyncGenerator<{ from: string; text: string }> {
    for await (const line of following!(signal)) {
      stop.abort()
      yield line
    }
  }
  const run = startScan(parts, first, { ...options, signal: stop.signal })
  await run.ended
  expect(counted(run.result())['http-failed']).toBeGreaterThan(1)
  expect(run.result().unread.map(({ error }) => error.message.replace(/[\d,]+ bytes/, 'some bytes'))).toEqual([
    `interrupted while reading ${file}: some bytes were not read`,
  ])
})

test('whoever ends it before there was anything to follow is told that not all was read', async () => {
  const stop = new AbortController()
  const one: LogPart = {
    name: 'one',
    async *blocks() {
      stop.abort()
      yield Buffer.from(failed('10:00:00'))
    },
  }
  const run = startScan([one, part('two', failed('11:00:00'))], async function* () {}, {
    ...options,
    signal: stop.signal,
  })
  await run.ended
  expect(run.result().unread.map(({ name, error }) => `${name}: ${error.message}`)).toEqual([
    'the lines that follow: interrupted before everything was read',
  ])
})

test('that there is nothing to follow is told', async () => {
  const folder = await folderWith({})
  await writeFile(join(folder, 'app.log.1.gz'), gzipSync(failed('10:00:00')))
  const told: string[] = []
  const inputs = await inputsIn([join(folder, 'app.log.1.gz')], {
    timeZone: 'UTC',
    input: part('').blocks(),
    follow: (message) => void told.push(message),
  })
  expect([counted(await scanned(inputs)), told]).toEqual([
    { 'http-failed': 1 },
    ['cannot follow these files: they are compressed or in UTF-16. They are scanned once instead'],
  ])
})

test('what cannot be followed any more is told', async () => {
  const following = async function* (): AsyncGenerator<{ from: string; text: string }> {
    yield { from: 'one', text: failed('10:00:00').trim() }
    throw new AdminError('FORBIDDEN', 'the right was taken away')
  }
  const result = await scanned({ parts: [], following })
  expect(counted(result)).toEqual({ 'http-failed': 1 })
  expect(result.unread.map(({ name, error }) => `${name}: ${error.message}`)).toEqual([
    'the lines that follow: the right was taken away',
  ])
})
