import { listed } from '../checks/support/format.ts'
import { judgeHolder } from '../checks/support/lock-holder.ts'
import { sortOut } from '../checks/support/lock-row.ts'
import { situationOf, surroundings } from '../checks/support/lock-situation.ts'
import type { Around, Surroundings } from '../checks/support/lock-situation.ts'
import { had } from '../checks/support/wanted.ts'
import type { Wanted } from '../core/check.ts'
import type { Deployment } from '../core/deployment.ts'
import { AdminError } from '../core/error.ts'
import type { Risk, Step } from '../core/plan.ts'
import { defineRepair } from '../core/repair.ts'
import type { Repair } from '../core/repair.ts'
import type { DatabaseSource, ServiceSource, ServiceStatus, Sources } from '../core/sources.ts'
import { startStep, stopStep } from './service-steps.ts'

type Draft = Awaited<ReturnType<Repair['plan']>>
interface Read extends Around {
  service: ServiceSource
  database: Wanted<Sources['database']>
}

/** Stops the service, and leaves it so. */
export const stopTheService = defineRepair({
  id: 'service-stop',
  title: 'stop the service',
  reads: ['service'],
  wants: ['database', 'logs', 'api'],
  async plan(sources, deployment) {
    const seen = await look(sources, deployment)
    if (seen.status.state === 'stopped' && seen.status.startsAgain !== true) return nothingToDo(seen, `the service is stopped: ${seen.status.detail}`)
    return {
      ...drafted(seen, [stopStep(seen.status)]),
      impact: { serviceStops: 1 },
      notes: ['it stays stopped until somebody starts it: testops-admin service start -d {deployment}', ...seen.notes],
      risks: seen.risks,
      verifiedBy: [],
    }
  },
})

/** Starts the service, and waits until it answers. */
export const startTheService = defineRepair({
  id: 'service-start',
  title: 'start the service',
  reads: ['service'],
  wants: ['database', 'logs', 'api'],
  async plan(sources, deployment) {
    const seen = await look(sources, deployment)
    if (seen.status.state === 'running') return nothingToDo(seen, `the service runs: ${seen.status.detail}`)
    return { ...drafted(seen, [startStep()]), impact: { serviceStarts: 1 } }
  },
})

/** Stops the service and starts it again; one that is stopped is started. */
export const restartTheService = defineRepair({
  id: 'service-restart',
  title: 'restart the service',
  reads: ['service'],
  wants: ['database', 'logs', 'api'],
  async plan(sources, deployment) {
    const seen = await look(sources, deployment)
    const isStopped = seen.status.state === 'stopped' && seen.status.startsAgain !== true
    if (isStopped) return { ...drafted(seen, [startStep()]), impact: { serviceStarts: 1 }, notes: ['the service is stopped: it is started', ...seen.notes] }
    return { ...drafted(seen, [stopStep(seen.status), startStep()]), impact: { serviceRestarts: 1 }, notes: seen.notes, risks: seen.risks }
  },
})

interface Seen {
  target: string
  status: ServiceStatus
  /** of stopping it now */
  risks: readonly Risk[]
  notes: readonly string[]
}

async function look({ service, database, logs, api }: Read, deployment: Deployment): Promise<Seen> {
  const status = await service.status()
  const around = await surroundings({ service, logs, api }, deployment)
  const { name, build } = await service.image()
  const machines = around.machines ?? []
  const target = [listed([...machines]), name === null ? '' : `image ${name}`, build === null ? '' : `build ${build}`].filter(Boolean).join(', ')
  const locks = status.state === 'running' ? await migrations(database, around) : { risks: [], notes: [] }
  return { target: target || 'the service', status, ...locks }
}

/**
 * A service that is stopped while it migrates leaves the change-log lock behind, and what it was doing half done. One that tells its
 * health has come through its migration, so that a lock of which nothing is proven is no reason then.
 */
async function migrations(database: Wanted<readonly DatabaseSource[]>, around: Surroundings): Promise<Pick<Seen, 'risks' | 'notes'>> {
  const databases = had(database)
  if (databases === null) {
    const why = database instanceof AdminError ? database.message : 'it is not known'
    return { risks: [], notes: around.answers ? [] : [`whether it migrates is not known, since its database cannot be asked: ${why}`] }
  }
  const found = await Promise.all(databases.map(async (it) => holderAt(it, around)))
  return { risks: found.flatMap(({ risk }) => risk ?? []).slice(0, 1), notes: found.flatMap(({ note }) => note ?? []) }
}

async function holderAt(database: DatabaseSource, around: Surroundings): Promise<{ risk?: Risk; note?: string }> {
  try {
    const tables = await database.changelogLocks()
    const [first, ...others] = tables
    const { row } = first ? sortOut([first, ...others], around.user) : { row: null }
    if (!row?.locked) return {}
    const holding = judgeHolder(await situationOf(database, row, around))
    if (holding.holder === 'dead' || (holding.holder === 'unproven' && around.answers)) return {}
    const who = holding.holder === 'live' ? `the service may be migrating: ${holding.who}` : `the change-log lock at ${database.target} is held, and whether its holder lives is not shown: ${holding.why.join('; ')}`
    return {
      risk: {
        name: 'running-migration',
        message: `${who}. Stopping the service now leaves that lock behind, and the migration half done.`,
        proof: ['wait until it answers; this shows it: testops-admin doctor -d {deployment} --wait'],
      },
    }
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    return { note: `whether it migrates at ${database.target} is not known: ${error.message}` }
  }
}

function drafted({ target, status, notes }: Seen, steps: readonly Step[]): Draft {
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

function nothingToDo(seen: Seen, note: string): Draft {
  return { ...drafted(seen, []), notes: [note], verifiedBy: [] }
}
