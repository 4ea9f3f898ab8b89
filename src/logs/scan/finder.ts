import { signatures } from '../../knowledge/signatures.ts'
import type { SignatureId } from '../../knowledge/signatures.ts'
import { gramsOf } from './grams.ts'
import { needlesOf } from './needles.ts'
import type { Needle } from './needles.ts'

/** A needle with the signature that it is of. */
export interface Sought extends Needle {
  signature: SignatureId
  /** which of the signatures that is */
  index: number
}

/** Where a needle begins in the finder's bytes. */
export interface Hit {
  at: number
  needle: Sought
}

/** Looks for all needles at once in bytes that are its own, so that blocks can be read straight into them. */
export interface Finder {
  readonly bytes: Uint8Array<ArrayBuffer>
  /**
   * needles that begin in [from, to) and end before `end`, in their order; lines that end in [from, to), and whether a
   * zero is there
   */
  find(from: number, to: number, end: number): { hits: readonly Hit[]; lines: number; hasZero: boolean }
  /**
   * where the last line begins, in [from, to), that begins neither with a blank nor with a tab, as those of a stack do;
   * -1: nowhere
   */
  lineBefore(from: number, to: number): number
}

/** All needles of all signatures. */
export const sought: readonly Sought[] = signatures.flatMap(({ id, pattern }, index) =>
  needlesOf(pattern).map((needle) => ({ ...needle, signature: id, index })),
)

/** What they are looked for by. */
export const table = gramsOf(sought)

/** how far a needle reaches past a gram of it that is looked at, and how far before it begins */
export const furthest = Math.max(...sought.map(({ text }) => text.length))

/** Adds the needles that begin in [from, to), end before `end` and have the gram of that place in the table at `at`. */
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

/** The same hits, in their order, in which by far most of them are. */
export function inOrder(hits: Hit[]): Hit[] {
  for (let index = 1; index < hits.length; index += 1)
    if (hits[index - 1]!.at > hits[index]!.at) return hits.sort((one, other) => one.at - other.at)
  return hits
}

/** Whether the needle stands there. */
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
