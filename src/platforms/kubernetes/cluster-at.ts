import { env } from 'node:process'
import { AdminError } from '../../core/error.ts'
import { redactUrl } from '../../core/secret.ts'
import type { PlatformOptions } from '../platform.ts'
import { findAccess } from './access.ts'
import type { KubernetesSettings } from './settings.ts'

/**
 * Which cluster, and which namespace of it, the settings lead to from here, for people; null where they lead nowhere.
 * Asks the cluster nothing.
 */
export async function clusterAt(
  settings: KubernetesSettings,
  { environment = env }: Pick<PlatformOptions, 'environment'>,
): Promise<string | null> {
  try {
    const { cluster, namespace } = await findAccess(settings, environment)
    return `${redactUrl(cluster.server).replace(/(?<!\/)\/+$/, '')}, namespace ${settings.namespace ?? namespace}`
  } catch (error) {
    if (error instanceof AdminError) return null
    throw error
  }
}
