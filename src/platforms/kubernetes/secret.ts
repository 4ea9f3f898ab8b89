import { AdminError } from '../../core/error.ts'
import { suggestNearest } from '../../core/nearest.ts'
import { Secret } from '../../core/secret.ts'
import type { PlatformOptions } from '../platform.ts'
import { openClient } from './client.ts'
import type { Secret as SecretObject } from './objects.ts'
import type { KubernetesSettings } from './settings.ts'
import { own } from '../../core/own.ts'

/**
 * Reads one key of a Secret of the cluster. `reference` is NAME/KEY, in the configured namespace or the context's, or
 * NAMESPACE/NAME/KEY. Throws UNAVAILABLE if it is missing, and as the client does.
 */
export async function readClusterSecret(
  reference: string,
  settings: KubernetesSettings,
  options: PlatformOptions,
): Promise<Secret> {
  const [key = '', name = '', namespace] = reference.split('/').reverse()
  const client = await openClient(settings, options)
  try {
    const place = namespace ?? settings.namespace ?? client.namespace
    const { data = {} } = await client.get<SecretObject>({ resource: 'secrets', namespace: place, name })
    const value = own(data, key)
    if (value !== undefined) return new Secret(Buffer.from(value, 'base64').toString())
    const near = suggestNearest(key, Object.keys(data))
    throw new AdminError(
      'UNAVAILABLE',
      `the Secret \`${name}\` in namespace \`${place}\` of ${client.cluster} has no key \`${key}\``,
      [...(near === undefined ? [] : [near]), client.kubectl('-n', place, 'describe', 'secret', name)],
    )
  } finally {
    client.close()
  }
}
