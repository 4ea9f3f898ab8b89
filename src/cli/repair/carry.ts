import { checks } from '../../checks/index.ts'
import { worksOnQueues } from '../../core/plan.ts'
import type { Plan } from '../../core/plan.ts'
import type { RunEvent, RunRecord } from '../../core/run.ts'
import { takeLocks } from '../../engine/locks.ts'
import type { Guard } from '../../engine/locks.ts'
import type { JournalOptions, RunJournal } from '../../engine/journal.ts'
import type { Run } from '../../engine/run.ts'

import type { Foreign } from '../../engine/run.ts'
import type { Secret } from '../../core/secret.ts'
import { stepLines } from '../../output/repair.ts'
import { tellerOn } from './progress.ts'
import type { RepairSession } from './session.ts'
import { tellLine } from '../write.ts'

/** What locks are taken for. */
interface LockPurpose {
  /** the command, as other operators are told */
  what: string
  /** which is carried out under them; absent: none is */
  plan?: Plan
}

/**
 * Runs under every lock of the deployment that is in reach. Throws BUSY, and FORBIDDEN where a plan for queues may hold
 * none that others see.
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

/** How its journal is written. */
export function journalOptions({ by, failpoint }: RepairSession): JournalOptions {
  return { by, failpoint }
}

/** What a run works with, its steps told on standard error. */
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

/** What is waited for is said once, however often it is looked at. */
function once(say: (message: string) => void): (message: string) => void {
  const said = new Set<string>()
  return (message) => {
    const kind = message.replaceAll(/\d+/g, '#')
    if (!said.has(kind)) say(message)
    said.add(kind)
  }
}
