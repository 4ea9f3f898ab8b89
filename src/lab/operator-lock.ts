import { rmdir } from 'node:fs/promises'
import { AdminError, codeOf } from '../core/error.ts'
import { folderFailure, makeFolder } from './folder.ts'
import { interruption } from './interruption.ts'
import type { LabLayout } from './layout.ts'
import { giveBack, holderOf, takeLock } from '../adapters/lock-file.ts'
import { identify } from '../adapters/process-identity.ts'
import type { ProcessIdentity } from '../adapters/process-identity.ts'
import { command } from '../core/shell-command.ts'

interface Operator extends ProcessIdentity {
  command: string
  since: string
}

/**
 * Runs a command that changes the lab, one at a time. Afterwards removes the lab's folder if it is empty. Throws BUSY,
 * with the other operator's command; UNAVAILABLE if the folder cannot be written; INTERRUPTED, with the next steps,
 * once `signal` is aborted. `evenIfFull`: as in `takeLock`.
 */
export async function asOperator<T>(
  layout: LabLayout,
  command: string,
  work: () => Promise<T>,
  options: { evenIfFull?: boolean; signal?: AbortSignal | undefined } = {},
): Promise<T> {
  const own: Operator = { ...(await identify(process.pid))!, command, since: new Date().toISOString() }
  try {
    await claim(layout, own, options)
    return await work().finally(() => giveBack(layout.lock, own))
  } catch (error) {
    throw options.signal?.aborted ? await interruption(layout, error) : folderFailure(error, layout.root)
  } finally {
    // not removed if it holds files
    await rmdir(layout.root).catch(() => undefined)
  }
}

/** The operator who is working on the lab; null: nobody. */
export async function operatorAtWork({ lock }: LabLayout): Promise<Operator | null> {
  return holderOf<Operator>(lock)
}

async function claim(layout: LabLayout, own: Operator, options: { evenIfFull?: boolean }): Promise<void> {
  const { root, lock } = layout
  let holder: Operator | null
  try {
    await makeFolder(root)
    holder = await takeLock(lock, own, options)
  } catch (error) {
    // a `lab down` has just removed the folder
    if (codeOf(error) !== 'ENOENT' || (error as NodeJS.ErrnoException).syscall === 'mkdir') throw error
    return claim(layout, own, options)
  }
  if (holder) throw busy(holder)
}

function busy({ command: other, pid, since }: Operator): AdminError {
  return new AdminError(
    'BUSY',
    `another operator is working on the lab: \`${other}\` (process ${pid}) since ${since}`,
    [command`ps -fp ${pid}`, 'wait until it has finished, then try again'],
  )
}
