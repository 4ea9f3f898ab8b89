import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prefixesWithin } from '../../../src/logs/scan/record-finder.ts'
import { openScan } from '../../../src/logs/scan/scanner.ts'
import { runsOf } from '../../support/campaign.ts'
import { anyLog, anySizes } from './logs.ts'
import { countsOf, grepCounts } from './reference.ts'
import { counted, lineCounts, scanned } from './scanned.ts'

const log = `2026-11-22 12:00:00.000 INFO 1 --- [main] liquibase.lockservice : Waiting for changelog lock....
2026-11-22 12:00:01.000 ERROR 1 --- [main] a.B : failed
java.lang.IllegalStateException: x
\tat a.B.c(B.java:1)
Caused by: java.net.UnknownHostException: jira.example.org
\tat a.B.d(B.java:2)
Caused by: java.net.UnknownHostException: jira.example.org
2026-11-22T12:00:02.5+01:00 ERROR x : java.net.UnknownHostException: git.example.org: Name or service not known
`
const [eleven, twelve] = [new Date('2026-11-22T11:00:02.500Z'), new Date('2026-11-22T12:00:01Z')]

const causedBy = 'Caused by: java.net.UnknownHostException: git.example.org: Name or service not known\n'

describe('the scanner', () => {
  let folder: string
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'scan-'))))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('counts lines and records, with their times', () => {
    const { causes, ...rest } = scanned(log)
    expect(rest).toEqual({
      bytes: log.length,
      lines: 8,
      from: eleven,
      to: twelve,
      wideAt: null,
      datesUnknown: false,
      backward: { steps: 1, first: new Date('2026-11-22T12:00:00Z'), last: eleven },
    })
    expect(causes.map(({ firstLine }) => firstLine)).toEqual([5, 1])
    expect(counted(scanned(log))).toEqual([
      {
        id: 'unknown-host',
        count: 3,
        records: 2,
        first: eleven,
        last: twelve,
        hosts: { 'jira.example.org': 1, 'git.example.org': 1 },
      },
      {
        id: 'lock-waiting',
        count: 1,
        records: 1,
        first: new Date('2026-11-22T12:00:00Z'),
        last: new Date('2026-11-22T12:00:00Z'),
        hosts: {},
      },
    ])
  })

  it('counts a host once in a record that began before the search takes over', () => {
    const lines = Math.ceil((2 * prefixesWithin) / causedBy.length)
    const bytes = Buffer.from(
      `2026-11-22 12:00:00.000  INFO 1 --- [main] a.B : it begins\n${causedBy.repeat(lines)}` +
        `2026-11-22 12:00:01.000  INFO 1 --- [main] a.B : another\n${causedBy}`,
    )
    const [found] = counted(scanned(bytes))
    expect(found).toMatchObject({ count: lines + 1, records: 2, hosts: { 'git.example.org': 2 } })
    expect([found]).toEqual(countsOf(bytes))
  })

  it('counts what a reading line by line counts, however the stream is cut and whatever looks for it', () => {
    fc.assert(
      fc.property(anyLog, anySizes, (bytes, sizes) => {
        const whole = scanned(bytes)
        expect(counted(whole)).toEqual(countsOf(bytes))
        expect(scanned(bytes, { engine: 'simd' }, sizes)).toEqual(whole)
        expect(scanned(bytes, { engine: 'plain' }, sizes)).toEqual(whole)
      }),
      { numRuns: runsOf(100) },
    )
  }, 120_000)

  it('says the same of much text, where not every line is looked at, in whatever blocks', () => {
    fc.assert(
      fc.property(
        fc.array(anyLog, { minLength: 5, maxLength: 20 }),
        fc.integer({ min: 1, max: 200_000 }),
        (logs, size) => {
          const some = Buffer.concat(logs.flatMap((it) => [it, Buffer.from('\n')]))
          const bytes = Buffer.concat(Array.from({ length: Math.ceil(300_000 / some.length) }, () => some))
          const whole = scanned(bytes)
          expect(counted(whole)).toEqual(countsOf(bytes))
          expect(scanned(bytes, { engine: 'simd' }, [size])).toEqual(whole)
          expect(scanned(bytes, { engine: 'plain' }, [size, 7])).toEqual(whole)
        },
      ),
      { numRuns: runsOf(10) },
    )
  }, 120_000)

  it('counts what grep counts', () => {
    fc.assert(
      fc.property(fc.array(anyLog, { minLength: 10, maxLength: 10 }), (logs) => {
        const file = join(folder, 'a.log')
        const bytes = Buffer.concat(logs)
        writeFileSync(file, bytes)
        expect(lineCounts(scanned(bytes))).toEqual(grepCounts(file))
      }),
      { numRuns: runsOf(8) },
    )
  }, 120_000)

  it('counts only what is wanted by its time', () => {
    fc.assert(
      fc.property(anyLog, anySizes, fc.nat(3_000_000), fc.nat(3_000_000), (bytes, sizes, from, to) => {
        const [since, until] = [from, to].map((seconds) => new Date(Date.UTC(2026, 10, 1) + seconds * 997)) as [
          Date,
          Date,
        ]
        expect(counted(scanned(bytes, { since, until }, sizes))).toEqual(
          countsOf(bytes, 'UTC', (at) => at !== null && at >= since && at < until),
        )
        expect(counted(scanned(bytes, { since }, sizes))).toEqual(
          countsOf(bytes, 'UTC', (at) => at !== null && at >= since),
        )
      }),
      { numRuns: runsOf(100) },
    )
  }, 120_000)

  it('can be asked at any moment', () => {
    const scan = openScan({ timeZone: 'UTC' })
    expect(scan.tally()).toMatchObject({ bytes: 0, lines: 0, from: null, causes: [], datesUnknown: false })
    scan.write(Buffer.from(log.slice(0, 100)))
    expect(lineCounts(scan.tally())).toEqual({ 'lock-waiting': 1 })
    scan.write(Buffer.from(log.slice(100)))
    expect(scan.tally()).toEqual(scan.end())
  })

  it.each(['', '\n', '\0', '\r\n\r\n'])('finds nothing in %j', (text) => {
    const lines = text.split('\n').length - 1
    expect(scanned(text)).toMatchObject({
      bytes: text.length,
      lines: text === '\0' ? 1 : lines,
      causes: [],
      from: null,
      to: null,
    })
  })
})
