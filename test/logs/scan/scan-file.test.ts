import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageFolder } from '../../../src/core/package-parts.ts'
import { joiner } from '../../../src/logs/scan/merge.ts'
import { hasParts, partedFile } from '../../../src/logs/scan/part-scan.ts'
import { scanFile } from '../../../src/logs/scan/scan-file.ts'
import type { Tally } from '../../../src/logs/scan/tally.ts'
import { anyLog } from './logs.ts'
import { grepCounts } from './reference.ts'
import { lineCounts, scanned } from './scanned.ts'

const program = join(packageFolder(), 'dist/logs/scan/worker.js')
const options = { timeZone: 'UTC' }

/** What is said of a file while it is open. */
function ofOpen<T>(file: string, say: (descriptor: number) => T): T {
  const descriptor = openSync(file, 'r')
  try {
    return say(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** So much of a log that it is worth parts, with clocks that run backwards in between. */
const muchLog = fc.array(anyLog, { minLength: 10, maxLength: 20 }).map((logs) => {
  const some = Buffer.concat(logs.flatMap((it) => [it, Buffer.from('\n')]))
  return Buffer.concat(Array.from({ length: Math.ceil(400_000 / some.length) }, () => some))
})

describe('a file', () => {
  let folder: string
  let file: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'scan-'))
    file = join(folder, 'service.log')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('is taken apart into parts that hold together what it holds', async () => {
    await fc.assert(
      fc.asyncProperty(muchLog, fc.integer({ min: 2, max: 9 }), async (bytes, count) => {
        writeFileSync(file, bytes)
        const parts = ofOpen(file, (descriptor) => {
          const parted = partedFile(descriptor, bytes.length, Math.floor(bytes.length / count), 'UTC')
          return Array.from({ length: parted.count }, (_, index) => parted.part(index))
        })
        expect(parts.length).toBeGreaterThan(1)
        expect(parts.slice(1).map(({ from }) => from)).toEqual(parts.slice(0, -1).map(({ to }) => to))
        const tallies = parts.map(({ from, to }, index) =>
          scanned(bytes.subarray(from, to), {}, [Infinity], { isRecord: index > 0, isInner: to !== Infinity }),
        )
        const all = joiner()
        tallies.forEach((tally, index) => all.add({ index, isWhole: true, tally }))
        expect(all.joined()).toEqual({ tally: scanned(bytes), parts: parts.length })
      }),
      { numRuns: 5 },
    )
  }, 120_000)

  it.each([
    ['several containers wrote', '[pod/a/x] 2026-11-22 12:00:01.000 ERROR x : HTTP FAILED\n'],
    ['there are no dates', 'HTTP FAILED\n'],
    ['there is no zone', '2026-11-22 12:00:01.000 ERROR x : HTTP FAILED\n'],
    ['there are no lines', 'HTTP FAILED '],
  ])('is not taken apart where %s', async (_, line) => {
    writeFileSync(file, line.repeat(50_000))
    expect(ofOpen(file, (descriptor) => hasParts(descriptor, null))).toBe(false)
    // one thread alone has the whole of it, and so the same answer
    expect(await scanFile(file, { timeZone: null }, undefined, 50_000)).toEqual(
      await scanFile(file, { timeZone: null }),
    )
  })

  it('is scanned in threads, with the answers of one, and of grep', async () => {
    expect(existsSync(program), 'npm run build').toBe(true)
    const [bytes] = fc.sample(muchLog, { numRuns: 1, seed: 22 }) as [Buffer]
    writeFileSync(file, bytes)
    const window = { ...options, since: new Date(Date.UTC(2026, 10, 5)), until: new Date(Date.UTC(2026, 10, 25)) }
    expect(await scanFile(file, options, undefined, 50_000)).toEqual(scanned(bytes))
    expect(await scanFile(file, { ...window, engine: 'plain' }, undefined, 50_000)).toEqual(scanned(bytes, window))
    expect(await scanFile(file, options)).toEqual(scanned(bytes))
    expect(lineCounts(scanned(bytes))).toEqual(grepCounts(file))
  })

  it('gives the same on a processor without SSE4.1, for which WebAssembly has no SIMD', () => {
    const [bytes] = fc.sample(muchLog, { numRuns: 1, seed: 23 }) as [Buffer]
    writeFileSync(file, bytes)
    const script = `
      const {openSync} = require('node:fs')
      const {Worker} = require('node:worker_threads')
      const next = new Int32Array(new SharedArrayBuffer(4))
      const options = {timeZone: 'UTC', engine: process.argv[3]}
      const shared = {descriptor: openSync(process.argv[1]), size: 1, partLength: 1, next, options}
      const worker = new Worker(process.argv[2])
      worker.once('message', ({tally: {causes}}) =>
        console.log(JSON.stringify(causes.map(({id, count}) => [id, count]))))
      worker.postMessage(shared)`
    const run = (...engine: string[]): unknown =>
      JSON.parse(
        execFileSync(
          process.execPath,
          ['--no-enable-sse4-1', '--no-enable-avx', '-e', script, file, program, ...engine],
          { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 },
        ),
      )
    expect(Object.fromEntries(run() as [string, number][])).toEqual(lineCounts(scanned(bytes)))
    // it really has none
    expect(() => run('simd')).toThrow('SIMD')
  })

  it('may grow, and be missing', async () => {
    writeFileSync(file, readFileSync(file).subarray(0, 1000))
    expect((await scanFile(file, options)).bytes).toBe(1000)
    await expect(scanFile(join(folder, 'none'), options)).rejects.toThrow('ENOENT')
    await expect(scanFile(folder, options)).rejects.toThrow('EISDIR')
  })

  it.each([
    ['by one thread', Infinity],
    ['by several', 1_000_000],
  ])('may be given up, %s: what is told is of its first lines', async (_, partLength) => {
    const line = '2026-11-22 12:00:01.000 ERROR x : HTTP FAILED\n'
    writeFileSync(file, line.repeat(1_000_000))
    expect(await scanFile(file, options, AbortSignal.abort(), partLength)).not.toMatchObject({ lines: 1_000_000 })
    const stop = new AbortController()
    const given: Promise<Tally> = scanFile(file, options, stop.signal, partLength)
    setTimeout(() => stop.abort(), 5)
    const { lines, bytes, causes } = await given
    expect([Math.floor(bytes / line.length), causes[0]?.count ?? 0]).toEqual([lines, lines])
  })
})
