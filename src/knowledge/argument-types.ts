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

/** in how many ways the arguments of one binding are tried, at most */
const mostWays = 20_000
/** from how many names on a table within a table is taken to be in the order in which it is shown */
const mostOrdered = 5

/**
 * Arguments of a binding with their types, as amqplib writes them (`Binding.typed`). Lists show them without types; but
 * `key`, with which the management API names a binding, is made of them: `erlang:phash2` of the table that RabbitMQ
 * keeps, sorted by names (`args_hash/1` in deps/rabbitmq_management/src/rabbit_mgmt_format.erl; `sort_field_table/1` in
 * deps/rabbit_common/src/rabbit_misc.erl). What gives that key is what was bound. Null: no such arguments do.
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

/** What a value that is shown so may have been. */
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

/** One of 3 places and 14 digits is shown as 3.14, and one of 50 digits as one of 5. */
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

/** Within another, a table keeps the order in which it came, and is shown in that of its names. */
function* waysOfTable(values: Readonly<Record<string, unknown>>): Generator<Way> {
  const shown = Object.keys(values)
  // by that name, amqplib tells types
  if (shown.includes('!')) return
  for (const names of shown.length < mostOrdered ? ordersOf(shown) : [shown]) {
    // an object has its own mind about the place of names that are numbers
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

/** One of each, in every way; the last changes first. */
function* combined([first, ...rest]: readonly (() => Iterable<Way>)[]): Generator<readonly Way[]> {
  if (!first) return void (yield [])
  for (const way of first()) for (const others of combined(rest)) yield [way, ...others]
}
