import { rmdir } from 'node:fs/promises'
import { AdminError, codeOf } from '../core/error.ts'
import { moment } from '../core/format.ts'
import { folderFailure, makeFolder } from './layout.ts'
import type { LabLayout } from './layout.ts'
import { giveBack, holderOf, takeLock } from '../adapters/local-lock.ts'
import { identify } from '../adapters/process-identity.ts'
import type { ProcessIdentity } from '../adapters/process-identity.ts'
import { command } from '../core/shell-command.ts'
import { holdsLab } from './contents.ts'
import { drillPhase } from './drill-record.ts'
import { readState } from './state.ts'

interface Operator extends ProcessIdentity {
  command: string
  since: string
}

/**
 * Runs `work` with the operator lock, so that one command at a time changes the lab. Afterwards removes the lab's
 * folder if it is empty. Throws BUSY, with the other operator's command; UNAVAILABLE if the folder cannot be written;
 * INTERRUPTED, with the next steps, once `signal` is aborted. `evenIfFull`: as in `takeLock`.
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
    try {
      return await work()
    } finally {
      await giveBack(layout.lock, own)
    }
  } catch (error) {
    throw options.signal?.aborted ? await interruption(layout, error) : folderFailure(error, layout.root)
  } finally {
    // not removed if it holds files
    await rmdir(layout.root).catch(() => undefined)
  }
}

/** Returns the operator who is working on the lab; null if nobody is. */
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
    `another operator has been running \`${other}\` (process ${pid}) on this lab since ${moment(since)}`,
    [command`ps -fp ${pid}`, "wait until the other operator's command has finished, then try again"],
  )
}

/** Returns the error for an interrupted command: what it left in the lab's folder, and what to do next. */
async function interruption(layout: LabLayout, cause: unknown): Promise<AdminError> {
  const left = await whatIsLeft(layout)
  return new AdminError('INTERRUPTED', `interrupted: ${states[left].message}`, states[left].suggestions, { cause })
}

const states = {
  nothing: { message: 'there is no lab now', suggestions: ['testops-admin lab up'] },
  starting: { message: 'the lab is only partly up', suggestions: ['testops-admin lab up', 'testops-admin lab down'] },
  stopping: { message: 'the lab is only partly removed', suggestions: ['testops-admin lab down'] },
  broken: {
    message: 'some faults in the lab may be only partly created or removed',
    suggestions: ['testops-admin lab status', 'testops-admin lab mend', 'testops-admin lab down'],
  },
  drilling: {
    message: 'the drill goes on',
    suggestions: ['testops-admin lab drill   # shows where the drill stands', 'testops-admin lab drill --give-up'],
  },
  up: {
    message: 'the lab may be incomplete',
    suggestions: ['testops-admin lab status', 'testops-admin lab up', 'testops-admin lab down'],
  },
} as const

async function whatIsLeft(layout: LabLayout): Promise<keyof typeof states> {
  try {
    const [state, drill] = await Promise.all([readState(layout), drillPhase(layout)])
    if (state && drill) return drill.phase === 'running' ? 'drilling' : 'broken'
    if (state) return state.phase === 'up' && state.faults.length > 0 ? 'broken' : state.phase
    return (await holdsLab(layout)) ? 'stopping' : 'nothing'
  } catch {
    // damaged: `lab down` still removes it
    return 'stopping'
  }
}
