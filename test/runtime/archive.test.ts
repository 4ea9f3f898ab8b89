import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, readdir, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import type { Header } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assertNew, readArchive, writeArchive } from '../../src/runtime/archive.ts'

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'archive-'))))
afterAll(async () => rm(folder, { recursive: true, force: true }))

const at = new Date('2026-11-28T02:33:00Z')
const noise = randomBytes(5000)
const never = new AbortController().signal
const all = (): number => 1_000_000
const files = [
  { name: 'a.txt', bytes: Buffer.from('first\n') },
  { name: 'deep/b.json', bytes: Buffer.from('{}') },
]

test('what is written is read again, by this user alone', async () => {
  const path = join(folder, 'whole.tar.gz')
  const size = await writeArchive(path, { folder: 'top', files, at, signal: never })
  const { mode, size: onDisk } = await stat(path)
  expect([mode & 0o777, onDisk]).toEqual([0o600, size])
  const { read, listed } = await readArchive(path, (name) => (name === 'a.txt' ? 100 : null))
  expect([...read].map(([name, bytes]) => [name, bytes.toString()])).toEqual([['a.txt', 'first\n']])
  expect(listed).toEqual([
    { name: 'a.txt', bytes: 6 },
    { name: 'deep/b.json', bytes: 2 },
  ])
})

test('a file that exists stays as it is', async () => {
  const path = join(folder, 'there.tar.gz')
  await writeFile(path, 'mine')
  await expect(assertNew(path)).rejects.toMatchObject({ code: 'REFUSED' })
  await expect(writeArchive(path, { folder: 'top', files, at, signal: never })).rejects.toMatchObject({
    code: 'REFUSED',
  })
  expect(await readFile(path, 'utf8')).toBe('mine')
})

test('what a killed run left is removed, once nobody can be writing it; other files stay', async () => {
  const own = join(folder, 'left')
  await mkdir(own)
  const hour = new Date(Date.now() - 3_700_000)
  const old = [
    '.x.tar.gz.12.part',
    '.testops-report-lab-1.tar.gz.13.part',
    '.y.tar.gz.14.part',
    '.x.tar.gz.part',
    'x.part',
  ]
  for (const name of old) {
    await writeFile(join(own, name), '')
    await utimes(join(own, name), hour, hour)
  }
  await writeFile(join(own, '.x.tar.gz.15.part'), '')
  await mkdir(join(own, '.x.tar.gz.16.part'))
  await utimes(join(own, '.x.tar.gz.16.part'), hour, hour)
  await writeArchive(join(own, 'x.tar.gz'), { folder: 'top', files, at, signal: never })
  expect((await readdir(own)).sort()).toEqual(
    ['.x.tar.gz.15.part', '.x.tar.gz.16.part', '.x.tar.gz.part', '.y.tar.gz.14.part', 'x.part', 'x.tar.gz'].sort(),
  )
})

test('an archive that could not be written leaves nothing behind', async () => {
  const own = join(folder, 'own')
  await mkdir(own)
  const aborted = AbortSignal.abort()
  await expect(
    writeArchive(join(own, 'x.tar.gz'), { folder: 'top', files, at, signal: aborted }),
  ).rejects.toMatchObject({ code: 'INTERRUPTED' })
  await expect(
    writeArchive(join(own, 'none', 'x.tar.gz'), { folder: 'top', files, at, signal: never }),
  ).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('its folder does not exist') as string,
  })
  expect(await readdir(own)).toEqual([])
})

async function tarOf(...entries: readonly [Partial<Header> & { name: string }, (string | Buffer)?][]): Promise<Buffer> {
  const tar = pack()
  for (const [header, content = ''] of entries) tar.entry(header, content)
  tar.finalize()
  return buffer(tar)
}

