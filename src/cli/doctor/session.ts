import type { Check } from '../../core/check.ts'
import type { CheckReport, DoctorReport } from '../../core/report.ts'
import type { ServiceSource } from '../../core/sources.ts'
import { runChecks } from '../../engine/run-checks.ts'
import type { OpenedDeployment } from '../../runtime/index.ts'

export interface DiagnosisOptions {
  checks: readonly Check[]
  /** Opens the deployment; called again after a connection is lost */
  open: () => Promise<Observed>
  deadlineMs: number
  signal: AbortSignal
}

type Observed = Pick<OpenedDeployment, 'deployment' | 'commands' | 'open' | 'renew' | 'close'>

/**
 * Diagnoses one deployment repeatedly, on the same connections and tokens as long as the service's settings lead there.
 */
export interface Diagnosis {
  examine(onResult?: (report: CheckReport) => void): Promise<DoctorReport>
  /** Closes the connections. Never throws */
  close(): Promise<void>
}

/** Returns a diagnosis that opens nothing before `examine`, which throws INTERRUPTED and what `open` throws. */
export function diagnosis({ checks, open, deadlineMs, signal }: DiagnosisOptions): Diagnosis {
  let current: Observed | null = null

  const close = async (): Promise<void> => {
    const closing = current
    current = null
    await closing?.close()
  }
  const examine = async (onResult?: (report: CheckReport) => void): Promise<DoctorReport> => {
    const reused = current !== null
    const opened = (current ??= await open())
    if (reused) opened.renew()
    const { deployment, commands } = opened
    const [report, build] = await Promise.all([
      runChecks({ checks, open: opened.open, deployment, deadlineMs, commands, onResult, signal }),
      declaredBuild(opened.open.service),
    ])
    // a connection that went stale since the last time says nothing about the deployment
    if (reused && report.checks.some(isLost)) {
      await close()
      return examine(onResult)
    }
    const { schemaVersion, deployment: name, found, platform, ...rest } = report
    return { schemaVersion, deployment: name, ...(found !== undefined && { found }), platform, build, ...rest }
  }
  return { examine, close }
}

function isLost({ status, error }: CheckReport): boolean {
  return status === 'unknown' && (error?.code === 'UNREACHABLE' || error?.code === 'TIMED_OUT')
}

/** Returns the build that the deployment is declared to run; null if it is unknown. */
async function declaredBuild(service: () => Promise<ServiceSource>): Promise<string | null> {
  try {
    return (await (await service()).image()).build
  } catch {
    return null
  }
}
