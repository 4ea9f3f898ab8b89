import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const lines = Array.from(
  { length: 6000 },
  (_, index) => `2026-11-22 12:00:00.000  INFO 1 --- [main] a.b.C : line ${index} ${(index * 7919) % 10_007}\n`,
)

/** A log, and what it is when it is cut in two in the middle of a line. */
export const whole = lines.join('')
export const parts = { whole, first: whole.slice(0, 200_001), second: whole.slice(200_001), empty: '' }

/** Each packed: by Node, and by zstd 1.5.4 (`zstd -19`), which need not be on this machine. */
export const packed = {
  gzip: (part: keyof typeof parts): Buffer => gzipSync(parts[part]),
  zstd: (part: keyof typeof parts): Buffer => readFileSync(new URL(`../../fixtures/zstd/${part}.zst`, import.meta.url)),
}
