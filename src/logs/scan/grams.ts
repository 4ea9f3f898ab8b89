import type { Needle } from './needles.ts'

/** Bytes of a gram, which are compared at once. */
const gramLength = 4
/** Bytes from one gram of the log that is checked to the next. */
export const stride = 8
/** Minimum bytes of a needle: as many always contain a whole gram that is checked, wherever they stand. */
const windowLength = stride + gramLength - 1
/** The bit in which the two cases of a letter differ, in each byte of a gram. */
export const bothCases = 0x20202020
/** Number of places in the table. */
export const tableSize = 4096
/** Bits by which a product is shifted to give a place */
const tableShift = 20

/** A needle, and the offset of a gram in it. */
interface Place<T> {
  needle: T
  offset: number
}

/** A hash table without collisions of all grams by which needles are found. */
export interface Grams<T> {
  /** A gram's place is its 32-bit product with this, shifted */
  readonly factor: number
  /** The gram in each place, with `bothCases`; 0 if there is none */
  readonly grams: Uint32Array<ArrayBuffer>
  /** Another gram that must be there, `distances` bytes after or before; the gram itself if several needles have it */
  readonly others: Uint32Array<ArrayBuffer>
  readonly distances: Int32Array<ArrayBuffer>
  readonly places: readonly (readonly Place<T>[])[]
}

/** Returns the grams of the rarest window of each needle. Throws an error if a needle is shorter than a window. */
export function gramsOf<T extends Needle>(needles: readonly T[]): Grams<T> {
  const all = new Map<number, Place<T>[]>()
  for (const needle of needles) {
    const start = rarestWindow(needle.text)
    for (let offset = start; offset < start + stride; offset += 1) {
      const gram = gramAt(needle.text, offset)
      all.set(gram, [...(all.get(gram) ?? []), { needle, offset }])
    }
  }
  const factor = factorFor([...all.keys()])
  const [grams, others, distances] = [new Uint32Array(tableSize), new Uint32Array(tableSize), new Int32Array(tableSize)]
  const places = Array.from({ length: tableSize }, (): Place<T>[] => [])
  for (const [gram, having] of all) {
    const place = placeOf(gram, factor)
    grams[place] = gram
    places[place] = having
    const [{ needle, offset }, ...more] = having as [Place<T>, ...Place<T>[]]
    const other = more.length === 0 ? rarestGram(needle.text) : offset
    others[place] = gramAt(needle.text, other)
    distances[place] = other - offset
  }
  return { factor, grams, others, distances, places }
}

/** Returns the place of a gram in the table, if it is there. */
export function placeOf(gram: number, factor: number): number {
  return Math.imul(gram, factor) >>> tableShift
}

function factorFor(grams: readonly number[]): number {
  const taken = new Int32Array(tableSize)
  // odd factors, far apart; a few suffice for a hundred grams
  for (let tries = 1, factor = 0x9e3779b1; ; tries += 1, factor = Math.imul(factor, 0x85ebca6b) | 1) {
    if (tries === 1 << 16) throw new Error(`no table of ${tableSize} places keeps ${grams.length} grams apart`)
    if (
      grams.every((gram) =>
        taken[placeOf(gram, factor)]! === tries ? false : ((taken[placeOf(gram, factor)] = tries), true),
      )
    )
      return factor
  }
}

function gramAt(text: string, at: number): number {
  const byte = (index: number): number => text.charCodeAt(at + index) << (8 * index)
  return (byte(0) | byte(1) | byte(2) | byte(3) | bothCases) >>> 0
}

function starts(text: string, length: number): number[] {
  return Array.from({ length: text.length - length + 1 }, (_, at) => at)
}

function least(costs: readonly number[]): number {
  return costs.indexOf(Math.min(...costs))
}

function rarestGram(text: string): number {
  return least(starts(text, gramLength).map((at) => commonness(text.slice(at, at + gramLength))))
}

function rarestWindow(text: string): number {
  if (text.length < windowLength)
    throw new Error(`${text} is shorter than ${windowLength} characters: it could be missed`)
  const costs = starts(text, gramLength).map((at) => commonness(text.slice(at, at + gramLength)))
  return least(starts(text, windowLength).map((at) => costs.slice(at, at + stride).reduce((sum, cost) => sum + cost)))
}

/** Words that logs are full of. */
const everyday =
  'exception error caused by request queue connection available failed support http java lang status code change lock with process not success'
/** Relative frequencies of letters in a log, in groups from the rarest on. Capitals are rare, whichever they are. */
const frequencies: readonly (readonly [string, number])[] = [
  ['jkqvwxyz', 8],
  ['bcdfghlmpu', 30],
  ['0123456789.', 40],
  [' etaoinsr', 60],
]
const rare = 5
const frequencyOf = new Map(
  frequencies.flatMap(([letters, frequency]) => [...letters].map((letter) => [letter, frequency])),
)

/** Estimates the relative frequency of a gram in a log. */
function commonness(gram: string): number {
  return [...gram].reduce(
    (product, letter) => product * (frequencyOf.get(letter) ?? rare),
    everyday.includes(gram.toLowerCase()) ? 100 : 1,
  )
}
