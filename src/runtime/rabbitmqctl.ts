import { dirname } from 'node:path'
import type { CtlCommand } from '../adapters/rabbitmq/ctl/program.ts'
import { isOnPath, isThisMachine } from '../adapters/this-machine.ts'
import type { BrokerEndpoint } from '../core/endpoint.ts'
import type { Platform } from '../platforms/index.ts'
import { commandOf } from './configuration/command.ts'
import type { SelectedDeployment } from './configuration/select.ts'
import type { Environment } from './paths.ts'
import { platformOf } from './configuration/platform-of.ts'

/**
 * How `rabbitmqctl` is run where the management API cannot be had: as configured, else on this machine or in the pod or
 * container where the broker is.
 */
export function rabbitmqctlFor(
  { host, port }: Pick<BrokerEndpoint, 'host' | 'port'>,
  selected: SelectedDeployment,
  { environment, timeoutMs }: { environment: Environment; timeoutMs: number },
  platform: Pick<Platform, 'brokerProgram'>,
): () => Promise<CtlCommand | null> {
  const configured = selected.settings.broker?.rabbitmqctl
  return async () => {
    if (configured) return { command: commandOf(configured, dirname(selected.file)), environment }
    const beside = await platform.brokerProgram?.({ host, port })
    if (beside) return beside
    const isHere = platformOf(selected) === 'host' && (await isThisMachine(host, { timeoutMs }))
    return isHere && (await isOnPath('rabbitmqctl', environment['PATH'] ?? ''))
      ? { command: ['rabbitmqctl'], environment }
      : null
  }
}
