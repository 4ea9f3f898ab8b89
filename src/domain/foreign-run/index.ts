import { AdminError } from '../../core/error.ts'
import { fileOf, risksOf } from '../../core/plan.ts'
import type { RunHistory } from '../../core/run.ts'
import type { Comparison } from './comparison.ts'
import { unfitSteps } from './order.ts'
import { unfitLocks } from './locks.ts'
import { unfitNotes } from './notes.ts'
import { unfitQueues } from './queues.ts'
import { unfitRest } from './rest.ts'
import { unfitSettings } from './settings.ts'

/** How a record differs from what a repair of this deployment writes. Empty: it fits. */
export interface Misfits {
  /** sentences for people; they may quote the record */
  unfit: readonly string[]
  /** why a part could not be compared */
  untold: AdminError | null
}

/** the most differences that are listed */
const mostTold = 5

/**
 * Compares a record in the deployment with what this repair could have written there at any stage of a run: kinds of
 * steps and their order, settings and values, queues, bindings, rows, files, notes (DESIGN.md 6.6). Anybody who may
 * write to the broker could have made it up, so what cannot be explained does not fit. Changes nothing.
 */
export async function misfitsOf(history: RunHistory, comparison: Comparison): Promise<Misfits> {
  const { record, events } = history
  const { plan, run, startedAt } = record
  const { repair } = plan
  const named = run.startsWith(`${startedAt.replaceAll(/[-:]|\.\d+/g, '')}-${repair}-`)
  const alone = [
    ...(named ? [] : [`its name does not fit a ${repair} that began at ${startedAt}`]),
    ...(fileOf(plan) ? ['it changes a file on another machine'] : []),
    ...plan.risks
      .filter(({ name }) => !risksOf[repair].includes(name))
      .map(({ name }) => `a ${repair} has no risk ${JSON.stringify(name)}`),
    ...unfitSteps(plan),
    ...unfitNotes(plan, events),
  ]
  // a record without the form of this repair is not compared with the deployment
  if (alone.length > 0) return { unfit: alone.slice(0, mostTold), untold: null }
  try {
    const judged: string[] = []
    for (const unfit of [unfitLocks, unfitQueues, unfitSettings, unfitRest])
      judged.push(...(await unfit(history, comparison)))
    return { unfit: judged.slice(0, mostTold), untold: null }
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return { unfit: [], untold: error }
    throw error
  }
}
