import { defineRepair } from '../core/repair.ts'
import type { Step } from '../core/plan.ts'
import type { Repair } from '../core/repair.ts'
import { lookAtService, startStep, stopStep } from './service-steps.ts'
import type { SeenService } from './service-steps.ts'

type Draft = Awaited<ReturnType<Repair['plan']>>

/** The sources that each of these repairs reads. */
const looksAt = { reads: ['service'], wants: ['database', 'logs', 'api'] } as const

/** Stops the service and leaves it stopped. */
export const stopTheService = defineRepair({
  id: 'service-stop',
  title: 'stop the service',
  ...looksAt,
  async plan(sources, deployment) {
    const seen = await lookAtService(sources, deployment, { toStart: false })
    if (seen.status.state === 'stopped' && seen.status.startsAgain !== true)
      return nothingToDo(seen, `the service is already stopped: ${seen.status.detail}`)
    return {
      ...drafted(seen, [stopStep(seen.status)]),
      impact: { serviceStops: 1 },
      notes: [
        'the service stays stopped until somebody starts it: testops-admin service start -d {deployment}',
        ...seen.notes,
      ],
      risks: seen.risks,
      verifiedBy: [],
    }
  },
})

/** Starts the service and waits until it answers. */
export const startTheService = defineRepair({
  id: 'service-start',
  title: 'start the service',
  ...looksAt,
  async plan(sources, deployment) {
    const seen = await lookAtService(sources, deployment, { toStop: false })
    if (seen.status.state === 'running')
      return nothingToDo(seen, `the service is already running: ${seen.status.detail}`)
    return { ...drafted(seen, [startStep()]), impact: { serviceStarts: 1 }, risks: seen.startRisks }
  },
})

/** Stops the service and starts it again; starts a stopped one. */
export const restartTheService = defineRepair({
  id: 'service-restart',
  title: 'restart the service',
  ...looksAt,
  async plan(sources, deployment) {
    const seen = await lookAtService(sources, deployment)
    const isStopped = seen.status.state === 'stopped' && seen.status.startsAgain !== true
    if (isStopped)
      return {
        ...drafted(seen, [startStep()]),
        impact: { serviceStarts: 1 },
        notes: ['the service is already stopped: this repair only starts it', ...seen.notes],
        risks: seen.startRisks,
      }
    return {
      ...drafted(seen, [stopStep(seen.status), startStep()]),
      impact: { serviceRestarts: 1 },
      notes: seen.notes,
      risks: [...seen.risks, ...seen.startRisks],
    }
  },
})

function drafted({ target, status, notes }: SeenService, steps: readonly Step[]): Draft {
  return {
    target: { service: target },
    impact: {},
    evidence: [status.detail],
    notes,
    risks: [],
    steps,
    verifiedBy: ['service/running', 'api/reachable'],
  }
}

function nothingToDo(seen: SeenService, note: string): Draft {
  return { ...drafted(seen, []), notes: [note], verifiedBy: [] }
}
