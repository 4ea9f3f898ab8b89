import { AdminError } from '../core/error.ts'
import type { OpenedDeployment } from '../runtime/index.ts'
import { chosenDeployment } from './chosen-deployment.ts'
import { interruptible } from './interrupt.ts'
import { filledError } from './repair/session.ts'
import { defaultTimeoutSeconds } from './time-out.ts'

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
  const { openDeployment } = await import('../runtime/index.ts')
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
