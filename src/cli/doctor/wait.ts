import type { DoctorReport } from '../../core/report.ts'
import { tell } from '../../output/doctor/stories.ts'
import { summary } from '../../output/doctor/verdict.ts'
import { pause } from '../interrupt.ts'
import type { Diagnosis } from './session.ts'

export interface WaitOptions {
  /** Milliseconds to keep trying */
  forMs: number
  intervalMs: number
  isHealthy: (report: DoctorReport) => boolean
  progress: (message: string) => void
  signal: AbortSignal
}

/** Examines until the deployment is healthy, the time is up or `signal` aborts; returns the last report. */
export async function waitUntilHealthy(diagnosis: Diagnosis, options: WaitOptions): Promise<DoctorReport> {
  const { forMs, intervalMs, isHealthy, progress, signal } = options
  const end = performance.now() + forMs
  for (;;) {
    const report = await diagnosis.examine()
    const left = end - performance.now()
    if (isHealthy(report) || left <= 0) return report
    const wait = Math.min(intervalMs, left)
    progress(
      `${summary(tell(report))} Trying again in ${Math.ceil(wait / 1000)} s; giving up in ${Math.ceil(left / 1000)} s.`,
    )
    if (!(await pause(wait, signal))) return report
  }
}
