import type { DoctorReport } from '../../core/report.ts'
import { pause } from '../interrupt.ts'
import type { Diagnosis } from './session.ts'

export interface WatchOptions {
  intervalMs: number
  signal: AbortSignal
  show: (report: DoctorReport, before: DoctorReport | null) => void
}

/** Examines repeatedly until interrupted; returns the last report. Throws if there is no report yet. */
export async function watch(diagnosis: Diagnosis, { intervalMs, signal, show }: WatchOptions): Promise<DoctorReport> {
  let before: DoctorReport | null = null
  for (;;) {
    let report: DoctorReport
    try {
      report = await diagnosis.examine()
    } catch (error) {
      if (signal.aborted && before) return before
      throw error
    }
    show(report, before)
    before = report
    if (!(await pause(intervalMs, signal))) return report
  }
}
