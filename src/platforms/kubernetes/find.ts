import { AdminError } from '../../core/error.ts'
import { chartLabel } from '../../knowledge/chart.ts'
import { images } from '../../knowledge/images.ts'
import type { KubernetesClient } from './client.ts'
import { imagedContainer, namedContainer, serviceContainer } from './image.ts'
import type { Container, Workload } from './objects.ts'
import { isRefusal } from './refusal.ts'
import type { KubernetesSettings } from './settings.ts'
import { command, sentence } from '../../core/shell-command.ts'

/** What runs the service in a cluster. */
export interface FoundService {
  resource: 'deployments' | 'statefulsets'
  namespace: string
  name: string
  /** The object as it was found */
  workload: Workload
  /** Container of its pods that is the service */
  container: Container
  /** Sentence that says which it is, and why */
  why: string
}

/**
 * Finds the one Deployment or StatefulSet of that name. Without a name: the one whose pods have a container of the
 * service's image, else the one that the chart has labelled. Looks in the configured namespace; else in the context's
 * own, then in all that may be seen. Throws UNAVAILABLE if there is none, CONFIGURATION if there are several, and as
 * the client does: a failed answer never counts as none.
 */
export async function findService(
  client: KubernetesClient,
  settings: Pick<KubernetesSettings, 'namespace' | 'release' | 'workload'>,
): Promise<FoundService> {
  const { namespace, release, workload = null } = settings
  const first = namespace ?? client.namespace
  const near = await candidatesIn(client, first, workload)
  const chosen = ofRelease(near, release)
  if (chosen.length > 0)
    return only(chosen, client, namespace === null ? `the context's namespace \`${first}\`` : `namespace \`${first}\``)
  if (namespace !== null) throw none(near, client, `namespace \`${first}\``, settings)

  const elsewhere = await candidatesIn(client, null, workload).catch((error: unknown) => {
    if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
    throw none(near, client, `namespace \`${first}\``, settings, error)
  })
  const found = ofRelease(elsewhere, release)
  if (found.length === 0) throw none(elsewhere, client, 'any namespace', settings)
  return only(found, client, `all namespaces (the context's own, \`${first}\`, has none)`)
}

/** A workload that may be the service, before it is known to be the only one. */
export type Candidate = Omit<FoundService, 'why'>

/**
 * Lists the workloads of that name, else those with an image of the service, else those that the chart has labelled.
 * Throws as the client does if a kind cannot be listed, except 403 and 404 if the other kind has some; CONFIGURATION if
 * the container cannot be told.
 */
export async function candidatesIn(
  client: KubernetesClient,
  namespace: string | null,
  name: string | null = null,
): Promise<Candidate[]> {
  const all = await workloadsIn(client, namespace, name)
  const imaged = all.filter(({ workload }) => imagedContainer(workload.spec.template.spec) !== null)
  return name !== null || imaged.length === 0 ? all : imaged
}

async function workloadsIn(
  client: KubernetesClient,
  namespace: string | null,
  wanted: string | null,
): Promise<Candidate[]> {
  const lists = await Promise.allSettled(
    (['deployments', 'statefulsets'] as const).map(async (resource) => {
      const found: Candidate[] = []
      // a cluster may have thousands of other workloads
      for await (const all of client.pages<Workload>({ resource, namespace }))
        found.push(...all.flatMap((workload) => candidateFrom(resource, workload, { namespace, wanted })))
      return found
    }),
  )
  const found = lists.flatMap((it) => (it.status === 'fulfilled' ? it.value : []))
  const failures = lists.flatMap((it): unknown[] => (it.status === 'rejected' ? [it.reason] : []))
  // a user who may see only one kind, and finds the service there, needs no more
  const grave = found.length === 0 ? failures : failures.filter((it) => !isRefusal(it, 403) && !isRefusal(it, 404))
  if (grave.length > 0) throw grave[0]
  return found
}

function candidateFrom(
  resource: Candidate['resource'],
  workload: Workload,
  { namespace, wanted }: { namespace: string | null; wanted: string | null },
): Candidate[] {
  const container = containerOf(workload, wanted)
  const { name, namespace: its = namespace ?? '' } = workload.metadata
  return container ? [{ resource, namespace: its, name, workload, container }] : []
}

/**
 * Returns the container that is the service; null if the workload is not the service. Throws CONFIGURATION if the
 * workload has the wanted name, but its container cannot be told.
 */
