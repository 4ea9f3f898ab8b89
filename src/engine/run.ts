import type { Workshop } from '../actions/index.ts'
import type { Failpoint } from '../core/failpoint.ts'
import type { Check } from '../core/check.ts'
import type { RunEvent, RunRecord } from '../core/run.ts'
import type { ServiceCommands } from '../core/sources.ts'
import { eventsOfStep, eventsThatCount } from '../core/run-state.ts'
import type { Guard } from './locks.ts'
import type { RunJournal } from './journal.ts'

/** Events known from the deployment alone (`Standing.foreign`). */
export interface Foreign {
  /** Number of these events, which are the last ones */
  events: number
  /** This machine has no record of its own of the run */
  isAdopted: boolean
}

/** A run, new or recorded, and what it works with. */
export interface Run {
  record: RunRecord
  /** Events already on record; empty for a new run */
  events: readonly RunEvent[]
  /** Which events others wrote, as far as this machine knows */
  foreign?: Foreign
  journal: RunJournal
  guard: Pick<Guard, 'assertHeld'>
  workshop: Omit<Workshop, 'failpoint' | 'journal' | 'result' | 'saved' | 'changed'>
  /** user@host */
  by: string
  failpoint: Failpoint
  /**
   * Called as a step, or its undo, begins and ends. `interrupted`: the step was stopped and did not fail by itself (a
   * document counts it as failed)
   */
  onStep: (step: number, status: 'begun' | 'going-back' | 'interrupted' | StepStatus) => void
  /** Checks to verify the run with; only those that its plan names are used */
  checks: readonly Check[]
  /** Ids of problems that other repairs are for: what they cause is no failure of this run */
  others?: readonly string[]
  /** Commands of this platform; null: not known */
  commands: ServiceCommands | null
}

/** `already`: the deployment was already as wanted, and nothing was done. */
export type StepStatus = 'done' | 'already' | 'failed' | 'undone'

/**
 * Returns what one step works with. `within`: prefix of its failpoints; `results`: collects texts for the final report.
 */
export function workshopOf(
  { record: { plan }, events, journal, by, workshop, failpoint }: Run,
  index: number,
  { within = '', results = [] as string[] } = {},
): Workshop {
  const kind = plan.steps[index]?.action.kind ?? ''
  const own = eventsOfStep(events, index)
  return {
    ...workshop,
    result: (text) => void results.push(text),
    changed: plan.steps.flatMap(({ action }) => (action.kind === 'set-setting' ? [action.name] : [])),
    saved: plan.steps.flatMap(({ action }) => (action.kind === 'hold-queues' ? [action.saved] : [])).at(0) ?? null,
    failpoint: async (name) => failpoint(`${kind}:${within}${name}`),
    journal: {
      performed: isPerformed(own),
      isRepeated: events.some((event) => event.event === 'done' && event.step === index && event.already !== true),
      notes: notesIn(own),
      // a refused run is undone at once, so events of this process count too
      ofRun: () => notesIn(eventsThatCount([...new Set([...events, ...journal.written])])),
      keep: async (name, text) => (await journal.keep(name, text)) !== null,
      kept: async (name) => journal.kept(name),
      note: async (text) =>
        journal.append({ at: new Date().toISOString(), by, event: 'noted', step: index, note: text }),
    },
  }
}

/** True if the record says that the step was performed and has not been undone since. */
function isPerformed(events: readonly RunEvent[]): boolean {
  return events.reduce(
    (is, event) => (event.event === 'undone' ? false : is || (event.event === 'done' && !event.already)),
    false,
  )
}

function notesIn(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) => (event.event === 'noted' ? [event.note] : []))
}
