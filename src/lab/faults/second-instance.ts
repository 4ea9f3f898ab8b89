import { springSettings } from '../../knowledge/settings.ts'
import { overlayOf } from '../changes.ts'
import { waitForPhase } from '../control.ts'
import { serversOf } from '../lab.ts'
import type { Lab } from '../lab.ts'
import type { PracticeMachine } from '../practice-service/machine.ts'
import { environmentText, serviceEnvironment, serviceMachine } from '../settings.ts'
import { freePort } from '../servers/local/ports.ts'
import { stop } from '../service-control/control.ts'
import { unitIn } from '../service-control/unit.ts'
import { labService } from '../service.ts'
import { writePrivate } from '../servers/private-file.ts'
import { migration } from './migration.ts'

/** Starts a second instance of a newer version on another host. Returns once it migrates and holds the lock. */
export async function migrateElsewhere(lab: Lab, machine: Partial<PracticeMachine> = {}): Promise<void> {
  const servers = await serversOf(lab)
  const overlay = overlayOf(lab.state.faults.map(({ changes }) => changes))
  const unit = unitIn(lab.layout.secondService)
  const port = await freePort(unit.directory)
  const controlPort = await freePort(unit.directory)
  const environment = { ...serviceEnvironment(lab, servers, overlay), [springSettings.serverPort]: String(port) }
  await writePrivate(unit.environmentFile, environmentText(environment))
  const second = {
    ...serviceMachine(lab, overlay),
    controlPort,
    hostName: 'testops-7d9f8c5b6-q8zkn',
    migration,
    ...machine,
  }
  await writePrivate(unit.machineFile, JSON.stringify(second, null, 2))
  await (await labService(lab, unit.directory)).start({ timeoutMs: 20_000 })
  await waitForPhase(lab, 'migrating', controlPort)
}

/** Stops the second instance. Harmless if there is none. */
export async function stopElsewhere(lab: Pick<Lab, 'layout'>): Promise<void> {
  await stop(unitIn(lab.layout.secondService)).catch(() => undefined)
}
