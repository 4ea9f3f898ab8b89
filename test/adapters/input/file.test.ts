import { execFileSync, spawn } from 'node:child_process'
import { appendFile, truncate, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inspect, partOfFile, unpackedIfPacked } from '../../../src/adapters/input/file.ts'
import { folderWith } from '../../runtime/folder.ts'
import { failureOf } from '../failure-of.ts'
import { inBlocks, readAll } from './bytes.ts'
import { packed, whole } from './packed.ts'

async function file(content: string | Uint8Array, name = 'some.log'): Promise<string> {
  const path = join(await folderWith({}), name)
  await writeFile(path, content)
  return path
}

describe('a file', () => {
  test.each<[string, string | Uint8Array, string]>([
    ['plain', whole, whole],
    ['empty', '', ''],
    ['bytes that are no text', Buffer.from([0, 1, 255, 10]), '\u0000\u0001ÿ\n'],
    ['gzip, whatever its name', packed.gzip('whole'), whole],
    ['zstd, whatever its name', packed.zstd('whole'), whole],
  ])('%s', async (_, content, text) => {
    const read = await readAll(partOfFile(await file(content)).blocks())
    expect([read.text === text, read.error]).toEqual([true, null])
  })

  test.each([
    ['PowerShell redirects it', Buffer.from('\ufeffодин\r\nдва\r\n', 'utf16le')],
    ['big-endian', Buffer.from('\ufeffодин\r\nдва\r\n', 'utf16le').swap16()],
  ])('in UTF-16 is read as UTF-8, as %s', async (_, content) => {
    for (const blocks of [
      partOfFile(await file(content)).blocks(),
      unpackedIfPacked(inBlocks(content, 1), 'standard input'),
    ]) {
      const { text, error } = await readAll(blocks)
      expect([Buffer.from(text, 'latin1').toString(), error]).toEqual(['один\r\nдва\r\n', null])
    }
  })

  test.each([
    ['little-endian', 1, (bytes: Buffer) => bytes],
    ['little-endian, in blocks', 1000, (bytes: Buffer) => bytes],
    ['big-endian', 1, (bytes: Buffer) => bytes.swap16()],
  ])('in UTF-16 (%s) that goes on in 8 bits is read to its end', async (_, size, written) => {
    const log = '2026-11-22 10:00:00.000 ERROR 1 --- [main] a.B : HTTP FAILED: x\n'
    const content = Buffer.concat([
      written(Buffer.from(`\ufeffодин\r\n一丁七万丈三上下不与丐丑专且世丘\r\n`.repeat(9), 'utf16le')),
      Buffer.from(`${log}два\n`.repeat(9)),
    ])
    const { text, error } = await readAll(unpackedIfPacked(inBlocks(content, size), 'standard input'))
    expect([Buffer.from(text, 'latin1').toString(), error]).toEqual([
      `${'один\r\n一丁七万丈三上下不与丐丑专且世丘\r\n\ufeff'.repeat(9).replace(/\ufeff$/, '')}${`${log}два\n`.repeat(9)}`,
      null,
    ])
  })

  test.each([
    ['bzip2', 'BZh91AY&SY', 'bzcat'],
    ['xz', '\u00fd7zXZ\u0000\u0000', 'xzcat'],
    ['zip', 'PK\u0003\u0004\u0014\u0000', 'unzip -p'],
    ['lz4', '\u0004"M\u0018d@', 'lz4cat'],
  ])('compressed by %s is refused, with what unpacks it', async (format, head, program) => {
    const path = await file(Buffer.from(head, 'latin1'))
    await expect(async () => {
      for await (const _ of partOfFile(path).blocks());
    }).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `${path} is compressed with ${format}, and testops-admin cannot unpack this format`,
      suggestions: [`${program} ${path} | testops-admin scan-logs -`],
    })
  })

  test('that is not there, or a folder, or may not be read', async () => {
    const path = await file('')
    expect(await failureOf(inspect(`${path}.1`))).toBe(`UNAVAILABLE the log file ${path}.1 does not exist`)
    expect(await inspect(join(path, '..'))).toMatchObject({ kind: 'folder' })
    expect(await inspect(await file('a\nb\u0000'))).toEqual({ kind: 'file', size: 4, format: 'plain', isBinary: true })
    expect((await readAll(partOfFile('/proc/1/mem').blocks())).error).toMatch(
      /^(?:cannot|this user cannot) read the log file \/proc\/1\/mem|^the log file \/proc\/1\/mem cannot be read/,
    )
  })

  test('that is deleted while it is read is read to its end, and what is added meanwhile, too', async () => {
    const path = await file('x'.repeat(3_000_000))
    const blocks: AsyncIterator<Uint8Array> = partOfFile(path).blocks()[Symbol.asyncIterator]()
    let length = 0
    const take = async (): Promise<boolean> => {
      const next = await blocks.next()
      if (!next.done) length += next.value.length
      return next.done !== true
    }
    await take()
    await appendFile(path, 'more')
    await unlink(path)
    while (await take());
    expect(length).toBe(3_000_004)
  })

  test('that is cut down while it is read: what was there is read, and it is said', async () => {
    const path = await file('x'.repeat(3_000_000))
    const blocks: AsyncIterator<Uint8Array> = partOfFile(path).blocks()[Symbol.asyncIterator]()
    expect(await blocks.next()).toMatchObject({ done: false })
    await truncate(path, 10)
    await expect(blocks.next()).rejects.toMatchObject({
      message: `${path} shrank while it was being read: only 1,048,576 of its 3,000,000 bytes were read`,
    })
  })
})

describe('what is no file', () => {
  test('a named pipe is read as it is written, until its writer ends', async () => {
    const path = join(await folderWith({}), 'pipe')
    execFileSync('mkfifo', [path])
    expect(await inspect(path)).toEqual({ kind: 'other', size: 0, format: 'plain', isBinary: false })
    const reading = readAll(partOfFile(path).blocks())
    await writeFile(path, 'one\ntwo\n')
    expect(await reading).toMatchObject({ text: 'one\ntwo\n', error: null })
  })

  test('a named pipe that nobody writes to is let go of', async () => {
    const path = join(await folderWith({}), 'pipe')
    execFileSync('mkfifo', [path])
    const stop = new AbortController()
    const reading = readAll(partOfFile(path).blocks(stop.signal))
    stop.abort()
    expect(await reading).toMatchObject({ text: '', error: null })
  })

  test('a device without end, as long as it is wanted', async () => {
    let length = 0
    for await (const block of partOfFile('/dev/zero').blocks()) if ((length += block.length) > 5_000_000) break
    expect(length).toBeGreaterThan(5_000_000)
  })
})

describe('a stream is unpacked by what it begins with', () => {
  test.each([
    ['gzip', packed.gzip('whole'), whole],
    ['zstd', packed.zstd('whole'), whole],
    ['plain', Buffer.from(whole, 'latin1'), whole],
    ['shorter than any mark', Buffer.from('a\n'), 'a\n'],
    ['empty', Buffer.alloc(0), ''],
  ])('%s', async (_, bytes, text) => {
    for (const size of [1, 5, 65_536]) {
      const read = await readAll(unpackedIfPacked(inBlocks(bytes, size), 'standard input'))
      expect([read.text === text, read.error]).toEqual([true, null])
    }
  })

  test('that of a program', async () => {
    const child = spawn('cat', ['/dev/zero'])
    onTestFinished(() => void child.kill('SIGKILL'))
    for await (const block of unpackedIfPacked(child.stdout, 'standard input')) {
      expect(block[0]).toBe(0)
      break
    }
  })
})
