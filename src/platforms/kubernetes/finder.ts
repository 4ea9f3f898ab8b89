import { images } from '../../knowledge/images.ts'
import type { Found, Finder } from '../found.ts'
import { openClient } from './client.ts'
import type { KubernetesClient } from './client.ts'
import { candidatesIn, placeOf, releaseOf } from './find.ts'
import type { Candidate } from './find.ts'
import { isRefusal } from './refusal.ts'

/** Deployments and StatefulSets of the current cluster that run the product: in the context's namespace, else in all that may be seen. */
export const findReleases: Finder = async (options) => {
  const client = await openClient({ context: null }, options)
  try {
    const near = await candidatesIn(client, client.namespace)
    const all = near.length > 0 ? near : await elsewhere(client)
    const where = all === null ? `namespace ${client.namespace}` : 'any namespace'
    return { found: (all ?? []).map((it) => foundOf(it, client, all ?? [])), looked: `${client.cluster} shows no image ${images.standard} or ${images.legacy} in ${where}` }
  } finally {
    client.close()
  }
}

/** Null where only the context's own namespace may be seen. */
async function elsewhere(client: KubernetesClient): Promise<Candidate[] | null> {
  return candidatesIn(client, null).catch((error: unknown) => {
    if (isRefusal(error, 403)) return null
    throw error
  })
}

function foundOf(it: Candidate, client: KubernetesClient, all: readonly Candidate[]): Found {
  const release = releaseOf(it.workload) ?? it.name
  // two of one release are told apart by their own names
  const isOnly = all.filter((other) => other.namespace === it.namespace && (releaseOf(other.workload) ?? other.name) === release).length === 1
  const name = isOnly ? release : it.name
  const isEverywhereOne = all.every((other) => other.namespace === it.namespace)
  return {
    name: isEverywhereOne ? name : `${it.namespace}.${name}`,
    what: `${placeOf(it)} of ${client.cluster} (image ${it.container.image})`,
    place: { platform: 'kubernetes', context: client.context, namespace: it.namespace, release: name },
  }
}
