import type { DoctorReport } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import { withoutSecretsIn } from '../../core/redaction/document.ts'
import { documentOf } from '../../engine/carry-out.ts'
import { withDeadline } from '../../engine/judge.ts'
import { lackedRights, makePlan } from '../../engine/plan.ts'
import type { OpenedDeployment } from '../../runtime/index.ts'
import type { RepairCommand } from '../repair/repair-command.ts'
import { filledError } from '../repair/session.ts'
import { stepsOf } from './fix-steps.ts'
import type { Fix } from './fix-steps.ts'

/** Returns the command of a repair, as if these words had been typed. */
export type CommandOf = (fix: Fix, words: readonly string[]) => Promise<RepairCommand>

/** Repairs whose plan needs no other program, and whose rights can be asked. */
const asked: readonly (Fix | undefined)[] = [
  'flush-sessions',
  'reset-queues',
  'service-restart',
  'service-start',
  'set-env',
  'unlock-changelog',
]

/** Longest that a diagnosis takes longer for it, in milliseconds */
const mostMs = 3000
/** Number of sessions that are looked at to find their namespace */
const sampled = 100

/**
 * Adds to each remedy that is a repair the right for it that this user lacks, and what to type about it, as far as that
 * can be asked in this time without changing anything. Throws INTERRUPTED.
 */
export async function withRights(
  report: DoctorReport,
  opened: OpenedDeployment,
  { commandOf, waitMs }: { commandOf: CommandOf; waitMs: number },
): Promise<DoctorReport> {
  const steps = stepsOf(report, true).filter(
    ({ does, fix, words }) => does === 'repair' && asked.includes(fix) && words?.includes('--apply') !== true,
  )
  const lacks = new Map<string, AdminError>()
  const ask = async ({ root, fix, words }: (typeof steps)[number]): Promise<void> => {
    const asking =
      fix === 'flush-sessions' ? lackedForSessions(opened) : lackedBy(await commandOf(fix!, words!), opened)
    const lacked = await withDeadline(asking, Math.min(waitMs, mostMs), () => new AdminError('TIMED_OUT', 'too late'))
    if (lacked) lacks.set(root.id, lacked)
  }
  await Promise.all(
    steps.map(async (step) =>
      ask(step).catch((error: unknown) => {
        // a repair that cannot be planned says so itself; a diagnosis says what it found
        if (error instanceof AdminError && error.code === 'INTERRUPTED') throw error
      }),
    ),
  )
  const checks = report.checks.map((it) => {
    const missing = lacks.get(it.id)
    if (it.remedy === undefined || missing === undefined) return it
    const { message, suggestions } = filledError(missing, opened)
    return withoutSecretsIn({ ...it, remedy: { ...it.remedy, lacks: message, grant: suggestions } })
  })
  return { ...report, checks }
}

/** Returns the right that is missing to remove sessions. A plan would count them all: too much for a diagnosis. */
async function lackedForSessions({ open, control }: OpenedDeployment): Promise<AdminError | null> {
  const { namespace, indexed } = await (await open.sessions()).sampleSessions(sampled)
  if (namespace === null) return null
  try {
    await (await control.sessions()).assertRemovable({ namespace, indexed, onlyAsks: true })
    return null
  } catch (error) {
    if (error instanceof AdminError && error.code === 'FORBIDDEN') return error
    throw error
  }
}

/** Makes the plan of a command, and returns the first right that is missing for it; null: none is known to be. */
async function lackedBy(
  command: RepairCommand,
  { open, control, deployment }: OpenedDeployment,
): Promise<AdminError | null> {
  let lacked: AdminError | null = null
  command.perform = async (_, { repair, options }) => {
    // a plan may wait, as for a log; a diagnosis does not
    const plan = await makePlan(repair, open, deployment, { ...options, waits: false })
    lacked =
      (await lackedRights(plan, { open, control })).find(({ error }) => error.code === 'FORBIDDEN')?.error ?? null
    return { document: documentOf(plan, { outcome: 'planned' }), exitCode: 0 }
  }
  try {
    await command.repair()
  } catch (error) {
    if (error instanceof AdminError && error.code === 'FORBIDDEN') return error
    throw error
  }
  return lacked
}
