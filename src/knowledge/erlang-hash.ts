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
