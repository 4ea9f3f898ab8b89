import type { ServiceImage } from '../../core/sources.ts'
import { imageOf, serviceContainer } from './image.ts'
import type { Container, Pod, Workload } from './objects.ts'
import { isEnding, isOver, isReady } from './pods.ts'

/** Whether every pod is of what the workload declares now, and ready, as `kubectl rollout status` tells it: a number that is missing is 0. */
export function isRolledOut({ metadata: { generation = 0 }, spec: { replicas = 1 }, status = {} }: Workload): boolean {
  const { observedGeneration = 0, updatedReplicas = 0, readyReplicas = 0, replicas: all = 0 } = status
  return observedGeneration >= generation && updatedReplicas >= replicas && readyReplicas >= replicas && all <= updatedReplicas
}

/** Whether its controller leaves pods as they are, whatever is declared: a Deployment that is paused, a StatefulSet with a partition. */
export function isHeld({ spec: { paused, updateStrategy } }: Workload): boolean {
  return paused === true || (updateStrategy?.rollingUpdate?.partition ?? 0) > 0
}

/**
 * The pods that serve without what the workload declares: another image, or another value of a setting that its template holds itself.
 * What was put into pods besides is left out.
 */
export function staleAmong(pods: readonly Pod[], { spec: { template } }: Workload): readonly Pod[] {
  const declared = serviceContainer(template.spec)
  if (declared === null) return []
  return pods.filter((pod) => isServing(pod) && !carries(serviceContainer(pod.spec), declared))
}

function carries(container: Container | null, declared: Container): boolean {
  if (container === null) return false
  const [its, wanted] = [partsOf(container), partsOf(declared)]
  return its.name === wanted.name && its.tag === wanted.tag && lastValues(declared).every(([name, value]) => valueIn(container, name) === value)
}

/** A registry may be put before an image, and a digest behind it, on the way into a pod. */
function partsOf(container: Container): Pick<ServiceImage, 'name' | 'tag'> {
  return imageOf(container, '')
}

function lastValues(container: Container): [string, string | undefined][] {
  const names = new Set((container.env ?? []).filter(({ valueFrom }) => !valueFrom).map(({ name }) => name))
  return [...names].map((name) => [name, valueIn(container, name)])
}

/** Of several with one name the last counts. */
function valueIn({ env = [] }: Container, name: string): string | undefined {
  const entry = env.findLast((it) => it.name === name)
  return entry && !entry.valueFrom ? (entry.value ?? '') : undefined
}

/** It is ready, and has not been told to end. */
export function isServing(pod: Pod): boolean {
  return isReady(pod) && !isEnding(pod) && !isOver(pod)
}
