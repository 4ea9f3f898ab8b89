import { shownBytes } from '../../../knowledge/broker.ts'

/**
 * Types whole numbers as Java clients send them, int or long. The width is part of a binding's identity, and amqplib
 * would use the shortest that holds the number.
 */
export function typedArguments(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return widened(given, (value) => (holds(32, value) ? 'int32' : 'int64'))
}

/**
 * Types a binding's whole numbers in each width that a client may have used. Lists of bindings do not show the width,
 * and a binding of another width is another binding.
 */
export function typedInEachWay(given: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  const numbers = wholeNumbers(given)
  if (numbers.length === 0) return [{ ...given }]
  const fitting = widths.filter((bits) => numbers.every((value) => holds(bits, value)))
  const shortest = widened(given, (value) => `int${widths.find((bits) => holds(bits, value)) ?? 64}`)
  const all = [typedArguments(given), shortest, ...fitting.map((bits) => widened(given, () => `int${bits}`))]
  return [...new Map(all.map((it) => [JSON.stringify(it), it])).values()]
}

/** Converts typed arguments (`Binding.typed`) for amqplib, which takes bytes as a buffer. */
export function withBytes(typed: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const one = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(one)
    if (typeof value !== 'object' || value === null) return value
    const { '!': type, value: held } = value as { '!'?: unknown; value?: unknown }
    if (type === 'bytes') return Buffer.from(String(held), 'base64')
    return type === undefined ? withBytes(value as Record<string, unknown>) : value
  }
  return Object.fromEntries(Object.entries(typed).map(([name, value]) => [name, one(value)]))
}

const widths = [8, 16, 32, 64] as const

function holds(bits: number, value: number): boolean {
  return value >= -(2 ** (bits - 1)) && value < 2 ** (bits - 1)
}

function widened(given: Readonly<Record<string, unknown>>, width: (value: number) => string): Record<string, unknown> {
  const one = (value: unknown): unknown => {
    if (isWhole(value)) return { '!': width(value), value }
    const bytes = typeof value === 'string' ? shownBytes(value) : null
    if (bytes !== null) return Buffer.from(bytes, 'base64')
    if (Array.isArray(value)) return value.map(one)
    return typeof value === 'object' && value !== null ? widened(value as Record<string, unknown>, width) : value
  }
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, one(value)]))
}

function wholeNumbers(value: unknown): number[] {
  if (isWhole(value)) return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(wholeNumbers) : []
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value)
}
