import { env } from 'node:process'
import { AdminError } from '../../core/error.ts'
import { redactUrl } from '../../core/secret.ts'
import type { PlatformOptions } from '../platform.ts'
import { findAccess } from './access.ts'
import type { KubernetesSettings } from './settings.ts'

/**
 * Names the cluster and namespace that the settings lead to from this machine, for people; null if they lead nowhere.
 * Does not ask the cluster.
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
