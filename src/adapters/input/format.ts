import { utf16In } from '../../core/utf16.ts'
import type { Suggestion } from '../../core/shell-command.ts'

/** How a file is compressed or encoded, judged by its first bytes, since names can be wrong. */
export type Format = 'plain' | 'utf-16le' | 'utf-16be' | 'gzip' | 'zstd' | 'bzip2' | 'xz' | 'zip' | 'lz4'

const beginnings: readonly (readonly [Format, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['bzip2', [0x42, 0x5a, 0x68]],
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
  ['lz4', [0x04, 0x22, 0x4d, 0x18]],
]

/** Bytes needed to detect the format */
export const formatBytes = 6
/** Bytes that grep examines before it calls a file binary */
export const headBytes = 32_768

export function formatOf(head: Uint8Array): Format {
  // a skippable frame may come before the others (RFC 8878, 3.1.2)
  if ((head[0]! & 0xf0) === 0x50 && head[1] === 0x2a && head[2] === 0x4d && head[3] === 0x18) return 'zstd'
  return (
    beginnings.find(([, bytes]) => bytes.every((byte, index) => head[index] === byte))?.[0] ?? utf16In(head) ?? 'plain'
  )
}

/** Programs for the formats that this program cannot unpack. */
export const unpackers: Readonly<Partial<Record<Format, Suggestion>>> = {
  bzip2: 'bzcat',
  xz: 'xzcat',
  zip: 'unzip -p',
  lz4: 'lz4cat',
}

/** True if the first bytes are not text: they contain a NUL, as for grep without -a. */
export function isBinary(head: Uint8Array): boolean {
  return head.subarray(0, headBytes).includes(0)
}
