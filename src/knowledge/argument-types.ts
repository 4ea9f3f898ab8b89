import { isObject } from '../core/shape.ts'
import { shownBytes } from './broker.ts'

/**
 * An Erlang term of the kinds that arguments consist of. A list is an array, a binary its bytes, an integer a bigint, a
 * float a number.
 */
export type Term =
  | bigint
  | number
  | Buffer
  | readonly Term[]
  | { readonly atom: string }
  | { readonly tuple: readonly Term[] }

/**
 * Returns Erlang's `erlang:phash2(Term, 1 bsl 32)`, which is the same on every machine and in every version
 * (erlang.org/doc/apps/erts/erlang, `phash2/2`; `make_hash2` in erts/emulator/beam/erl_term_hashing.c).
 */
export function phash2(term: Term): number {
  const waiting: Term[] = []
  let hash = 0
  let current: Term | undefined = term
  while (current !== undefined) {
    if (typeof current === 'bigint') hash = ofInteger(current, hash)
    else if (typeof current === 'number') hash = ofFloat(current, hash)
    else if (Buffer.isBuffer(current)) hash = ofBytes(current, constant(13) + hash)
    else if ('atom' in current)
      hash = hash === 0 ? ofName(current.atom) : mixed(constant(3) + ofName(current.atom), constant(3), hash)
    else if ('tuple' in current) {
      hash = mixed(constant(9) + current.tuple.length, constant(9), hash)
      waiting.push(...[...current.tuple].reverse())
    } else if (current.length === 0)
      hash = hash === 0 ? emptyList : mixed(constant(2) + emptyListTag, constant(2), hash)
    // a list is its first element, and the list of the others
    else waiting.push(current.slice(1), current[0]!)
    current = waiting.pop()
  }
  return hash
}

const golden = 0x9e3779b9
/** Hash of an empty list that comes first */
const emptyList = 3_468_870_702
const emptyListTag = 2

function constant(number: number): number {
  return Math.imul(golden, number) >>> 0
}

/** Returns the last number of Bob Jenkins's mix; most callers need no other. */
function mixed(one: number, two: number, three: number): number {
  return mixedAll(one, two, three)[2]
}

function mixedAll(one: number, two: number, three: number): [number, number, number] {
  let [a, b, c] = [one | 0, two | 0, three | 0]
  a = (a - b - c) ^ (c >>> 13)
  b = (b - c - a) ^ (a << 8)
  c = (c - a - b) ^ (b >>> 13)
  a = (a - b - c) ^ (c >>> 12)
  b = (b - c - a) ^ (a << 16)
  c = (c - a - b) ^ (b >>> 5)
  a = (a - b - c) ^ (c >>> 3)
  b = (b - c - a) ^ (a << 10)
  c = (c - a - b) ^ (b >>> 15)
  return [a >>> 0, b >>> 0, c >>> 0]
}

function ofInteger(value: bigint, hash: number): number {
  const size = value < 0n ? -value : value
  const sign = constant(value < 0n ? 10 : 11)
  if (value >= -(2n ** 27n) && value < 2n ** 27n) {
    // a negative one is mixed twice
    const once = value < 0n ? mixed(golden + Number(size), golden, hash) : hash
    return mixed(golden + Number(value), golden, once)
  }
  return mixed(sign + Number(size & 0xffffffffn), sign + Number(size >> 32n), hash)
}

function ofFloat(value: number, hash: number): number {
  const bytes = Buffer.alloc(8)
  // zero has no sign here
  bytes.writeDoubleBE(value === 0 ? 0 : value)
  return mixed(constant(12) + bytes.readUInt32BE(0), constant(12) + bytes.readUInt32BE(4), hash)
}

function ofBytes(bytes: Buffer, initial: number): number {
  if (bytes.length === 0) return initial >>> 0
  let [a, b, c] = [golden, golden, initial]
  let at = 0
  for (; bytes.length - at >= 12; at += 12)
    [a, b, c] = mixedAll(a + bytes.readUInt32LE(at), b + bytes.readUInt32LE(at + 4), c + bytes.readUInt32LE(at + 8))
  const rest = Buffer.alloc(12)
  bytes.copy(rest, 0, at, Math.min(at + 8, bytes.length))
  // the first byte of the last number is the length's
  bytes.copy(rest, 9, Math.min(at + 8, bytes.length))
  return mixed(a + rest.readUInt32LE(0), b + rest.readUInt32LE(4), c + bytes.length + rest.readUInt32LE(8))
}

/** Returns P. J. Weinberger's hash of an atom's Latin-1 name. */
function ofName(name: string): number {
  let hash = 0
  for (const byte of Buffer.from(name, 'latin1')) {
    hash = ((hash << 4) + byte) >>> 0
    const high = hash & 0xf0000000
    if (high !== 0) hash = (hash ^ (high >>> 24) ^ high) >>> 0
  }
  return hash
}

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
