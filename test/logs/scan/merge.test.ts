import { describe, expect, it } from 'vitest'
import { joiner, mergeTallies } from '../../../src/logs/scan/merge.ts'
import { scanned } from './scanned.ts'

const first =
  '2026-11-22 12:00:00.000 ERROR x : HTTP FAILED a\n2026-11-22 12:00:09.000 ERROR x : ' +
  'java.net.UnknownHostException: a.b\n\tat c\n'
const second =
  '2026-11-22 12:00:05.000 ERROR x : HTTP FAILED a\n2026-11-22 12:00:06.000 ERROR x : ' +
  'java.net.UnknownHostException: a.b, HTTP FAILED b\n'

describe('tallies', () => {
  it.each([[[0, 1, 2]], [[2, 0, 1]], [[1, 2, 0]], [[2, 1, 0]]])(
    'of parts that come in the order %s are joined in their own',
    (order) => {
      const texts = [first, second, first]
      const tallies = texts.map((text, index) =>
        scanned(text, {}, [Infinity], { isRecord: index > 0, isInner: index < 2 }),
      )
      const parts = joiner()
      for (const index of order) parts.add({ index, isWhole: true, tally: tallies[index]! })
      expect(parts.joined()).toEqual({ tally: scanned(texts.join('')), parts: 3 })
    },
  )

  it('of parts of which one was given up, or is missing, are joined up to it', () => {
    const [one, other] = [
      scanned(first, {}, [Infinity], { isInner: true }),
      scanned(second, {}, [Infinity], { isRecord: true }),
    ]
    const givenUp = joiner()
    for (const [index, isWhole, tally] of [
      [1, true, other],
      [0, false, one],
    ] as const)
      givenUp.add({ index, isWhole, tally })
    const missing = joiner()
    for (const [index, tally] of [
      [0, one],
      [2, other],
    ] as const)
      missing.add({ index, isWhole: true, tally })
    expect([givenUp.joined(), missing.joined(), joiner().joined()]).toEqual([
      { tally: one, parts: 1 },
      { tally: one, parts: 1 },
      { tally: mergeTallies([]), parts: 0 },
    ])
  })

  it('of streams that have nothing to do with each other have no clock in common', () => {
    const merged = mergeTallies([scanned(first), scanned(second)])
    expect(merged).toEqual({ ...scanned(first + second), backward: { ...scanned(first + second).backward, steps: 0 } })
  })

  it('of no stream holds nothing', () => {
    expect(mergeTallies([])).toEqual({
      bytes: 0,
      lines: 0,
      wideAt: null,
      from: null,
      to: null,
      datesUnknown: false,
      backward: { steps: 0, first: null, last: null },
      causes: [],
    })
  })
})
