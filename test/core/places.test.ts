import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AdminError } from '../../src/core/error.ts'
import { Places } from '../../src/core/work.ts'
import type { Turn } from '../../src/core/work.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const late = (): Error => new Error('late')

/** Starts work that takes so many milliseconds, and notes when it starts and that it is late. */
function take(turn: Turn, name: string, ms: number, seen: string[], isHanging = false): void {
  const work = async (): Promise<void> => {
    seen.push(name)
    await new Promise<void>((resolve) => setTimeout(resolve, ms))
    if (isHanging) throw new AdminError('TIMED_OUT', 'hangs')
  }
  turn(work, late).catch((error: unknown) => {
    if (error instanceof Error && error.message === 'late') seen.push(`${name} late`)
  })
}

test('a free place goes to the one that has the fewest', async () => {
  const places = new Places(3)
  const [a, b, c] = [1, 2, 3].map(() => places.line({ atOnce: 2, waitMs: 1000 }))
  const seen: string[] = []
  for (const name of ['a1', 'a2', 'a3']) take(a!, name, 10, seen)
  for (const name of ['b1', 'b2']) take(b!, name, 10, seen)
  for (const name of ['c1', 'c2']) take(c!, name, 10, seen)
  await vi.advanceTimersByTimeAsync(0)
  expect(seen).toEqual(['a1', 'a2', 'b1'])
  await vi.advanceTimersByTimeAsync(10)
  expect(seen.slice(3).toSorted()).toEqual(['a3', 'b2', 'c1'])
  await vi.advanceTimersByTimeAsync(10)
  expect(seen.slice(6)).toEqual(['c2'])
})

test('nothing is late while something ends in time, however many wait', async () => {
  const turn = new Places(1).line({ atOnce: 1, waitMs: 30 })
  const seen: string[] = []
  const names = Array.from({ length: 20 }, (_, at) => `${at}`)
  for (const name of names) take(turn, name, 29, seen)
  await vi.advanceTimersByTimeAsync(1000)
  expect(seen).toEqual(names)
})

test('what hangs makes others late, of its own deployment only; later ones have their turn', async () => {
  const places = new Places(2)
  const [a, b] = [1, 2].map(() => places.line({ atOnce: 1, waitMs: 35 }))
  const seen: string[] = []
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) take(a!, name, 10, seen, true)
  for (const name of ['b1', 'b2', 'b3', 'b4', 'b5', 'b6']) take(b!, name, 10, seen)
  await vi.advanceTimersByTimeAsync(100)
  const of = (line: string): string[] => seen.filter((it) => it.startsWith(line))
  expect(of('a')).toEqual(['a1', 'a2', 'a3', 'a4', 'a5 late', 'a6 late'])
  expect(of('b')).toEqual(['b1', 'b2', 'b3', 'b4', 'b5', 'b6'])
  take(a!, 'a7', 10, seen)
  await vi.advanceTimersByTimeAsync(0)
  expect(seen.at(-1)).toBe('a7')
  await vi.advanceTimersByTimeAsync(10)
  expect(vi.getTimerCount()).toBe(0)
})
