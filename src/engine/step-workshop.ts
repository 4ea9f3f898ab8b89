import type { Workshop } from '../actions/index.ts'
import type { RunEvent } from '../core/run.ts'
import type { Running } from './running.ts'

/** What one step is worked on with. `within`: how its failpoints begin. */
export function workshopOf({ plan, events, log, by, workshop, failpoint }: Running, index: number, within = ''): Workshop {
  const kind = plan.steps[index]?.action.kind ?? ''
  const own = events.filter((event) => 'step' in event && event.step === index)
  return {
    ...workshop,
    failpoint: async (name) => failpoint(`${kind}:${within}${name}`),
    journal: {
      performed: isPerformed(own),
      notes: own.flatMap((event) => (event.event === 'noted' ? [event.note] : [])),
      note: async (text) => log.append({ at: new Date().toISOString(), by, event: 'noted', step: index, note: text }),
    },
  }
}

/** Whether a step's own doing is on record, and was not taken back since. */
function isPerformed(events: readonly RunEvent[]): boolean {
  return events.reduce((is, event) => (event.event === 'undone' ? false : is || (event.event === 'done' && !event.already)), false)
}
