import { signatures } from '../../knowledge/signatures.ts'
import type { SignatureId } from '../../knowledge/signatures.ts'
import { rarest } from './anchor.ts'
import { needlesOf } from './needles.ts'
import type { Needle } from './needles.ts'

/** A needle with what it is looked for by. */
export interface Sought extends Needle {
  signature: SignatureId
  /** where the bytes stand in it that it is looked for by */
  anchor: number
}

/** Where a needle begins in the finder's bytes. */
export interface Hit {
  at: number
  needle: Sought
}

/** Looks for all needles at once in bytes that are its own, so that blocks can be read straight into them. */
export interface Finder {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** needles that begin in [from, to) and end before `end`, in their order; lines that end in [from, to) */
  find(from: number, to: number, end: number): { hits: readonly Hit[]; lines: number }
  /** where the last line begins, in [from, to), that begins neither with a blank nor with a tab, as those of a stack do; -1: nowhere */
  lineBefore(from: number, to: number): number
}

/** All needles of all signatures. */
export const sought: readonly Sought[] = signatures.flatMap(({ id, pattern }) =>
  needlesOf(pattern).map((needle) => ({ ...needle, signature: id, anchor: rarest(needle) })),
)

/** Both forms of a letter, where case is ignored. */
export function formsOf(code: number, ignoreCase: boolean): number[] {
  const letter = String.fromCharCode(code)
  return ignoreCase ? [...new Set([letter.toLowerCase().charCodeAt(0), letter.toUpperCase().charCodeAt(0)])] : [code]
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
