import { describe, expect, it } from 'vitest'
import { joinTallies, mergeTallies } from '../../../src/logs/scan/merge.ts'
import { scanned } from './scanned.ts'

const first = '2026-11-22 12:00:00.000 ERROR x : HTTP FAILED a\n2026-11-22 12:00:09.000 ERROR x : java.net.UnknownHostException: a.b\n\tat c\n'
const second = '2026-11-22 12:00:05.000 ERROR x : HTTP FAILED a\n2026-11-22 12:00:06.000 ERROR x : java.net.UnknownHostException: a.b, HTTP FAILED b\n'

describe('tallies', () => {
  it('of parts are that of the whole', () => {
    const parts = [scanned(first, {}, [Infinity], { isInner: true }), scanned(second, {}, [Infinity], { isRecord: true })]
    expect(joinTallies(parts)).toEqual(scanned(first + second))
  })

  it('of streams that have nothing to do with each other have no clock in common', () => {
    const merged = mergeTallies([scanned(first), scanned(second)])
    expect(merged).toEqual({ ...scanned(first + second), backward: { ...scanned(first + second).backward, steps: 0 } })
  })

  it('of no stream holds nothing', () => {
    expect(mergeTallies([])).toEqual({ bytes: 0, lines: 0, wideAt: null, from: null, to: null, datesUnknown: false, backward: { steps: 0, first: null, last: null }, causes: [] })
  })
})
