import { moment } from '../../core/figures.ts'
import { grouped } from '../../core/grouped.ts'
import type { ScanMatch } from './document.ts'

/** Returns a time as `2026-11-21 02:12:44Z`. */
export function at(iso: string): string {
  return moment(new Date(iso))
}

/** Returns counts such as `1 line` or `1,284 lines in 96 records`. */
export function counts({ count, records }: Pick<ScanMatch, 'count' | 'records'>): string {
  const lines = `${grouped(count)} line${count === 1 ? '' : 's'}`
  return records === count ? lines : `${lines} in ${grouped(records)} record${records === 1 ? '' : 's'}`
}

/** Returns the first and last time, as far as the records have times. */
export function period({
  first,
  last,
  untimed,
  count,
}: Pick<ScanMatch, 'first' | 'last' | 'untimed' | 'count'>): string {
  if (first === undefined || last === undefined) return 'times unknown'
  const unknown = untimed === 0 ? '' : `, ${grouped(untimed)} of ${grouped(count)} without a time`
  return `${first === last ? at(first) : `first ${at(first)}, last ${at(last)}`}${unknown}`
}
