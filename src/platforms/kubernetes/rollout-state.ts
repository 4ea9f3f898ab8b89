import { imageOf, serviceContainer } from './image.ts'
import type { Container, Pod, Workload } from './objects.ts'
import { isEnding, isOver, isReady } from './pods.ts'

/** True if the controller has seen the present declaration; until then it may make pods of the one before. */
export function isObserved({
  metadata: { generation = 0 },
  status = {},
}: Pick<Workload, 'status'> & { metadata: { generation?: number } }): boolean {
  return (status.observedGeneration ?? 0) >= generation
}

/**
 * True if every pod is of what the workload declares now, and ready, as `kubectl rollout status` tells it. A missing
 * number counts as 0.
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
 * True if the controller leaves pods as they are, whatever is declared: of a paused Deployment, or a StatefulSet with a
 * partition.
 */
export function isHeld({ spec: { paused, updateStrategy } }: Workload): boolean {
  return paused === true || (updateStrategy?.rollingUpdate?.partition ?? 0) > 0
}

/**
 * Lists what each serving pod lacks of the workload's declaration: `image`, and those of `settings` whose values its
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

/** True for the declared image, also with a registry put before it, or a digest behind or instead of its tag. */
function hasImageOf(container: Container, declared: Container): boolean {
  const [its, wanted] = [imageOf(container, ''), imageOf(declared, '')]
  const isPinned = its.tag === null && container.image?.includes('@') === true
  return its.name === wanted.name && (isPinned || its.tag === wanted.tag)
}

/** True for the declared value, also with words before or behind it, as agents add options of the JVM. */
function hasValueOf(container: Container, declared: Container, name: string): boolean {
  const [its, wanted] = [valueIn(container, name), valueIn(declared, name)]
  if (wanted === undefined || its === wanted) return true
  return its !== undefined && wanted !== '' && (its.startsWith(`${wanted} `) || its.endsWith(` ${wanted}`))
}

/** Returns the value of a variable; of several with one name the last counts. */
function valueIn({ env = [] }: Container, name: string): string | undefined {
  const entry = env.findLast((it) => it.name === name)
  return entry && !entry.valueFrom ? (entry.value ?? '') : undefined
}

/** True if it is ready, and has not been told to end. */
export function isServing(pod: Pod): boolean {
  return isReady(pod) && !isEnding(pod) && !isOver(pod)
}
