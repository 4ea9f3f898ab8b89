import { describe, expect, it } from 'vitest'
import { openScan } from '../../../src/logs/scan/scanner.ts'
import type { Engine } from '../../../src/logs/scan/native.ts'
import { sampleText } from '../../../src/logs/scan/sample.ts'
import { cause, counted, lineCounts, scanned } from './scanned.ts'

const head = '2026-11-22 12:00:01.000 ERROR x : '
const host = 'java.net.UnknownHostException: jira.example.org'

describe('a long line', () => {
  it.each([60_000, 65_536, 66_560, 100_000, 524_288, 600_000, 2_000_000])(
    'of some %i bytes counts once, wherever it holds a signature',
    (length) => {
      const filler = 'x'.repeat(length / 2)
      const log =
        `${head}HTTP FAILED ${filler}; ${host} ${filler}; ${host}: ${filler} indexed [3], errors [1], processed ` +
        `[0]\n${head}${host}\n\tat HTTP FAILED`
      const whole = scanned(log)
      expect(lineCounts(whole)).toEqual({ 'unknown-host': 2, 'http-failed': 2, 'agent-counts': 1 })
      expect(counted(whole)[0]).toMatchObject({ records: 2, hosts: { 'jira.example.org': 2 } })
      expect(cause(whole, 'agent-counts')).toMatchObject({
        severity: 'error',
        agents: [{ indexed: 3, processed: 0, errors: 1 }],
      })
      expect(whole.lines).toBe(3)
      for (const engine of ['simd', 'plain'] as const)
        for (const size of [999, 65_537, 131_071]) expect(scanned(log, { engine }, [size])).toEqual(whole)
    },
  )

  it.each([
    ['of a pod', '[pod/testops-7d9/testops] ', true],
    ['of a container', 'api-1  | ', true],
    ['without a date', '', false],
  ])('%s is of one record, in however many pieces it comes', (_, prefix, isDated) => {
    const begin = isDated ? `${prefix}${head}` : 'x : '
    const filler = 'x'.repeat(70_000)
    const long = `${begin}${`HTTP FAILED ${filler}; ${host} ${filler}; `.repeat(3)}`
    const log = `${begin}x\n${long}Bad credentials\n${begin}HTTP FAILED\n`
    const time = isDated ? new Date('2026-11-22T12:00:01Z') : null
    const expected = { count: 1, records: 1, first: time, last: time, hosts: {} }
    for (const engine of ['simd', 'plain'] as const)
      for (const size of [999, 65_537, 131_071, Infinity]) {
        expect(counted(scanned(log, { engine }, [size]))).toEqual([
          { ...expected, id: 'unknown-host', hosts: { 'jira.example.org': 1 } },
          { ...expected, id: 'http-failed', count: 2, records: 2 },
          { ...expected, id: 'token-refused' },
        ])
        const until = new Date('2026-11-22T12:00:00Z')
        expect(scanned(log, { engine, until }, [size]).causes).toHaveLength(isDated ? 0 : 3)
      }
  })

  it('may be cut within a signature at any byte', () => {
    const before = `${head}${'x'.repeat(70_000)} `
    const log = `${before}${host}: y ${'x'.repeat(5000)}\n`
    const whole = scanned(log)
    expect(counted(whole)[0]!.hosts).toEqual({ 'jira.example.org': 1 })
    for (let at = before.length - 2; at < before.length + host.length + 2; at += 1)
      expect(scanned(log, {}, [at, 1, Infinity])).toEqual(whole)
  })

  it('names hosts whole, wherever what is near a match ends', () => {
    for (const gap of [960, 970, 980])
      expect(counted(scanned(`${head}${host} ${'x'.repeat(gap)} ${host}\n`))[0]!.hosts).toEqual({
        'jira.example.org': 1,
      })
  })

  it('may name any number of hosts', () => {
    const names = Array.from(
      { length: 200_000 },
      (_, index) => `java.net.UnknownHostException: h${index % 5000}.example.org `,
    )
    const [found] = counted(scanned(`${head}${names.join('')}\n`))
    expect(found).toMatchObject({ count: 1, records: 1 })
    expect(Object.keys(found!.hosts)).toHaveLength(1000)
    expect(new Set(Object.values(found!.hosts))).toEqual(new Set([1]))
  }, 60_000)

  it('is shown around what was found', () => {
    const sample = cause(scanned(`${head}${'secret '.repeat(20_000)}${host}: ${'y'.repeat(2000)}\n`), 'unknown-host')
      .samples[0]!
    const text = sampleText(sample, (it) => it.replaceAll('secret', '***'))
    expect(text).toBe(`…${' ***'.repeat(19)} ${host}: ${'y'.repeat(300)}`.slice(0, 300) + '…')
  })

  it.each([
    ['simd', 300],
    ['plain', 60],
  ] as [Engine, number][])(
    'takes no memory (%s, %i MB)',
    (engine, blocks) => {
      const scan = openScan({ timeZone: 'UTC', engine })
      const block = Buffer.alloc(1_000_003, 'abcdefghijk lmnop')
      const before = process.memoryUsage().rss
      scan.write(Buffer.from(head))
      for (let index = 0; index < blocks; index += 1) {
        scan.write(block)
        if (index % 20 === 10) scan.write(Buffer.from(host))
      }
      expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000)
      const tally = scan.end()
      expect(lineCounts(tally)).toEqual({ 'unknown-host': 1 })
      expect(tally).toMatchObject({
        lines: 1,
        bytes: head.length + blocks * block.length + (blocks / 20) * host.length,
      })
    },
    120_000,
  )
})
