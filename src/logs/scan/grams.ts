import type { Needle } from './needles.ts'

/** Bytes that are compared at once: a gram. */
const gramLength = 4
/** Every so many bytes one gram of the log is looked at. */
export const stride = 8
/** So many bytes hold a whole gram that is looked at, wherever they stand; a needle must not be shorter. */
const windowLength = stride + gramLength - 1
/** A bit that the two cases of a letter differ in, in each byte of a gram. */
export const bothCases = 0x20202020
/** Places in the table. */
export const tableSize = 4096
/** by how much a product is shifted to be one of them */
const tableShift = 20

/** A needle that has a gram, and where in it. */
interface Place<T> {
  needle: T
  offset: number
}

/** A hash table without collisions of all grams that needles are looked for by. */
export interface Grams<T> {
  /** a gram's place is its product with this, as 32 bits, shifted */
  readonly factor: number
  /** the gram in each place, with `bothCases`; 0: none */
  readonly grams: Uint32Array<ArrayBuffer>
  /** what else has to be there, so many bytes further on or before; the gram itself where several needles have it */
  readonly others: Uint32Array<ArrayBuffer>
  readonly distances: Int32Array<ArrayBuffer>
  readonly places: readonly (readonly Place<T>[])[]
}

/** The grams of the rarest window of each needle. Throws where a needle is shorter than a window. */
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

/** Where a gram is in the table, if it is there. */
export function placeOf(gram: number, factor: number): number {
  return Math.imul(gram, factor) >>> tableShift
}

function factorFor(grams: readonly number[]): number {
  const taken = new Int32Array(tableSize)
  // odd ones, far apart; a few suffice for a hundred grams
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

/** What logs are full of. */
const everyday =
  'exception error caused by request queue connection available failed support http java lang status code change lock with process not success'
/**
 * How often a letter is in a log, beside others, in groups from the rarest on; capitals are rare, whatever they are.
 */
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

/** How often a gram may stand in a log, beside others. */
function commonness(gram: string): number {
  return [...gram].reduce(
    (product, letter) => product * (frequencyOf.get(letter) ?? rare),
    everyday.includes(gram.toLowerCase()) ? 100 : 1,
  )
}
