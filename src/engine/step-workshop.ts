import type { Workshop } from '../actions/index.ts'
import type { RunEvent } from '../core/run.ts'
import { eventsOfStep, eventsThatCount } from '../core/run-state.ts'
import type { Running } from './running.ts'

/**
 * What one step is worked on with. `within`: how its failpoints begin; `results`: gets what is told once the run is
 * over.
 */
export function workshopOf(
  { plan, events, log, by, workshop, failpoint }: Running,
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
      // a run that is given back at once has on record what this process has written
      ofRun: () => notesIn(eventsThatCount([...new Set([...events, ...log.written])])),
      keep: async (name, text) => (await log.keep(name, text)) !== null,
      kept: async (name) => log.kept(name),
      note: async (text) => log.append({ at: new Date().toISOString(), by, event: 'noted', step: index, note: text }),
    },
  }
}

/** Whether a step's own doing is on record, and was not taken back since. */
function isPerformed(events: readonly RunEvent[]): boolean {
  return events.reduce(
    (is, event) => (event.event === 'undone' ? false : is || (event.event === 'done' && !event.already)),
    false,
  )
}

function notesIn(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) => (event.event === 'noted' ? [event.note] : []))
}
