import { deleteTopology } from '../access/broker.ts'
import { waitForBroker } from '../control.ts'
import { defaultVendor, settingNames } from '../../knowledge/settings.ts'
import type { Changes } from '../changes.ts'
import type { Lab } from '../lab.ts'
import { restartLabService, stopLabService, waitUntilServing } from '../service.ts'

const { rabbitDurable } = settingNames(defaultVendor)

/** Removes the setting. The service asks for transient queues by default. */
export const durableUnset: Changes = { environment: { [rabbitDurable]: null } }
export const durableFalse: Changes = { environment: { [rabbitDurable]: 'false' } }

/** Starts the service on a broker without its queues. Waits until it has declared them or was refused. */
export async function declareAnew(lab: Lab, passing: Changes, broker: 'up' | 'down'): Promise<void> {
  await stopLabService(lab)
  await deleteTopology(lab)
  await startAgain(lab, passing, broker)
}

export async function startAgain(lab: Lab, passing: Changes, broker: 'up' | 'down'): Promise<void> {
  await restartLabService(lab, passing)
  await waitUntilServing(lab)
  await waitForBroker(lab, broker)
}
