import { springSettings } from '../../knowledge/settings.ts'
import { overlayOf } from '../changes.ts'
import { waitForPhase } from '../control.ts'
import type { Fault } from '../fault.ts'
import { serversOf } from '../lab.ts'
import { environmentText, serviceEnvironment, serviceMachine } from '../settings.ts'
import { freePort } from '../servers/local/ports.ts'
import { stop } from '../service-control/control.ts'
import { unitIn } from '../service-control/unit.ts'
import { labService } from '../service.ts'
import { writePrivate } from '../servers/private-file.ts'
import { migration, restoreChangelog } from './migration.ts'

export const runningMigration: Fault = {
  id: 'running-migration',
  kind: 'healthy',
  title: 'a newer version migrates the database while the old one still serves',
  repair: 'nothing is to be done',
  cases: [
    {
      variant: null,
      made: 'a second instance of the service, of a newer version and on another host, is started: it migrates and holds the change-log lock',
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      async apply(lab) {
        const servers = await serversOf(lab)
        const overlay = overlayOf(lab.state.faults.map(({ changes }) => changes))
        const port = await freePort()
        const controlPort = await freePort([port])
        const unit = unitIn(lab.layout.secondService)
        const environment = { ...serviceEnvironment(lab, servers, overlay), [springSettings.serverPort]: String(port) }
        await writePrivate(unit.environmentFile, environmentText(environment))
        const machine = { ...serviceMachine(lab, overlay), controlPort, hostName: 'testops-7d9f8c5b6-q8zkn', migration }
        await writePrivate(unit.machineFile, JSON.stringify(machine, null, 2))
        await (await labService(lab, unit.directory)).start({ timeoutMs: 20_000 })
        await waitForPhase(lab, 'migrating', controlPort)
      },
      async revert(lab) {
        await stop(unitIn(lab.layout.secondService)).catch(() => undefined)
        await restoreChangelog(lab)
      },
    },
  ],
}
