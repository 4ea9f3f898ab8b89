import { oneLine } from '../../adapters/failure.ts'
import { moment } from '../../core/format.ts'
import type { InstanceOwner, ServiceStatus } from '../../core/sources.ts'
import { imageOf, serviceContainer } from './find.ts'
import type { Container, ContainerStatus, Pod, Terminated, Workload } from './objects.ts'
import { instancesOf, isEnding, isOver, isReady, statusIn } from './pods.ts'

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

/** Returns, for people, what keeps the rollout of such a workload from replacing all pods. */
export function holdIn({ spec: { paused } }: Workload): string {
  return paused === true ? 'paused' : 'held back by its `partition`'
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

/** Annotation of the workload for the replicas that it had when it was stopped: another machine may start it. */
export const replicasAnnotation = 'testops-admin/replicas'

/** Reads a number of replicas from that annotation or from a note; null if it holds none. */
export function replicasIn(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,3}$/.test(text) ? Number(text) : null
}

/**
 * Returns the status of a workload and its pods. `refusal`: why the cluster makes no pods of it; null if it makes them.
 * `ownedByOthers`: the owners of those of `pods` that are not its own.
 */
export function statusOf(
  workload: Workload,
  pods: readonly Pod[],
  refusal: string | null,
  ownedByOthers: readonly InstanceOwner[] = [],
): ServiceStatus {
  const wanted = workload.spec.replicas ?? 1
  const instances = instancesOf(pods)
  const foreign = new Set(ownedByOthers.flatMap((it) => it.instances))
  const own = pods.filter(({ metadata }) => !foreign.has(metadata.name))
  const ending = own.filter(isEnding).length
  const problems = pods.flatMap((pod) => problemOf(pod) ?? [])
  // a pod that waits for a restart may run in a moment, until it has been told to end and has ended
  const state =
    wanted === 0 && foreign.size === 0
      ? pods.every(isOver)
        ? 'stopped'
        : 'running'
      : isFailing(pods)
        ? 'failed'
        : 'running'
  const detail = [
    wanted === 0 ? 'scaled to 0' : `${own.filter(isUp).length} of ${wanted} replicas ready`,
    ...ownedByOthers.map(
      ({ name, instances: its }) =>
        `${pods.filter((pod) => its.includes(pod.metadata.name) && isUp(pod)).length} of ${its.length} pods of ` +
        `${name} ready`,
    ),
    ending > 0 ? `${ending} Terminating` : '',
    isHeld(workload) && wanted > 0 && !isRolledOut(workload) ? `the rollout is ${holdIn(workload)}` : '',
    wanted > own.length - ending ? (refusal ?? (own.length === ending ? 'no pods' : '')) : '',
    ...problems,
  ]
  const former = replicasIn(workload.metadata.annotations?.[replicasAnnotation])
  return {
    state,
    detail: detail.filter(Boolean).join('; '),
    instances,
    ...(state === 'failed' && pods.some(isRestarting) && { startsAgain: true }),
    ...(state === 'running' && !isRolledOut(workload) && { isRollingOut: true }),
    ...(former !== null && { formerReplicas: former }),
    ...(ownedByOthers.length > 0 && { ownedByOthers }),
  }
}

/** True if the service has failed. Like a unit that is activating, a service whose pods are starting has not. */
function isFailing(pods: readonly Pod[]): boolean {
  if (pods.some(isUp)) return false
  if (pods.every(isRestarting)) return true
  return instancesOf(pods).length === 0 && !pods.some((pod) => !isEnding(pod) && problemOf(pod) === null)
}

/** Returns the pods with something to report: they cannot start, or have ended before. */
export function failingOf(pods: readonly Pod[]): readonly Pod[] {
  return pods.filter((pod) => problemOf(pod) !== null)
}

/** Returns what is wrong in a pod, in Kubernetes' own words; null if nothing is. */
function problemOf(pod: Pod): string | null {
  const { name } = pod.metadata
  const status = statusIn(pod)
  const waiting = status?.state?.waiting
  const before = failingBefore(pod)
  const ended = status?.state?.terminated ?? status?.lastState?.terminated
  const restarts = status?.restartCount ?? 0
  const scheduled = unscheduledIn(pod)
  const said = [
    pod.status?.phase === 'Failed'
      ? `${pod.status.reason ?? 'Failed'}${pod.status.message ? `: ${oneLine(pod.status.message)}` : ''}`
      : '',
    scheduled ?? '',
    before ? inWords(before) : '',
    isStuck(waiting?.reason)
      ? `${waiting?.reason}` +
        `${waiting?.message && waiting.reason !== 'CrashLoopBackOff' ? `: ${oneLine(waiting.message)}` : ''}`
      : '',
    restarts > 0 ? `restarted ${restarts} ${restarts === 1 ? 'time' : 'times'}` : '',
    ended && (restarts > 0 || ended.exitCode !== 0) ? `last ${endOf(ended)}` : '',
    ...stuckBeside(pod),
  ].filter(Boolean)
  return said.length === 0 ? null : `${name}: ${said.join(', ')}`
}

/** Lists containers beside the service's own that cannot start: without them the pod does not become ready. */
function stuckBeside(pod: Pod): string[] {
  const own = statusIn(pod)?.name
  return (pod.status?.containerStatuses ?? []).flatMap(({ name, state }) =>
    name !== own && isStuck(state?.waiting?.reason) ? [`container ${name}: ${state?.waiting?.reason}`] : [],
  )
}

/** Returns the init container that keeps the service's own from starting; null if none does. */
export function failingBefore(pod: Pod): ContainerStatus | null {
  return (
    pod.status?.initContainerStatuses?.find(
      ({ state }) => isStuck(state?.waiting?.reason) || (state?.terminated?.exitCode ?? 0) !== 0,
    ) ?? null
  )
}

export function inWords({ name, state }: ContainerStatus): string {
  return `init container ${name}: ${state?.waiting?.reason ?? endOf(state?.terminated)}`
}

/** Returns why no node accepts the pod; null if one does. */
export function unscheduledIn({ status }: Pod): string | null {
  const condition = status?.conditions?.find(({ type, status: it }) => type === 'PodScheduled' && it === 'False')
  return condition
    ? `${condition.reason ?? 'not scheduled'}${condition.message ? `: ${oneLine(condition.message)}` : ''}`
    : null
}

/** True if it is ready and runs: a pod may be called ready while its container waits to be started again. */
function isUp(pod: Pod): boolean {
  return isReady(pod) && statusIn(pod)?.state?.running !== undefined && !isEnding(pod)
}

/** True if the reason is not one that every pod goes through when it starts. */
export function isStuck(reason: string | undefined): boolean {
  return reason !== undefined && reason !== 'ContainerCreating' && reason !== 'PodInitializing'
}

/** True if it ends again and again, even if it happens to run now. */
function isRestarting(pod: Pod): boolean {
  const status = statusIn(pod)
  if (status?.state?.waiting?.reason === 'CrashLoopBackOff') return true
  const ended = status?.state?.terminated ?? status?.lastState?.terminated
  return !isReady(pod) && (status?.restartCount ?? 0) > 1 && ended !== undefined && ended.exitCode !== 0
}

function endOf(ended: Terminated | undefined): string {
  if (!ended) return 'ended'
  const reason = ended.reason && ended.reason !== 'Error' ? ` (${ended.reason})` : ''
  return `exited with ${ended.exitCode}${reason}${ended.finishedAt ? ` at ${moment(ended.finishedAt)}` : ''}`
}
