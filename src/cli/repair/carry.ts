import { checks } from '../../checks/index.ts'
import { worksOnQueues } from '../../core/plan.ts'
import type { Plan } from '../../core/plan.ts'
import type { RunEvent, RunRecord } from '../../core/run.ts'
import { takeLocks } from '../../engine/locks.ts'
import type { Guard } from '../../engine/locks.ts'
import type { JournalOptions, RunJournal } from '../../engine/journal.ts'
import type { Run, Foreign } from '../../engine/run.ts'
import type { Secret } from '../../core/secret.ts'
import { stepLines } from '../../output/repair.ts'
import { tellerOn } from './progress.ts'
import type { RepairSession } from './session.ts'
import { tellLine } from '../write.ts'

/** What locks are taken for. */
interface LockPurpose {
  /** The command, as other operators see it */
  what: string
  /** The plan that is carried out under the locks; absent if there is none */
  plan?: Plan
}

/**
 * Runs under every lock of the deployment that is in reach. Throws BUSY, and FORBIDDEN if a plan for queues can hold no
 * lock that others see.
 */
export async function underLocks<T>(
  { opened, by }: RepairSession,
  { what, plan }: LockPurpose,
  run: (guard: Guard) => Promise<T>,
): Promise<T> {
  const isOnQueues = plan !== undefined && worksOnQueues(plan)
  const guard = await takeLocks(
    await opened.locks({ who: by, what, isOnQueues, tell: (message) => tellLine(process.stderr, message) }),
  )
  try {
    return await run(guard)
  } finally {
    await guard.release()
  }
}

/** Returns how to write the journal of a session. */
export function journalOptions({ by, failpoint }: RepairSession): JournalOptions {
  return { by, failpoint }
}

/** Returns what a run works with. The run reports its steps on standard error. */
export function runOf(
  { opened, by, timeoutMs, signal, failpoint }: RepairSession,
  of: {
    record: RunRecord
    events: readonly RunEvent[]
    journal: RunJournal
    guard: Guard
    patienceMs: number
    foreign?: Foreign
    given?: ReadonlyMap<string, Secret>
    others?: readonly string[]
  },
): Run {
  const { deployment, open, control, commands } = opened
  const { say, moving } = tellerOn(process.stderr)
  const { patienceMs, given = new Map(), ...rest } = of
  return {
    ...rest,
    by,
    commands,
    checks,
    failpoint,
    onStep: stepLines(of.record.plan, say),
    workshop: {
      deployment,
      open,
      control,
      timeoutMs,
      patienceMs,
      signal,
      given,
      moving,
      progress: once((message) => say(`    ${message}`)),
      isTested: process.env.TESTOPS_ADMIN_FAILPOINT !== undefined,
    },
  }
}

/** Says each message once, however often it comes. Messages that differ only in numbers are the same. */
function once(say: (message: string) => void): (message: string) => void {
  const said = new Set<string>()
  return (message) => {
    const kind = message.replaceAll(/\d+/g, '#')
    if (!said.has(kind)) say(message)
    said.add(kind)
  }
}
