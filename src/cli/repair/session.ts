import { hostname, userInfo } from 'node:os'
import { AdminError } from '../../core/error.ts'
import type { Failpoint } from '../../core/failpoint.ts'
import { failpoints } from '../../core/failpoint.ts'
import { fillCommand } from '../../engine/remedy.ts'
import { errorText } from '../../output/error-text.ts'
import type { OpenedDeployment } from '../../runtime/index.ts'
import { chosenDeployment } from '../chosen-deployment.ts'
import { defaultTimeoutSeconds, interruptible, withInterrupts, relayOf } from '../interrupt.ts'
import { screenOf, jsonText, printNow } from '../write.ts'
import type { RepairFlags } from './flags.ts'

/** A deployment that is open for a repair, and who repairs it. */
export interface RepairSession {
  opened: OpenedDeployment
  /** user@host */
  by: string
  timeoutMs: number
  signal: AbortSignal
  failpoint: Failpoint
}

/** Opens the deployment, runs, and closes everything. Ctrl-C aborts the signal; `run` ends at its next safe point. */
export async function withDeployment<T>(flags: RepairFlags, run: (session: RepairSession) => Promise<T>): Promise<T> {
  const { openDeployment, openFile } = await import('../../runtime/index.ts')
  const environment = process.env
  const { config: file, timeout = defaultTimeoutSeconds, files } = flags
  const timeoutMs = timeout * 1000
  const isDry = flags['dry-run'] ?? false
  let opened: OpenedDeployment | null = null
  return withInterrupts(
    async (signal) => {
      opened = files
        ? openFile({ flag: files.flag, path: files.main }, files.paths, environment, { timeoutMs })
        : await openDeployment(flags.selected ?? (await chosenDeployment(flags, signal)), {
            timeoutMs,
            environment,
            config: file,
            signal,
            ...relayOf(flags, { mayMakePods: !isDry, isLasting: !isDry }),
          })
      try {
        return await run({
          opened,
          by: `${userName()}@${hostname()}`,
          timeoutMs,
          signal,
          failpoint: failpoints(environment.TESTOPS_ADMIN_FAILPOINT),
        })
      } catch (error) {
        throw error instanceof AdminError ? filledError(error, opened) : error
      } finally {
        await opened.close()
      }
    },
    (signal) => abandoned(signal, flags, opened),
  )
}

/** Prints at once how to resume, since the process ends when this returns; returns the exit code. */
function abandoned(signal: NodeJS.Signals, { json }: RepairFlags, opened: OpenedDeployment | null): number {
  const error = new AdminError(
    'INTERRUPTED',
    `interrupted by ${signal} again: testops-admin stopped at once, without finishing its work`,
    [
      'testops-admin history -d {deployment}',
      'testops-admin resume -d {deployment}   # if `testops-admin history` lists an unfinished run',
    ],
  )
  const { code, message, suggestions, exitCode } =
    opened === null ? new AdminError(error.code, error.message) : filledError(error, opened)
  const document = { error: { code, message, suggestions } }
  try {
    printNow(json ? 1 : 2, json ? jsonText(document) : errorText(document, screenOf(process.stderr)))
  } catch {
    // the reader is gone
  }
  return exitCode
}

/** Returns the error with the commands to type for this deployment. */
export function filledError(
  error: AdminError,
  { deployment, commands }: Pick<OpenedDeployment, 'deployment' | 'commands'>,
): AdminError {
  const { code, message, suggestions, cause, obstacle } = error
  return new AdminError(
    code,
    message,
    suggestions.map((command) => fillCommand(command, deployment, commands)),
    { cause, obstacle },
  )
}

/** Returns the user's name, or `uid N`: a process may run under a number without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`
  }
}

interface OpenFlags {
  deployment?: string | undefined
  config?: string | undefined
  timeout?: number | undefined
}

/** Opens the deployment, asks it something, and closes everything. */
export async function withOpened<T>(
  { deployment, config: file, timeout = defaultTimeoutSeconds }: OpenFlags,
  ask: (opened: OpenedDeployment) => Promise<T>,
): Promise<T> {
  const { openDeployment } = await import('../../runtime/index.ts')
  const environment = process.env
  return interruptible(async (signal) => {
    const selected = await chosenDeployment({ deployment, config: file }, signal)
    const opened = await openDeployment(selected, { timeoutMs: timeout * 1000, environment, config: file, signal })
    try {
      return await ask(opened)
    } catch (error) {
      throw error instanceof AdminError ? filledError(error, opened) : error
    } finally {
      await opened.close()
    }
  })
}
