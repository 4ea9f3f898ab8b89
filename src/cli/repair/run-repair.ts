import { randomBytes } from 'node:crypto'
import { AdminError } from '../../core/error.ts'
import type { Plan } from '../../core/plan.ts'
import type { RepairDocument } from '../../core/repair-document.ts'
import type { RunRecord } from '../../core/run.ts'
import { beginJournal } from '../../engine/journal.ts'
import { makePlan } from '../../engine/make-plan.ts'
import type { AnyRepair } from '../../engine/make-plan.ts'
import { runError } from '../../engine/outcome.ts'
import { documentOf, perform } from '../../engine/perform.ts'
import type { Performed } from '../../engine/perform.ts'
import { fillCommand } from '../../engine/remedy.ts'
import { refuseIfStale } from '../../engine/stale.ts'
import { planText } from '../../output/plan.ts'
import { screenOf } from '../screen.ts'
import { performanceOf, underLocks } from './carry.ts'
import { confirmed } from './confirm.ts'
import { patienceMs } from './flags.ts'
import type { RepairFlags } from './flags.ts'
import { refuseIfUnfinished } from './list-runs.ts'
import { refuseIfReadOnly } from './read-only.ts'
import { withDeployment } from './session.ts'
import type { RepairSession } from './session.ts'

export interface Wish {
  repair: AnyRepair
  options: Readonly<Record<string, unknown>>
  /** a plan that was saved before: what is made now has to be the same */
  saved?: Plan
  /** the words after the program's name, as they were typed */
  words: readonly string[]
  /** of this program */
  version: string
}

/**
 * Makes a plan, shows it, has it confirmed, and carries it out under the journal and the locks (DESIGN.md 6). Throws AdminError
 * before there is a plan; from then on a failure is part of the document.
 */
export async function runRepair(flags: RepairFlags, wish: Wish): Promise<Performed> {
  const dryRun = flags['dry-run'] ?? false
  if (!dryRun) refuseIfReadOnly()
  return withDeployment(flags, async (session) => {
    const plan = await planOf(session, wish)
    try {
      if (wish.saved) refuseIfStale(wish.saved, plan)
      if (dryRun) return { document: documentOf(plan, { outcome: 'planned' }), exitCode: 0 }
      if (plan.steps.length === 0) return { document: documentOf(plan, { outcome: 'nothing-to-do' }), exitCode: 0 }
      refuseRisks(plan, flags['accept-risk'] ?? [], wish.words)
      await refuseIfUnfinished(session)
      await confirmed({ ...session.opened, confirm: flags.confirm, words: wish.words, signal: session.signal }, () => show(plan, session))
      return await underLocks(session, plan.repair, async (guard) => {
        await refuseIfUnfinished(session)
        const now = await planOf(session, wish)
        refuseIfStale(plan, now)
        const record = recordOf(now, session, wish, flags)
        const journal = await beginJournal(session.opened.journals, record)
        tellWhere(record, journal.onlyHere)
        return perform(performanceOf(session, { record, events: [], journal, guard, patienceMs: patienceMs(flags) }))
      })
    } catch (error) {
      if (!(error instanceof AdminError)) throw error
      return { document: notBegun(plan, error, session), exitCode: error.exitCode }
    }
  })
}

async function planOf({ opened }: RepairSession, { repair, options }: Wish): Promise<Plan> {
  return makePlan(repair, opened.open, opened.deployment, options)
}

/** A plan that was not begun, and why. */
function notBegun(plan: Plan, error: AdminError, { opened: { deployment, commands } }: RepairSession): RepairDocument {
  const outcome = error.code === 'INTERRUPTED' ? 'interrupted' : error.code === 'REFUSED' || error.code === 'BUSY' ? 'refused' : 'failed'
  return documentOf(plan, { outcome, error: runError(error, (command) => fillCommand(command, deployment, commands)) })
}

/** Throws REFUSED where the plan names a risk that was not accepted, USAGE where one was accepted that it does not name. */
function refuseRisks({ risks }: Plan, accepted: readonly string[], words: readonly string[]): void {
  const open = risks.filter(({ name }) => !accepted.includes(name))
  if (open.length === 0) return
  const names = open.map(({ name }) => name)
  const command = ['testops-admin', ...words, ...names.flatMap((name) => ['--accept-risk', name])].join(' ')
  throw new AdminError('REFUSED', open.map(({ message }) => message).join('; '), [
    ...open.flatMap(({ proof }) => proof),
    `${command}   # only when you are sure`,
  ])
}

function recordOf(plan: Plan, { by }: RepairSession, { version }: Wish, flags: RepairFlags): RunRecord {
  const startedAt = new Date().toISOString()
  const second = startedAt.replaceAll(/[-:]|\.\d+/g, '')
  return {
    schemaVersion: 1,
    run: `${second}-${plan.repair}-${randomBytes(2).toString('hex')}`,
    program: version,
    by,
    startedAt,
    plan,
    acceptedRisks: flags['accept-risk'] ?? [],
  }
}

function show(plan: Plan, { opened: { deployment, commands } }: RepairSession): void {
  const filled = (command: string): string => fillCommand(command, deployment, commands)
  process.stderr.write(`${planText(plan, screenOf(process.stderr), filled)}\n`)
}

function tellWhere({ run }: RunRecord, onlyHere: string | null): void {
  process.stderr.write(`Run ${run}\n`)
  if (onlyHere !== null) process.stderr.write(`    its journal is on this machine alone: ${onlyHere}\n`)
}
