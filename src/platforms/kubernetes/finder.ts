import { AdminError } from '../../core/error.ts'
import { images } from '../../knowledge/images.ts'
import type { Found, Finder } from '../platform.ts'
import { NoCluster } from './access.ts'
import { openClient } from './client.ts'
import type { KubernetesClient } from './client.ts'
import { candidatesIn, only, placeOf, releaseOf, SeenService } from './find.ts'
import type { Candidate } from './find.ts'
import { isRefusal } from './refusal.ts'

/**
 * Finds Deployments and StatefulSets of the current cluster that run the product: in the context's namespace, else in
 * all that may be seen.
 */
export const findReleases: Finder = async (options) => {
  const client = await openClient({ context: null }, options).catch(unlessInterrupted)
  if (client instanceof AdminError)
    return client instanceof NoCluster ? { found: [], looked: client.message } : failed(client)
  let isKept = false
  try {
    const at = performance.now()
    const near = await candidatesIn(client, client.namespace)
    const all = near.length > 0 ? near : await elsewhere(client)
    const found = all instanceof AdminError ? [] : all.map((it) => foundOf(it, client, all))
    const [first, ...others] = found
    if (options.isKept === true && first && others.length === 0 && !(all instanceof AdminError)) {
      first.seen = new SeenService(client, only(all, client, `namespace \`${all[0]?.namespace}\``), at)
      isKept = true
    }
    const none = `${client.cluster} has no workload with the image \`${images.standard}\` or \`${images.legacy}\` in`
    if (!(all instanceof AdminError)) return { found, looked: `${none} any namespace` }
    return { found, looked: `${none} namespace \`${client.namespace}\`; ${all.message}`, unseen: all.message }
  } catch (error) {
    return failed(unlessInterrupted(error))
  } finally {
    if (!isKept) client.close()
  }
}

/**
 * Returns a failed search. kubectl works on this context: that it is broken, dead, or refuses does not mean that
 * nothing is there.
 */
function failed(failure: AdminError): Awaited<ReturnType<Finder>> {
  const { message, suggestions } = failure
  return { found: [], looked: message, unseen: message, next: suggestions, failure }
}

function unlessInterrupted(error: unknown): AdminError {
  if (error instanceof AdminError && error.code !== 'INTERRUPTED') return error
  throw error
}

/** Searches all namespaces; returns the error if only the context's own may be seen. */
async function elsewhere(client: KubernetesClient): Promise<Candidate[] | AdminError> {
  return candidatesIn(client, null).catch((error: unknown) => {
    if (isRefusal(error, 403)) return error
    throw error
  })
}

function foundOf(it: Candidate, client: KubernetesClient, all: readonly Candidate[]): Found {
  const release = releaseOf(it.workload) ?? it.name
  // workloads of one release are told apart by their own names
  const isOnly =
    all.filter((other) => other.namespace === it.namespace && (releaseOf(other.workload) ?? other.name) === release)
      .length === 1
  const name = isOnly ? release : it.name
  const isEverywhereOne = all.every((other) => other.namespace === it.namespace)
  return {
    name: isEverywhereOne ? name : `${it.namespace}.${name}`,
    what: `${placeOf(it)} of ${client.cluster} (image ${it.container.image})`,
    place: { platform: 'kubernetes', context: client.context, namespace: it.namespace, release: name },
  }
}
