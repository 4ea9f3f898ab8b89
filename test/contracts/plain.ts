import { expect } from 'vitest'

/** Nothing but data: what is recorded at the customer's site must be the same when it is replayed. */
export function expectPlain(value: unknown): void {
  expect(structuredClone(value)).toEqual(value)
  expect(JSON.stringify(value) ?? 'null').not.toMatch(/NaN|"\[object/)
  walk(value)
}

function walk(value: unknown): void {
  if (typeof value === 'number') expect(Number.isFinite(value)).toBe(true)
  expect(value).not.toBe(undefined)
  if (value instanceof Date) expect(Number.isNaN(value.getTime())).toBe(false)
  else if (typeof value === 'object' && value !== null) Object.values(value).forEach(walk)
}
