import type { PlatformName } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import type { DeploymentSettings } from './schema.ts'

const sections = ['host', 'compose', 'kubernetes'] as const

/**
 * Returns the possible platforms of a deployment by its configuration: the one it names, otherwise those with a
 * section, otherwise this machine.
 */
export function possiblePlatforms(settings: DeploymentSettings): readonly [PlatformName, ...PlatformName[]] {
  if (settings.platform) return [settings.platform]
  const [first = 'host', ...others] = sections.filter((section) => settings[section] !== undefined)
  return [first, ...others]
}

/** Keys that only some platforms use: the others find these values themselves. */
const keysOf = { build: ['host', 'compose'], image: ['host'], cpuinfo: ['host', 'compose'] } as const satisfies Partial<
  Record<keyof DeploymentSettings, readonly PlatformName[]>
>

/** Throws CONFIGURATION for a key that the deployment's platform would ignore. */
export function assertKeysCount(
  name: string,
  settings: DeploymentSettings,
  at: (path: readonly string[]) => string,
): void {
  const [platform, ...others] = possiblePlatforms(settings)
  if (others.length > 0) return
  for (const [key, platforms] of Object.entries(keysOf)) {
    if (settings[key as keyof typeof keysOf] === undefined || (platforms as readonly PlatformName[]).includes(platform))
      continue
    throw new AdminError(
      'CONFIGURATION',
      `\`${key}\` at ${at(['deployments', name, key])} has no meaning on platform ${platform}, only on ${platforms.join(' and ')}`,
      ['leave the key out'],
    )
  }
}
