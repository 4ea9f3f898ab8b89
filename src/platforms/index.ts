import { AdminError } from '../core/error.ts'
import type { PlatformName } from '../core/deployment.ts'
import { openHost } from './host/index.ts'
import type { HostOptions, HostSettings } from './host/index.ts'
import type { Platform } from './platform.ts'

export type { Platform } from './platform.ts'
export { readMachine } from './host/machine.ts'
export type { Command, HostSettings } from './host/index.ts'

/** Opens the platform of a deployment. Nothing is asked yet. */
export function openPlatform(name: PlatformName, host: HostSettings, options: HostOptions): Platform {
  return name === 'host' ? openHost(host, options) : unread(name)
}

/** A platform whose services this version does not read: what the configuration says of the deployment is all there is. */
function unread(name: PlatformName): Platform {
  const refuse = async (): Promise<never> => {
    throw new AdminError('NOT_CONFIGURED', `this version reads the service on platform \`host\` only, not on \`${name}\``)
  }
  return { commands: null, service: refuse, environment: refuse, log: refuse, control: refuse }
}
