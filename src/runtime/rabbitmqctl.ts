import { dirname } from 'node:path'
import { isOnPath, isThisMachine } from '../adapters/this-machine.ts'
import type { BrokerEndpoint } from '../core/endpoint.ts'
import type { Command } from '../platforms/index.ts'
import type { SelectedDeployment } from './configuration/select.ts'
import type { Environment } from './paths.ts'
import { commandOf, platformOf } from './platform-of.ts'

/** How `rabbitmqctl` is run where the management API cannot be had: as configured, else on this machine where the broker is on it. */
export function rabbitmqctlFor(
  { host }: Pick<BrokerEndpoint, 'host'>,
  selected: SelectedDeployment,
  { environment }: { environment: Environment },
): () => Promise<{ command: Command; environment: Environment } | null> {
  const configured = selected.settings.broker?.rabbitmqctl
  return async () => {
    if (configured) return { command: commandOf(configured, dirname(selected.file)), environment }
    const isHere = platformOf(selected) === 'host' && (await isThisMachine(host))
    return isHere && (await isOnPath('rabbitmqctl', environment['PATH'] ?? '')) ? { command: ['rabbitmqctl'], environment } : null
  }
}
