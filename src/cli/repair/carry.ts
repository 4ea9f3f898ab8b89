import { checks } from '../../checks/index.ts'
import { failpoints } from '../../core/failpoint.ts'
import type { RunEvent, RunRecord } from '../../core/run.ts'
import { takeLocks } from '../../engine/guard.ts'
import type { Guard } from '../../engine/guard.ts'
import type { RunJournal } from '../../engine/journal.ts'
import type { Performance } from '../../engine/perform.ts'
import { stepLines } from '../../output/repair.ts'
import type { RepairSession } from './session.ts'

/** Runs under every lock of the deployment that is in reach. Throws BUSY. */
export async function underLocks<T>({ opened, by }: RepairSession, what: string, run: (guard: Guard) => Promise<T>): Promise<T> {
  const guard = await takeLocks(await opened.locks({ who: by, what }))
  try {
    return await run(guard)
  } finally {
    await guard.release()
  }
}

/** What a run works with, its steps told on standard error. */
export function performanceOf(
  { opened, by, timeoutMs, signal }: RepairSession,
  of: { record: RunRecord; events: readonly RunEvent[]; journal: RunJournal; guard: Guard; patienceMs: number },
): Performance {
  const { deployment, open, control, commands } = opened
  const progress = (message: string): void => void process.stderr.write(`${message}\n`)
  const { patienceMs, ...rest } = of
  return {
    ...rest,
    by,
    commands,
    checks,
    failpoint: failpoints(process.env.TESTOPS_ADMIN_FAILPOINT),
    onStep: stepLines(of.record.plan, progress),
    workshop: { deployment, open, control, timeoutMs, patienceMs, signal, progress: once((message) => progress(`    ${message}`)) },
  }
}

/** What is waited for is said once, however often it is looked at. */
function once(say: (message: string) => void): (message: string) => void {
  const said = new Set<string>()
  return (message) => {
    const kind = message.replaceAll(/\d+/g, '#')
    if (!said.has(kind)) say(message)
    said.add(kind)
  }
}
