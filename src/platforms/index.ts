import { AdminError } from '../core/error.ts'
import type { PlatformName } from '../core/deployment.ts'
import { openHost } from './host/index.ts'
import type { HostSettings } from './host/index.ts'
import type { Platform, PlatformOptions } from './platform.ts'

export type { Platform, PlatformOptions } from './platform.ts'
export { readMachine } from './host/machine.ts'
export type { Command, HostSettings } from './host/index.ts'

/** Where a deployment runs, as far as it is described. */
export type PlatformSettings = { platform: 'host'; host: HostSettings } | { platform: 'compose' } | { platform: 'kubernetes' }

/** Opens the platform of a deployment. Nothing is asked yet. */
export async function openPlatform(settings: PlatformSettings, options: PlatformOptions): Promise<Platform> {
  return settings.platform === 'host' ? openHost(settings.host, options) : unread(settings.platform)
}

/** A platform whose services this version does not read: what the configuration says of the deployment is all there is. */
function unread(name: PlatformName): Platform {
  const refuse = async (): Promise<never> => {
    throw new AdminError('NOT_CONFIGURED', `this version reads the service on platform \`host\` only, not on \`${name}\``)
  }
  const none = async (): Promise<null> => null
  return { commands: null, service: refuse, environment: refuse, log: refuse, control: refuse, reach: none, lock: none, close: async () => undefined }
}
