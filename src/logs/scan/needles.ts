import type { SignatureId } from '../../knowledge/signatures.ts'
import { signatures } from '../../knowledge/signatures.ts'

/** A literal that is in each match of a pattern. */
export interface Needle {
  text: string
  ignoreCase: boolean
  /** True if the pattern matches wherever the literal is */
  isWhole: boolean
}

/**
 * Returns literals, at least one of which is in every match: the longest of each alternative. Throws an error if an
 * alternative has none of 4 characters.
 */
export function needlesOf({ source, ignoreCase }: RegExp): Needle[] {
  const texts = alternatives(source).map((alternative) => {
    const runs = literalRuns(alternative)
    const text = runs.reduce((longest, run) => (run.length > longest.length ? run : longest), '')
    if (text.length < 4)
      throw new Error(`a branch of the regular expression ${source} has no literal text of at least 4 characters`)
    return { text, ignoreCase, isWhole: runs.length === 1 && text.length === unescaped(alternative).length }
  })
  return texts.filter(({ text }, index) => texts.findIndex((it) => it.text === text) === index)
}

function unescaped(source: string): string {
  return source.replace(/\\(.)/g, '$1')
}

/** Returns the parts between the bars that are in no group and no class. */
function alternatives(source: string): string[] {
  const parts = source.match(/\\.|\[(?:\\.|[^\]\\])*\]?|[^]/g) ?? []
  const result = ['']
  let depth = 0
  for (const part of parts) {
    if (part === '(') depth += 1
    if (part === ')') depth -= 1
    if (part === '|' && depth === 0) result.push('')
    else result[result.length - 1] += part
  }
  return result
}

/** Returns the stretches of an alternative that are in each of its matches as they are. */
function literalRuns(source: string): string[] {
  const parts = source.match(/\\.|\[(?:\\.|[^\]\\])*\]?|\{[^}]*\}?|[^]/g) ?? []
  const runs = ['']
  let depth = 0
  for (const part of parts) {
    if (part === '(') depth += 1
    if (part === ')') depth -= 1
    const isOptional = part === '*' || part === '?' || part.startsWith('{')
    // what may be missing or repeated ends the run before it
    if (isOptional && depth === 0) runs[runs.length - 1] = runs.at(-1)!.slice(0, -1)
    if (depth > 0 || isOptional || /^(?:[()[.+^$]|\[.*)$/s.test(part)) runs.push('')
    else runs[runs.length - 1] += unescaped(part)
  }
  return runs.filter((run) => run !== '')
}

/** Bytes of a gram, which are compared at once. */
const gramLength = 4
/** Bytes from one gram of the log that is checked to the next. */
const stride = 8
/** Minimum bytes of a needle: as many always contain a whole gram that is checked, wherever they stand. */
const windowLength = stride + gramLength - 1
/** The bit in which the two cases of a letter differ, in each byte of a gram. */
const bothCases = 0x20202020
/** Number of places in the table. */
const tableSize = 4096
/** Bits by which a product is shifted to give a place */
const tableShift = 20

/** A needle, and the offset of a gram in it. */
interface Place<T> {
  needle: T
  offset: number
}

/** A hash table without collisions of all grams by which needles are found. */
interface Grams<T> {
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
function gramsOf<T extends Needle>(needles: readonly T[]): Grams<T> {
  const all = new Map<number, Place<T>[]>()
  const rarest = new Map<T, number>()
  for (const needle of needles) {
    const costs = commonness(needle.text)
    const start = rarestWindow(needle.text, costs)
    rarest.set(needle, least(costs))
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
    const other = more.length === 0 ? rarest.get(needle)! : offset
    others[place] = gramAt(needle.text, other)
    distances[place] = other - offset
  }
  return { factor, grams, others, distances, places }
}

/** Returns the place of a gram in the table, if it is there. */
function placeOf(gram: number, factor: number): number {
  return Math.imul(gram, factor) >>> tableShift
}

function factorFor(grams: readonly number[]): number {
  const taken = new Int32Array(tableSize)
  // odd factors, far apart; a few suffice for a hundred grams
  for (let tries = 1, factor = 0x9e3779b1; ; tries += 1, factor = Math.imul(factor, 0x85ebca6b) | 1) {
    if (tries === 1 << 16)
      throw new Error(
        `cannot find a hash table of ${tableSize} entries without collisions for ${grams.length} search keys`,
      )
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

function rarestWindow(text: string, costs: readonly number[]): number {
  if (text.length < windowLength)
    throw new Error(`the search text ${text} is shorter than ${windowLength} characters, so the search could miss it`)
  return least(starts(text, windowLength).map((at) => costs.slice(at, at + stride).reduce((sum, cost) => sum + cost)))
}

/** Words that logs are full of. */
const everyday =
  'exception error caused by request queue connection available failed support http java lang status code ' +
  'change lock with process not success'
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

/** Estimates the relative frequency in a log of each gram of a text. */
function commonness(text: string): number[] {
  const letters = [...text].map((letter) => frequencyOf.get(letter) ?? rare)
  const lower = text.toLowerCase()
  return starts(text, gramLength).map(
    (at) =>
      (everyday.includes(lower.slice(at, at + gramLength)) ? 100 : 1) *
      letters[at]! *
      letters[at + 1]! *
      letters[at + 2]! *
      letters[at + 3]!,
  )
}

/** A needle and the signature that it belongs to. */
interface Sought extends Needle {
  signature: SignatureId
  /** Index of that signature among `signatures` */
  index: number
  /** True if the text at each match is read */
  reads: boolean
}

/** Signatures whose text is read at each match: cause-counter.ts */
export const readers: readonly SignatureId[] = ['unknown-host', 'precondition-failed', 'agent-counts']

/** All needles of all signatures. */
export const sought: readonly Sought[] = signatures.flatMap(({ id, pattern }, index) =>
  needlesOf(pattern).map((needle) => ({ ...needle, signature: id, index, reads: readers.includes(id) })),
)

// so there are at most as many hits as bytes: native.ts has room for no more
for (const { text } of sought)
  for (const other of sought)
    if (other.text !== text && other.text.toLowerCase().startsWith(text.toLowerCase()))
      throw new Error(`the search text ${other.text} begins with another search text, ${text}`)

/** The grams by which needles are found. */
export const table = gramsOf(sought)

/** Bytes of the longest needle: how far one reaches before and after any gram of it. */
export const furthest = Math.max(...sought.map(({ text }) => text.length))
