import { isObject } from '../core/shape.ts'
import { shownBytes } from './broker.ts'
import { phash2 } from './erlang-hash.ts'
import type { Term } from './erlang-hash.ts'

/** A value as it may have been: as amqplib takes it (bytes in base64), and as RabbitMQ keeps it. */
interface Way {
  typed: unknown
  type: string
  term: Term
}

/** Maximum number of ways in which the arguments of one binding are tried */
const mostWays = 20_000
/** Number of names from which a table within a table counts as being in the order in which it is shown */
const mostOrdered = 5

/**
 * Returns the arguments of a binding with their types, as amqplib writes them (`Binding.typed`); null if none give
 * `key`. Lists show no types, but the management API makes its name for a binding, `key`, from them: `erlang:phash2` of
 * the table that RabbitMQ keeps, sorted by names (`args_hash/1` in deps/rabbitmq_management/src/rabbit_mgmt_format.erl;
 * `sort_field_table/1` in deps/rabbit_common/src/rabbit_misc.erl). Arguments that give that key are what was bound.
 */
export function typesOf(values: Readonly<Record<string, unknown>>, key: string): Record<string, unknown> | null {
  const names = Object.keys(values).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  let left = mostWays
  for (const ways of combined(names.map((name) => () => waysOf(values[name])))) {
    if (keyOf(tableOf(names, ways)) === key)
      return Object.fromEntries(names.map((name, index) => [name, ways[index]!.typed]))
    if (--left === 0) return null
  }
  return null
}

function keyOf(term: Term): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(phash2(term))
  return bytes.toString('base64url')
}

function tableOf(names: readonly string[], ways: readonly Way[]): Term {
  return names.map((name, index) => ({ tuple: [Buffer.from(name), { atom: ways[index]!.type }, ways[index]!.term] }))
}

/** The types that a whole number may have had, the likeliest first: amqplib's names, and RabbitMQ's. */
const wholeTypes: readonly (readonly [typed: string, type: string, least: number, below: number])[] = [
  ['int32', 'signedint', -(2 ** 31), 2 ** 31],
  ['int64', 'long', -(2 ** 53) + 1, 2 ** 53],
  ['int16', 'short', -(2 ** 15), 2 ** 15],
  ['int8', 'byte', -128, 128],
  ['timestamp', 'timestamp', 0, 2 ** 53],
  ['uint32', 'unsignedint', 0, 2 ** 32],
  ['uint16', 'unsignedshort', 0, 2 ** 16],
  ['uint8', 'unsignedbyte', 0, 256],
]

/** Yields what a value that is shown like this may have been. */
function* waysOf(value: unknown): Generator<Way> {
  if (typeof value === 'number') yield* waysOfNumber(value)
  else if (typeof value === 'string') {
    const base64 = shownBytes(value)
    yield { typed: value, type: 'longstr', term: Buffer.from(value) }
    const bytes = base64 === null ? Buffer.from(value) : Buffer.from(base64, 'base64')
    yield { typed: { '!': 'bytes', value: bytes.toString('base64') }, type: 'binary', term: bytes }
    if (value === 'undefined') yield { typed: null, type: 'void', term: { atom: 'undefined' } }
  } else if (typeof value === 'boolean') yield { typed: value, type: 'bool', term: { atom: String(value) } }
  else if (value === null) yield { typed: null, type: 'void', term: { atom: 'undefined' } }
  else if (Array.isArray(value)) yield* waysOfList(value)
  else if (isObject(value)) yield* waysOfTable(value)
}

function* waysOfNumber(value: number): Generator<Way> {
  if (Number.isInteger(value)) {
    for (const [typed, type, least, below] of wholeTypes) {
      if (value >= least && value < below) yield { typed: { '!': typed, value }, type, term: BigInt(value) }
    }
  }
  for (const type of ['double', 'float']) yield { typed: { '!': type, value }, type, term: value }
  yield* waysOfDecimal(value)
}

/** Yields decimals: 3 places and 14 digits are shown as 3.14, and 50 digits as 5. */
function* waysOfDecimal(value: number): Generator<Way> {
  const [, places = '', shown = '0'] = /^(\d{1,3})(?:\.(\d{1,10}))?$/.exec(String(value)) ?? []
  if (places === '' || Number(places) > 255) return
  for (let digits = Number(shown); digits < 2 ** 32; digits *= 10) {
    yield {
      typed: { '!': 'decimal', value: { places: Number(places), digits } },
      type: 'decimal',
      term: { tuple: [BigInt(places), BigInt(digits)] },
    }
    if (digits === 0) return
  }
}

function* waysOfList(values: readonly unknown[]): Generator<Way> {
  for (const ways of combined(values.map((value) => () => waysOf(value)))) {
    yield {
      typed: ways.map(({ typed }) => typed),
      type: 'array',
      term: ways.map(({ type, term }) => ({ tuple: [{ atom: type }, term] })),
    }
  }
}

/** Yields tables. Within another, a table keeps the order in which it came, but is shown sorted by names. */
function* waysOfTable(values: Readonly<Record<string, unknown>>): Generator<Way> {
  const shown = Object.keys(values)
  // amqplib marks types with that name
  if (shown.includes('!')) return
  for (const names of shown.length < mostOrdered ? ordersOf(shown) : [shown]) {
    // an object always puts names that are numbers first
    const kept = Object.keys(Object.fromEntries(names.map((name) => [name, null])))
    if (kept.some((name, index) => name !== names[index])) continue
    for (const ways of combined(names.map((name) => () => waysOf(values[name])))) {
      yield {
        typed: Object.fromEntries(names.map((name, index) => [name, ways[index]!.typed])),
        type: 'table',
        term: tableOf(names, ways),
      }
    }
  }
}

function* ordersOf(names: readonly string[]): Generator<readonly string[]> {
  if (names.length <= 1) return void (yield names)
  for (const [index, first] of names.entries()) {
    for (const rest of ordersOf(names.filter((_, at) => at !== index))) yield [first, ...rest]
  }
}

/** Yields one of each, in every combination; the last changes first. */
function* combined([first, ...rest]: readonly (() => Iterable<Way>)[]): Generator<readonly Way[]> {
  if (!first) return void (yield [])
  for (const way of first()) for (const others of combined(rest)) yield [way, ...others]
}
