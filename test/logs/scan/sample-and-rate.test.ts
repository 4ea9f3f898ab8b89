import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rateCounter } from '../../../src/logs/scan/tally.ts'
import type { Rate } from '../../../src/logs/scan/tally.ts'
import { kindAt, sampleText } from '../../../src/logs/scan/sample.ts'
import { runsOf } from '../../support/campaign.ts'
import { cause, scanned } from './scanned.ts'

const date = '2026-11-22 12:00:01.000'

describe('samples', () => {
  it('are the first ones that differ in more than numbers', () => {
    const log = ['a1', 'a2', 'b', 'c', 'd', 'a3']
      .map((host) => `${date} ERROR x : java.net.UnknownHostException: ${host}\n`)
      .join('')
    const { samples, hosts } = cause(scanned(log), 'unknown-host')
    expect(samples.map((it) => sampleText(it, (text) => text))).toEqual(
      ['a1', 'b', 'c'].map((host) => `${date} ERROR x : java.net.UnknownHostException: ${host}`),
    )
    expect(hosts.size).toBe(6)
  })

  it.each(['simd', 'plain'] as const)('are told apart by their bytes as by their text, %s', (engine) => {
    const piece = fc.constantFrom('0', '7', '12', '.', 'x', '\xe9', 'x'.repeat(48))
    const text = fc
      .array(piece, { maxLength: 8 })
      .map((pieces) => Buffer.from(`HTTP FAILED${pieces.join('')}`, 'latin1'))
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 6 }), (texts) => {
        const log = Buffer.concat(texts.flatMap((it) => [Buffer.from(`${date} x `), it, Buffer.from('\n')]))
        const kinds = [...new Set(texts.map((it) => kindAt(it, 0, it.length)))]
        expect(cause(scanned(log, { engine }), 'http-failed').samples.map(({ kind }) => kind)).toEqual(
          kinds.slice(0, 3),
        )
      }),
      { numRuns: runsOf(500) },
    )
  })

  it(
    'are shown without the time that an engine put before a line, where they have their own or are the rest of a ' +
      'record',
    () => {
      const stamp = '2026-11-22T12:00:05.123456789Z '
      const log = `${stamp}${date} ERROR x : HTTP FAILED\n${stamp}\tat HTTP FAILED a\n${stamp}HTTP FAILED b\n`
      expect(cause(scanned(log), 'http-failed').samples.map((it) => sampleText(it, (text) => text))).toEqual([
        `${date} ERROR x : HTTP FAILED`,
        'at HTTP FAILED a',
        `${stamp}HTTP FAILED b`,
      ])
    },
  )

  it('are hidden before they are cut, and move no cursor', () => {
    const { samples } = cause(
      scanned(`${date} token=${'s'.repeat(400)} HTTP FAILED \x1b[31m\x07\u202ered\x1b[0m\n`),
      'http-failed',
    )
    expect(sampleText(samples[0]!, (it) => it.replace(/s{300,}/, '[secret]'))).toBe(
      `${date} token=[secret] HTTP FAILED   red`,
    )
    // where nothing hides it, no half of a word is shown
    expect(sampleText({ ...samples[0]!, isStart: false }, (it) => it)).toBe('… HTTP FAILED   red')
    expect(
      sampleText({ ...samples[0]!, after: 'HTTP FAILED https://bob:hun', isStart: false, isEnd: false }, (it) => it),
    ).toBe('… HTTP FAILED…')
  })
})

/** One line in the second that begins then. */
const once = (at: number): Rate => ({ width: 1000, starts: Float64Array.of(at), counts: Float64Array.of(1) })

describe('the rate', () => {
  it('counts in stretches that grow, the same in whatever order', () => {
    const times = Array.from({ length: 5000 }, (_, index) => index * 7919 * 1000)
    const [one, other, joined] = [rateCounter(), rateCounter(), rateCounter()]
    for (const at of times) one.join(once(at))
    for (const at of times.toReversed()) (at % 3000 === 0 ? other : joined).join(once(at))
    joined.join(other.rate())
    const { width, starts, counts } = one.rate()
    expect(joined.rate()).toEqual({ width, starts, counts })
    expect(counts.reduce((sum, it) => sum + it, 0)).toBe(5000)
    expect(starts.length).toBeLessThanOrEqual(512)
    expect(starts.length).toBe(counts.length)
    expect(Math.log2(width / 1000) % 1).toBe(0)
    expect(starts).toEqual(starts.toSorted())
  })

  it.each(['simd', 'plain'] as const)('counts lines of a log in these stretches, %s', (engine) => {
    const begin = Date.parse(`${date}Z`)
    const time = fc
      .oneof(
        fc.nat(3_000_000),
        fc.nat(4000).map((it) => it * 700_000),
      )
      .map((it) => begin + it)
    fc.assert(
      fc.property(fc.array(time, { minLength: 1, maxLength: 1500 }), (times) => {
        const lines = times.map((at) => `${new Date(at).toISOString().slice(0, 23).replace('T', ' ')} HTTP FAILED\n`)
        const rate = rateCounter()
        for (const at of times) rate.join(once(at - (at % 1000)))
        expect(cause(scanned(lines.join(''), { engine }), 'http-failed').rate).toEqual(rate.rate())
      }),
      { numRuns: runsOf(50) },
    )
  })
})
