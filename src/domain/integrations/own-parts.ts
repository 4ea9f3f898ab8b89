import type { ServiceSource } from '../../core/sources.ts'
import { springSettings } from '../../knowledge/settings.ts'
import { tolerant } from '../wanted.ts'

/** Returns the hosts of the service's own parts, which have checks of their own. */
export async function ownParts(service: ServiceSource): Promise<ReadonlySet<string>> {
  const environment = await tolerant(service.environment())
  const { datasourceUrl, rabbitAddresses, rabbitHost, redisHost } = springSettings
  const addresses = [datasourceUrl, rabbitAddresses, rabbitHost, redisHost].map((name) => environment?.get(name))
  const texts = addresses.filter((value) => typeof value === 'string')
  return new Set(texts.flatMap((text) => text.toLowerCase().split(/[^a-z0-9._-]+/)))
}
