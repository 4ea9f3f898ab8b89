import type { ServiceInstance, ServiceOrigin } from '../../core/sources.ts'
import type { KubernetesClient } from './client.ts'
import type { FoundService } from './find.ts'
import { namedContainer, serviceContainer } from './find.ts'
import type { ContainerStatus, LabelSelector, Pod, Workload } from './objects.ts'

type Place = Pick<FoundService, 'resource' | 'namespace'>

/**
 * Lists all pods of a workload, also those of older replica sets and those that are Terminating. Adds pods that its
 * selector matches, that run the service and have not ended, with any owner.
 */
export async function podsOf(client: KubernetesClient, place: Place, workload: Workload): Promise<readonly Pod[]> {
  const pods = await client.list<Pod>({
    resource: 'pods',
    namespace: place.namespace,
    query: { labelSelector: selectorText(workload.spec.selector) },
  })
  return pods.filter((pod) => isOwnPod(place, workload, pod) || (namedContainer(pod.spec) !== null && !isOver(pod)))
}

/** True if a pod that the selector matches is the workload's own, so that it comes and goes with its replicas. */
export function isOwnPod({ resource }: Pick<Place, 'resource'>, workload: Workload, pod: Pod): boolean {
  return resource === 'statefulsets' ? isOfSet(pod, workload) : isOfDeployment(pod, workload)
}

/** Returns the state of the service's container in a pod; null if the pod has none, or has not reported yet. */
export function statusIn(pod: Pod): ContainerStatus | null {
  const name = serviceContainer(pod.spec)?.name
  return pod.status?.containerStatuses?.find((it) => it.name === name) ?? null
}

/**
 * Lists the pods in which the service is, or may be, a running process. A Terminating pod counts until its end is seen:
 * if its node does not answer, nobody knows (DESIGN.md 6.8).
 */
export function instancesOf(pods: readonly Pod[]): ServiceInstance[] {
  return pods.filter(mayRun).map((pod) => {
    // an in-place restart keeps the pod's name and address
    const startedAt = statusIn(pod)?.state?.running?.startedAt
    return {
      name: pod.metadata.name,
      host: pod.metadata.name,
      pid: null,
      startedAt: startedAt === undefined ? null : new Date(startedAt),
    }
  })
}

/**
 * Returns the addresses of pods that have a network of their own; null if a pod has none. Sidecars, `kubectl debug` and
 * `kubectl exec` share it, and nothing shows the last.
 */
export function originsOf(pods: readonly Pod[]): readonly ServiceOrigin[] | null {
  const all = pods.filter(mayRun)
  // others use the node's network, too
  if (all.some(({ spec }) => spec.hostNetwork === true)) return null
  return all.flatMap(({ metadata: { name: instance }, status }) => {
    const addresses = new Set(
      [status?.podIP, ...(status?.podIPs ?? []).map(({ ip }) => ip)].flatMap((ip) => (ip ? [ip.toLowerCase()] : [])),
    )
    return [...addresses].map((address) => ({ instance, address, port: null, to: null, shared: true as const }))
  })
}

/**
 * True if a pod of that name is, or was, one of the workload's. A Deployment gives each name once, a StatefulSet to one
 * pod at a time.
 */
export function isPodOf({ resource, name }: { resource: string; name: string }, pod: string): boolean {
  if (!pod.startsWith(`${name}-`)) return false
  const rest = pod.slice(name.length + 1)
  // Kubernetes leaves out characters that could form words (k8s.io/apimachinery, "rand")
  if (resource === 'deployments')
    return /^[bcdfghjklmnpqrstvwxz2456789]{6,10}-[bcdfghjklmnpqrstvwxz2456789]{5}$/.test(rest)
  return resource === 'statefulsets' && /^\d{1,5}$/.test(rest)
}

/** True if something of the service's runs in it, or may run. */
function mayRun(pod: Pod): boolean {
  if (isOver(pod)) return false
  return isEnding(pod) || statusIn(pod)?.state?.running !== undefined
}

/**
 * True if no container of it runs any more, of whatever kind: a migration may run in an init container, or beside the
 * service.
 */
export function hasEnded(pod: Pod): boolean {
  const {
    phase,
    containerStatuses = [],
    initContainerStatuses = [],
    ephemeralContainerStatuses = [],
  } = pod.status ?? {}
  if (phase === 'Succeeded' || phase === 'Failed') return true
  const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]
  // if its node does not answer, its last report is out of date
  return all.length > 0 && all.every(({ state }) => state?.running === undefined) && (!isEnding(pod) || isOver(pod))
}

/** True if the service's container runs in it, so that programs can be run beside it. */
export function canRun(pod: Pod): boolean {
  return !isEnding(pod) && statusIn(pod)?.state?.running !== undefined
}

/**
 * True if the service will not run in it any more: the pod has ended, or its container has, and nothing restarts it.
 */
export function isOver(pod: Pod): boolean {
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return true
  return isEnding(pod) && statusIn(pod)?.state?.terminated !== undefined
}

export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: it }) => type === 'Ready' && it === 'True') === true
}

/** True if the pod is being deleted. */
export function isEnding({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined
}

function isOfSet({ metadata }: Pod, workload: Workload): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === workload.metadata.uid) === true
}

/** True if its replica set is named after the workload and the hash that its pods are labelled with. */
function isOfDeployment({ metadata: { labels = {}, ownerReferences = [] } }: Pod, workload: Workload): boolean {
  const hash = labels['pod-template-hash']
  return ownerReferences.some(({ kind, name }) => kind === 'ReplicaSet' && name === `${workload.metadata.name}-${hash}`)
}

export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const equal = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`)
  const others = matchExpressions.map(({ key, operator, values = [] }) => {
    switch (operator) {
      case 'Exists':
        return key
      case 'DoesNotExist':
        return `!${key}`
      default:
        return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`
    }
  })
  return [...equal, ...others].join(',')
}
