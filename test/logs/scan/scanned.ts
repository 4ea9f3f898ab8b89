import { openBlockScan } from '../../../src/logs/scan/scanner.ts'
import type { ScanOptions } from '../../../src/logs/scan/scanner.ts'
import type { Cause, Tally } from '../../../src/logs/scan/tally.ts'
import type { Counted } from './reference.ts'

/** The tally of a text that comes in blocks of these sizes, again and again. */
export function scanned(
  log: string | Uint8Array,
  options: Partial<ScanOptions> = {},
  sizes: readonly number[] = [Infinity],
  part: { isRecord?: boolean; isInner?: boolean } = {},
): Tally {
  const scan = openBlockScan({ timeZone: 'UTC', ...options }, part)
  const bytes = Buffer.from(log)
  for (let from = 0, index = 0; from < bytes.length; index += 1) {
    const size = sizes[index % sizes.length]!
    scan.write(bytes.subarray(from, from + size))
    from += size
  }
  return scan.end()
}

export function counted({ causes }: Tally): Counted[] {
  return causes.map(({ id, count, records, first, last, hosts }) => ({
    id,
    count,
    records,
    first,
    last,
    hosts: Object.fromEntries(hosts),
  }))
}

export function lineCounts({ causes }: Tally): Record<string, number> {
  return Object.fromEntries(causes.map(({ id, count }) => [id, count]))
}

export function cause({ causes }: Tally, id: Cause['id']): Cause {
  return causes.find((it) => it.id === id)!
}