function containerOf(
  {
    metadata: { name, labels = {} },
    spec: {
      template: { spec },
    },
  }: Workload,
  wanted: string | null,
): Container | null {
  if (wanted === null)
    return imagedContainer(spec) ?? (chartLabel.value.test(labels[chartLabel.name] ?? '') ? namedContainer(spec) : null)
  if (name !== wanted) return null
  const container = serviceContainer(spec)
  if (container !== null) return container
  const names = spec.containers.map((it) => `\`${it.name}\` (image ${it.image ?? 'unknown'})`)
  throw new AdminError(
    'CONFIGURATION',
    `${name} has ${names.length} containers, but none can be recognized as the service: ${names.join(', ')}`,
    [sentence`name the service's container ${name} as the chart does, or give it another name that ends in testops`],
  )
}

function ofRelease(all: readonly Candidate[], release: string | null): readonly Candidate[] {
  if (release === null) return all
  const named = all.filter(({ workload }) => releaseOf(workload) === release)
  return named.length > 0 ? named : all.filter(({ name }) => name === release)
}

/** Returns the release as Helm notes it, else as charts label it; null if nothing names one. */
export function releaseOf({ metadata: { annotations = {}, labels = {} } }: Workload): string | null {
  return annotations['meta.helm.sh/release-name'] ?? labels['release'] ?? labels['app.kubernetes.io/instance'] ?? null
}

export function only([first, ...others]: readonly Candidate[], client: KubernetesClient, where: string): FoundService {
  if (!first) throw new TypeError('there is no candidate')
  if (others.length > 0) throw several([first, ...others], client, where)
  return {
    ...first,
    why: `${placeOf(first)} of ${client.cluster} runs image ${first.container.image}, the only one in ${where}`,
  }
}

/** Describes a workload for people: `Deployment testops-testops in namespace testops`. */
export function placeOf({ resource, namespace, name }: Pick<FoundService, 'resource' | 'namespace' | 'name'>): string {
  return `${resource === 'deployments' ? 'Deployment' : 'StatefulSet'} \`${name}\` in namespace \`${namespace}\``
}

function several(all: readonly Candidate[], client: KubernetesClient, where: string): AdminError {
  const releases = all.map(({ workload, namespace }) => `${namespace}/${releaseOf(workload)}`)
  const suggestions = all.map(({ namespace, name, workload, container }) => {
    const release = releaseOf(workload)
    const isOne = release !== null && releases.filter((it) => it === `${namespace}/${release}`).length === 1
    return command`kubernetes: {namespace: ${namespace}, release: ${isOne ? release : name}}   # ${name}, image ${container.image ?? ''}`
  })
  const names = all.map(placeOf).join(' and ')
  return new AdminError(
    'CONFIGURATION',
    `the service was found ${all.length} times in ${client.cluster}, in ${where}: ${names}. Name the right one in the configuration`,
    suggestions,
  )
}

function none(
  others: readonly Candidate[],
  client: KubernetesClient,
  where: string,
  { release, workload }: Pick<KubernetesSettings, 'release' | 'workload'>,
  refused: AdminError | null = null,
): AdminError {
  const names = Object.values(images).map((name) => `\`${name}\``)
  const what = `no Deployment or StatefulSet ${workload === undefined ? `with an image named ${names.join(' or ')}` : `named \`${workload}\``}`
  const which = release === null ? '' : ` and release \`${release}\``
  const more = refused === null ? '' : `; other namespaces were not searched: ${refused.message}`
  const seen = others.length === 0 ? '' : `; there is ${others.map(placeOf).join(', ')}`
  return new AdminError(
    refused === null || refused.code === 'FORBIDDEN' ? 'UNAVAILABLE' : refused.code,
    `${client.cluster} has ${what}${which} in ${where}${seen}${more}`,
    [
      'set `kubernetes.namespace`, or `kubernetes.context` for another cluster',
      ...(workload === undefined && others.length === 0
        ? ['set `kubernetes.workload` to its name, if its image has a name of your own' as const]
        : []),
      client.kubectl('get', 'deployments,statefulsets', '--all-namespaces', '-o', 'wide'),
      ...(refused?.suggestions ?? []),
      'kubectl config get-contexts',
    ],
    { cause: refused ?? undefined },
  )
}
