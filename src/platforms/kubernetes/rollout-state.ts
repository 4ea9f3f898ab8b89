import { imageOf, serviceContainer } from './image.ts'
import type { Container, Pod, Workload } from './objects.ts'
import { isEnding, isOver, isReady } from './pods.ts'

/** Whether its controller has seen what is declared now: until then it may make pods of what was declared before. */
export function isObserved({
  metadata: { generation = 0 },
  status = {},
}: Pick<Workload, 'status'> & { metadata: { generation?: number } }): boolean {
  return (status.observedGeneration ?? 0) >= generation
}

/**
 * Whether every pod is of what the workload declares now, and ready, as `kubectl rollout status` tells it: a number
 * that is missing is 0.
 */
export function isRolledOut(workload: Workload): boolean {
  const {
    spec: { replicas = 1 },
    status = {},
  } = workload
  const { updatedReplicas = 0, readyReplicas = 0, replicas: all = 0 } = status
  return isObserved(workload) && updatedReplicas >= replicas && readyReplicas >= replicas && all <= updatedReplicas
}

/**
 * Whether its controller leaves pods as they are, whatever is declared: a Deployment that is paused, a StatefulSet with
 * a partition.
 */
export function isHeld({ spec: { paused, updateStrategy } }: Workload): boolean {
  return paused === true || (updateStrategy?.rollingUpdate?.partition ?? 0) > 0
}

/**
 * What each pod that serves lacks of what the workload declares: `image`, and those of `settings` whose values its
 * template holds itself. All else may have been changed on its way into the pod (admission webhooks), whatever this
 * program does.
 */
export function lackingAmong(
  pods: readonly Pod[],
  { spec: { template } }: Workload,
  settings: readonly string[],
): readonly { pod: string; lacks: readonly string[] }[] {
  const declared = serviceContainer(template.spec)
  if (declared === null) return []
  return pods.filter(isServing).flatMap((pod) => {
    const container = serviceContainer(pod.spec)
    const lacks =
      container === null
        ? ['image']
        : [
            ...(hasImageOf(container, declared) ? [] : ['image']),
            ...settings.filter((name) => !hasValueOf(container, declared, name)),
          ]
    return lacks.length === 0 ? [] : [{ pod: pod.metadata.name, lacks }]
  })
}

/** On the way into a pod a registry may be put before an image, and a digest behind its tag or in place of it. */
function hasImageOf(container: Container, declared: Container): boolean {
  const [its, wanted] = [imageOf(container, ''), imageOf(declared, '')]
  const isPinned = its.tag === null && container.image?.includes('@') === true
  return its.name === wanted.name && (isPinned || its.tag === wanted.tag)
}

/** More words may have been put before it or behind it, as agents do with options of the JVM. */
function hasValueOf(container: Container, declared: Container, name: string): boolean {
  const [its, wanted] = [valueIn(container, name), valueIn(declared, name)]
  if (wanted === undefined || its === wanted) return true
  return its !== undefined && wanted !== '' && (its.startsWith(`${wanted} `) || its.endsWith(` ${wanted}`))
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
