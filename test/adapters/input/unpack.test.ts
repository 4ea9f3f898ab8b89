import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { unpacked } from '../../../src/adapters/input/unpack.ts'
import { inBlocks, readAll } from './bytes.ts'
import { packed, parts, whole as text } from './packed.ts'

describe.each(['gzip', 'zstd'] as const)('%s', (format) => {
  const pack = packed[format]

  test.each([7, 1000, 1_000_000])('is unpacked from blocks of %s bytes', async (size) => {
    const { text: held, error } = await readAll(unpacked(inBlocks(pack('whole'), size), format))
    expect([held === text, error]).toEqual([true, null])
  })

  test('archives that were written one after the other are one', async () => {
    const both = Buffer.concat([pack('first'), pack('empty'), pack('second')])
    const { text: held, error } = await readAll(unpacked(inBlocks(both, 4096), format))
    expect([held === text, error]).toEqual([true, null])
  })

  test('of one that is cut short the beginning is there, and it is said', async () => {
    const whole = pack('whole')
    const { text: held, error } = await readAll(
      unpacked(inBlocks(whole.subarray(0, Math.floor(whole.length / 2)), 4096), format),
    )
    expect(held.length).toBeGreaterThan(text.length / 4)
    expect(text.startsWith(held)).toBe(true)
    expect(error?.replaceAll(',', '')).toBe(
      `the ${format} archive is incomplete: only the first ${held.length} bytes of its contents could be read`,
    )
  })

  test('of one that is followed by something else the archive is there, and that is said', async () => {
    const { text: held, error } = await readAll(
      unpacked(inBlocks(Buffer.concat([pack('whole'), Buffer.from('no archive, this')]), 4096), format),
    )
    expect(held.length).toBeGreaterThan(text.length / 2)
    expect(text.startsWith(held)).toBe(true)
    expect(error).toMatch(
      new RegExp(
        `^the ${format} archive is damaged \\(.+\\): only the first [\\d,]+ bytes of its contents could be read$`,
      ),
    )
  })

  test('what is damaged is not read beyond the damage', async () => {
    const whole = Buffer.concat([pack('first'), Buffer.alloc(5000, 0xa5)])
    const { text: held, error } = await readAll(unpacked(inBlocks(whole, 4096), format))
    expect(parts.first.startsWith(held)).toBe(true)
    expect(error).toContain('is damaged')
  })

  test('what fails while it is read fails as it would', async () => {
    const whole = pack('whole')
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield whole.subarray(0, 1000)
      throw new Error('the disk is gone')
    }
    expect((await readAll(unpacked(broken(), format))).error).toBe('the disk is gone')
  })

  test('who asks for no more has it closed', async () => {
    const whole = pack('whole')
    let isClosed = false
    async function* watched(): AsyncGenerator<Uint8Array> {
      try {
        yield* inBlocks(whole, 1000)
      } finally {
        isClosed = true
      }
    }
    for await (const bytes of unpacked(watched(), format)) {
      expect(bytes.length).toBeGreaterThan(0)
      break
    }
    expect(isClosed).toBe(true)
  })
})

test.each([1, 7, 4096, 1_000_000])(
  'of members of gzip with all that a header may hold, and zeros behind them, all is there (blocks of %i bytes)',
  async (size) => {
    const member = packed.gzip('first')
    const header = Buffer.concat([
      Buffer.from([0x1f, 0x8b, 8, 2 + 4 + 8 + 16, 0, 0, 0, 0, 0, 3, 3, 0, 1, 2, 3]),
      Buffer.from('app.log\0of a box\0ab'),
    ])
    const all = Buffer.concat([header, member.subarray(10), packed.gzip('second'), Buffer.alloc(3000)])
    const { text: held, error } = await readAll(unpacked(inBlocks(all, size), 'gzip'))
    expect([held === text, error]).toEqual([true, null])
  },
)

test('what stands behind an archive of gzip takes nothing of it away, and a wrong sum is told', async () => {
  const small = gzipSync('HTTP FAILED\n')
  expect(await readAll(unpacked(inBlocks(Buffer.concat([small, Buffer.from('no archive')]), 4096), 'gzip'))).toEqual({
    text: 'HTTP FAILED\n',
    error: 'the gzip archive is damaged (incorrect header): only the first 12 bytes of its contents could be read',
  })
  const wrong = Buffer.from(small)
  wrong[wrong.length - 8]! ^= 1
  expect((await readAll(unpacked(inBlocks(wrong, 4096), 'gzip'))).error).toContain('is damaged (incorrect data check)')
})

test('100 MB of blanks in few bytes do not fill the memory', async () => {
  const packed = gzipSync(Buffer.alloc(100_000_000, ' '))
  let [held, largest] = [0, 0]
  for await (const bytes of unpacked(inBlocks(packed, 1 << 20), 'gzip')) {
    held += bytes.length
    largest = Math.max(largest, bytes.length)
  }
  expect(held).toBe(100_000_000)
  expect(largest).toBeLessThan(1_000_000)
})
