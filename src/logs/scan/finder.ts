import { signatures } from '../../knowledge/signatures.ts'
import type { SignatureId } from '../../knowledge/signatures.ts'
import { gramsOf } from './grams.ts'
import { needlesOf } from './needles.ts'
import type { Needle } from './needles.ts'

/** A needle and the signature that it belongs to. */
export interface Sought extends Needle {
  signature: SignatureId
  /** Index of that signature among `signatures` */
  index: number
}

/** A needle, and where it begins in the finder's bytes. */
export interface Hit {
  at: number
  needle: Sought
}

/** Searches for all needles at once in bytes of its own, so that blocks can be read straight into them. */
export interface Finder {
  readonly bytes: Uint8Array<ArrayBuffer>
  /**
   * Returns the needles that begin in [from, to) and end before `end`, in order; how many lines end in [from, to); and
   * true if a zero byte is there
   */
  find(from: number, to: number, end: number): { hits: readonly Hit[]; lines: number; hasZero: boolean }
  /**
   * Returns where, in [from, to), the last line begins that starts with neither a blank nor a tab; -1 if none does.
   * Lines of a stack trace start with one
   */
  lineBefore(from: number, to: number): number
}

/** All needles of all signatures. */
export const sought: readonly Sought[] = signatures.flatMap(({ id, pattern }, index) =>
  needlesOf(pattern).map((needle) => ({ ...needle, signature: id, index })),
)

/** The grams by which needles are found. */
export const table = gramsOf(sought)

/** Bytes of the longest needle: how far one reaches before and after any gram of it */
export const furthest = Math.max(...sought.map(({ text }) => text.length))

/**
 * Adds the needles whose gram in table place `place` stands at `at`, if they begin in [from, to) and end before `end`.
 */
export function addHits(
  hits: Hit[],
  bytes: Uint8Array,
  at: number,
  place: number,
  from: number,
  to: number,
  end: number,
): void {
  const having = table.places[place]!
  for (let index = 0; index < having.length; index += 1) {
    const { needle, offset } = having[index]!
    const begin = at - offset
    if (begin >= from && begin < to && begin + needle.text.length <= end && standsAt(bytes, begin, needle))
      hits.push({ at: begin, needle })
  }
}

/** Returns the hits in order, in which by far most of them are already. */
export function inOrder(hits: Hit[]): Hit[] {
  for (let index = 1; index < hits.length; index += 1)
    if (hits[index - 1]!.at > hits[index]!.at) return hits.sort((one, other) => one.at - other.at)
  return hits
}

/** True if the needle stands there. */
export function standsAt(bytes: Uint8Array, at: number, { text, ignoreCase }: Needle): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const byte = bytes[at + index]!
    const code = text.charCodeAt(index)
    if (byte === code) continue
    const letter = code | 0x20
    if (!ignoreCase || (byte | 0x20) !== letter || letter < 0x61 || letter > 0x7a) return false
  }
  return true
}
