import { dirname } from 'node:path'
import type { CtlCommand } from '../../adapters/rabbitmq/ctl/program.ts'
import { isOnPath, isThisMachine } from '../../adapters/network.ts'
import type { BrokerEndpoint } from '../../core/endpoint.ts'
import type { LockOwner } from '../../core/lock.ts'
import type { Platform } from '../../platforms/index.ts'
import { commandOf } from '../configuration/validate.ts'
import { platformOf } from '../configuration/platform-of.ts'
import type { SelectedDeployment } from '../configuration/select.ts'
import { brokerEndpoint } from '../endpoints/broker.ts'
import { toldByLogin } from '../endpoints/context.ts'
import type { Environment } from '../paths.ts'
import type { PartContext } from './part.ts'

/** RabbitMQ: its queues, and what this program keeps in it. */
export function brokerPart({ through, selected, platform, options }: PartContext) {
  const { timeoutMs } = options
  const asking = (endpoint: BrokerEndpoint) => ({
    timeoutMs,
    rabbitmqctl: rabbitmqctlFor(endpoint, selected, options, platform),
  })
  return {
    source: through(async (context) => {
      const endpoint = await brokerEndpoint(context)
      const { openBroker } = await import('../../adapters/rabbitmq/index.ts')
      return toldByLogin(endpoint.login, openBroker(endpoint, asking(endpoint)))
    }),
    control: through(async (context) => {
      const endpoint = await brokerEndpoint(context)
      const { openBrokerControl } = await import('../../adapters/rabbitmq/control/index.ts')
      return openBrokerControl(endpoint, { timeoutMs })
    }),
    /** Journals of repairs */
    runs: through(async (context) => {
      const endpoint = await brokerEndpoint(context)
      const { openRunStore } = await import('../../adapters/rabbitmq/run-store.ts')
      return openRunStore(endpoint, asking(endpoint))
    }),
    /** `isOnlyShared`: true if no other lock keeps operators of other machines out */
    lock: (own: LockOwner, isOnlyShared: boolean) =>
      through(async (context) => {
        const endpoint = await brokerEndpoint(context)
        const { openBrokerLock } = await import('../../adapters/rabbitmq/repair-lock.ts')
        return openBrokerLock(endpoint, own, { ...asking(endpoint), isOnlyShared })
      }),
  }
}

/**
 * Returns how `rabbitmqctl` is run if the management API is unavailable: as configured, otherwise in the broker's pod
 * or container, otherwise on this machine. Null if it is in none of these.
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