describe('bad archives are refused', () => {
  test.each<[string, () => Promise<Buffer>, RegExp]>([
    ['an empty file', async () => Buffer.alloc(0), / is cut off: /],
    ['a text', async () => Buffer.from('this is no archive at all'), / is not an archive that /],
    ['another compressed file', async () => gzipSync('only a text'.repeat(100)), / is (?:not an archive that|cut off)/],
    [
      'a link',
      async () => gzipSync(await tarOf([{ name: 'top/x', type: 'symlink', linkname: '/etc/passwd' }])),
      /neither a file nor a folder/,
    ],
    [
      'a hard link',
      async () => gzipSync(await tarOf([{ name: 'top/x', type: 'link', linkname: '/etc/passwd' }])),
      /neither a file nor a folder/,
    ],
    ['a way out', async () => gzipSync(await tarOf([{ name: 'top/../../etc/x' }, 'x'])), /name is not allowed/],
    ['an absolute path', async () => gzipSync(await tarOf([{ name: '/etc/x' }, 'x'])), /name is not allowed/],
    [
      'escape sequences',
      async () => gzipSync(await tarOf([{ name: 'top/\u001B[2J' }, 'x'])),
      /name is not allowed: "top\/\\u001b\[2J"/,
    ],
    [
      'a name twice',
      async () => gzipSync(await tarOf([{ name: 'top/x' }, '1'], [{ name: 'other/x' }, '2'])),
      /holds x twice/,
    ],
    [
      'a file that is too large',
      async () => gzipSync(await tarOf([{ name: 'top/x' }, Buffer.alloc(1_000_001)])),
      /of 1000001 bytes: at most 1000000/,
    ],
  ])('%s', async (what, make, why) => {
    const path = join(folder, `${what.replace(/\W/g, '-')}.tar.gz`)
    await writeFile(path, await make())
    await expect(readArchive(path, all)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(why) as string,
    })
  })

  test('one that is cut off anywhere', async () => {
    const path = join(folder, 'cut.tar.gz')
    const whole = { folder: 'top', files: [...files, { name: 'c', bytes: noise }], at, signal: never }
    const size = await writeArchive(path, whole)
    const bytes = await readFile(path)
    for (const left of [1, 10, 100, 1000, size - 9, size - 1]) {
      await writeFile(path, bytes)
      await truncate(path, left)
      await expect(readArchive(path, all), `${left} of ${size}`).rejects.toMatchObject({ code: 'USAGE' })
    }
  })

  // whether zlib still gets the rest differs from run to run
  test.each([1, 100, 100_000])('one with %s zeros after its end', async (zeros) => {
    const path = join(folder, `longer-${zeros}.tar.gz`)
    const size = await writeArchive(path, { folder: 'top', files, at, signal: never })
    await truncate(path, size + zeros)
    const message = `${path} goes on after its end: copy it again`
    for (let i = 0; i < 10; i++) await expect(readArchive(path, all)).rejects.toMatchObject({ code: 'USAGE', message })
  })

  test('one that unpacks to more than a gigabyte, without filling the memory', async () => {
    const path = join(folder, 'bomb.tar.gz')
    const block = gzipSync(Buffer.alloc(100_000_000))
    const [head] = [
      gzipSync(
        (await tarOf([{ name: 'top/huge', size: 8_000_000_000 }]).catch(() => Buffer.alloc(0))).subarray(0, 512),
      ),
    ]
    await writeFile(path, Buffer.concat([head, ...Array.from({ length: 11 }, () => block)]))
    const before = process.memoryUsage().rss
    await expect(readArchive(path, () => null)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(/unpacks to more than 1 GB/) as string,
    })
    expect(process.memoryUsage().rss - before).toBeLessThan(400_000_000)
  })

  test('a folder, a missing file', async () => {
    await expect(readArchive(folder, all)).rejects.toMatchObject({ code: 'USAGE' })
    await expect(readArchive(join(folder, 'none'), all)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(/does not exist$/) as string,
    })
  })
})
