import { AdminError } from '../../core/error.ts'
import { command, sentence } from '../../core/shell-command.ts'
import type { ServiceImage } from '../../core/sources.ts'
import { chartContainer, chartLabel } from '../../knowledge/chart.ts'
import { images } from '../../knowledge/images.ts'
import { parseBuild } from '../../knowledge/builds.ts'
import type { KubernetesSettings } from './access.ts'
import type { KubernetesClient } from './client.ts'
import type { Container, PodSpec, Workload } from './objects.ts'
import { isRefusal } from './refusal.ts'

/** Returns the name and tag of `registry:5000/repository/name:tag@digest`. */
function partsOf(image: string): { name: string; tag: string | null } {
  const last = image.split('@')[0]?.split('/').at(-1) ?? ''
  const [name = '', tag] = last.split(':')
  return { name, tag: tag || null }
}

/** Returns the last part of an image's name, without registry, tag and digest. */
export function imageNameIn(image: string): string {
  return partsOf(image).name
}

/** Finds the container that runs one of the service's images (SPEC.md 1), whatever its own name; null if none does. */
function imagedContainer({ containers }: Pick<PodSpec, 'containers'>): Container | null {
  const names: readonly string[] = Object.values(images)
  return containers.find(({ image = '' }) => names.includes(partsOf(image).name)) ?? null
}

/** Returns `imagedContainer`, else the one with the chart's name: a private registry may rename the image. */
export function namedContainer(spec: Pick<PodSpec, 'containers'>): Container | null {
  return imagedContainer(spec) ?? spec.containers.find(({ name }) => chartContainer.test(name)) ?? null
}

/**
 * Returns the service's container in a pod of the service: as `namedContainer`, else the only one. Null if it cannot be
 * told which it is.
 */
export function serviceContainer(spec: Pick<PodSpec, 'containers'>): Container | null {
  return namedContainer(spec) ?? (spec.containers.length === 1 ? spec.containers[0]! : null)
}

export function imageOf({ image = '' }: Container, declaredIn: string): ServiceImage {
  const { name, tag } = partsOf(image)
  return { name: name || null, tag, build: tag === null ? null : (parseBuild(tag)?.label ?? null), declaredIn }
}

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
  return only(found, client, `all namespaces (the context's namespace \`${first}\` has no match)`)
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
    `workload \`${name}\` has ${names.length} containers. Cannot tell which one is the service: ${names.join(', ')}`,
    [sentence`rename the service's container to ${name}, as in the chart, or to another name that ends in testops`],
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
    why: `${placeOf(first)} of ${client.cluster} runs image ${first.container.image} and is the only match in ${where}`,
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
    return command`kubernetes: {namespace: ${namespace}, release: ${isOne ? release : name}}   # ${name}, image
      ${container.image ?? ''}`
  })
  const names = all.map(placeOf).join(' and ')
  return new AdminError(
    'CONFIGURATION',
    `the service was found ${all.length} times in ${client.cluster}, in ${where}: ${names}. Set the right one ` +
      'in the configuration',
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
  const which = release === null ? '' : ` of release \`${release}\``
  const named = workload === undefined ? `with an image named ${names.join(' or ')}` : `named \`${workload}\``
  const more = refused === null ? '' : `. Other namespaces were not searched: ${refused.message}`
  const seen = others.length === 0 ? '' : `. Found instead: ${others.map(placeOf).join(', ')}`
  return new AdminError(
    refused === null || refused.code === 'FORBIDDEN' ? 'UNAVAILABLE' : refused.code,
    `${client.cluster} has no Deployment or StatefulSet${which} ${named} in ${where}${seen}${more}`,
    [
      'set `kubernetes.namespace`, or `kubernetes.context` for another cluster',
      ...(workload === undefined && others.length === 0
        ? ['if the image was renamed, set `kubernetes.workload` to the name of the Deployment or StatefulSet' as const]
        : []),
      client.kubectl('get', 'deployments,statefulsets', '--all-namespaces', '-o', 'wide'),
      ...(refused?.suggestions ?? []),
      'kubectl config get-contexts',
    ],
    { cause: refused ?? undefined },
  )
}

/**
 * Milliseconds for which a service counts as it was when it was found: an operator who chooses among several may take
 * longer.
 */
const lifeMs = 500

/** A service in a cluster as it was found, and the client that found it. */
export class SeenService {
  private readonly until: number

  constructor(
    readonly client: KubernetesClient,
    private readonly service: FoundService,
    at: number,
  ) {
    this.until = at + lifeMs
  }

  /** Returns the service as it was found; null if that is too long ago */
  get fresh(): FoundService | null {
    return performance.now() < this.until ? this.service : null
  }
}
