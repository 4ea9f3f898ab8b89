import { checks } from '../checks/index.ts'
import { AdminError } from '../core/error.ts'
import type { DoctorReport } from '../core/check.ts'
import { withInterrupts } from './interrupt.ts'
import { diagnosis } from './doctor/session.ts'

/** What the lab's commands work with. */
export interface LabSession {
  /** The lab's folder */
  root: string
  progress: (message: string) => void
  signal: AbortSignal
  /** Examines the lab as `doctor -d lab` does, whatever the operator's own configuration says */
  diagnose: (signal?: AbortSignal) => Promise<DoctorReport>
}

/** Milliseconds for any one answer of the lab's own servers, which are near */
const timeoutMs = 10_000

/**
 * Runs a command of the lab, which Ctrl-C interrupts at its next safe point. Progress shows the seconds since the
 * start.
 */
export async function withLab<T>(
  progress: (message: string) => void,
  run: (session: LabSession) => Promise<T>,
): Promise<T> {
  const { assertOwnFolder, findDeployment, labConfigurationFile, labDirectory, openDeployment } = await import(
    '../runtime/index.ts'
  )
  const environment = process.env
  // the folder names processes to end, folders to remove and programs to run
  assertOwnFolder(labDirectory(environment), {
    kind: {
      what: "the lab's folder",
      elsewhere: 'export TESTOPS_ADMIN_LAB_DIR=DIRECTORY   # keeps the lab in another folder',
    },
  })
  const since = performance.now()
  return withInterrupts(async (signal) => {
    const session: LabSession = {
      root: labDirectory(environment),
      progress: (message) => progress(`${((performance.now() - since) / 1000).toFixed(1).padStart(6)} s  ${message}`),
      signal,
      async diagnose() {
        const file = labConfigurationFile(environment)
        const selected = await findDeployment({ file, name: 'lab', environment, workingDirectory: process.cwd() })
        const opened = diagnosis({
          checks,
          open: () => openDeployment(selected, { timeoutMs, environment, signal }),
          deadlineMs: timeoutMs + 1000,
          signal,
        })
        try {
          return await opened.examine()
        } finally {
          await opened.close()
        }
      },
    }
    try {
      return await run(session)
    } catch (error) {
      throw signal.aborted ? interrupted(error) : error
    }
  })
}

/** Turns any error after an interrupt into INTERRUPTED. One that already is, and says what helps, stays as it is. */
function interrupted(error: unknown): AdminError {
  if (error instanceof AdminError && error.code === 'INTERRUPTED' && error.suggestions.length > 0) return error
  return new AdminError('INTERRUPTED', 'interrupted', ['testops-admin lab status'], { cause: error })
}
