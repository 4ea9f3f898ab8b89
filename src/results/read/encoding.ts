import { isUtf8 } from 'node:buffer'
import type { Found } from '../problem.ts'
import { characterAt } from './file-name.ts'

/** `not-utf8`: where, by the number of bytes before it; null: it is UTF-8. */
export function notUtf8(bytes: Buffer): Found | null {
  if (isUtf8(bytes)) return null
  const wide = wideMark(bytes)
  if (wide !== null) return { message: `the file is in ${wide}, as its first bytes say`, place: 'byte 0' }
  const at = firstBad(bytes)
  const line = bytes.subarray(0, at).reduce((count, byte) => (byte === 10 ? count + 1 : count), 1)
  return {
    message: `byte 0x${bytes[at]!.toString(16).padStart(2, '0')} is part of no character in UTF-8`,
    place: `line ${line} (byte ${at})`,
  }
}

function wideMark(bytes: Buffer): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'UTF-16 (little-endian)'
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'UTF-16 (big-endian)' : null
}

function firstBad(bytes: Buffer): number {
  // most of it is right, and is skipped in large steps
  let at = 0
  for (let step = 1 << 20; step >= 16; step >>= 1) {
    while (at + step < bytes.length && isUtf8(bytes.subarray(at, wholeBefore(bytes, at + step))))
      at = wholeBefore(bytes, at + step)
  }
  for (let length = characterAt(bytes, at); length > 0; length = characterAt(bytes, at)) at += length
  return at
}

/** Where the character begins that a place is in. */
function wholeBefore(bytes: Buffer, place: number): number {
  let at = place
  while (at > place - 4 && (bytes[at]! & 0xc0) === 0x80) at -= 1
  return at
}
