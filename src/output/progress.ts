import type { Moving } from '../core/controls.ts'
import { grouped } from '../core/format.ts'

/** Returns progress such as `412,000 of 1,284,000 sessions, 85,000/s, 10 s left`; the rate only once it is known. */
export function movingLine({ done, total, unit }: Moving, elapsedMs: number): string {
  const amount = `${grouped(done)} of ${grouped(total)} ${unit}`
  const rate = elapsedMs >= 1000 ? (1000 * done) / elapsedMs : 0
  if (rate === 0) return amount
  const shown = rate >= 10 ? grouped(Math.round(rate)) : rate.toFixed(1)
  return `${amount}, ${shown}/s${done < total ? `, ${left((total - done) / rate)} left` : ''}`
}

function left(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}
