import { oneLine } from '../../adapters/failure.ts'
import type { InstanceEnd, InstanceHealth, LastWords, StartLimit } from '../../core/sources.ts'
import type { KubernetesClient } from './client.ts'
import { serviceContainer } from './find.ts'
import type { Container, ContainerStatus, Pod, Terminated } from './objects.ts'
import { isEnding, isReady, statusIn } from './pods.ts'
import { isRefusal } from './refusal.ts'
import { failingBefore, inWords, isStuck, unscheduledIn } from './status.ts'

/** Returns the health of each pod of the service that is not being deleted. */
export function healthOf(pods: readonly Pod[]): InstanceHealth[] {
  return pods
    .filter((pod) => !isEnding(pod) && pod.status?.phase !== 'Succeeded')
    .map((pod) => {
      const status = statusIn(pod)
      const startedAt = status?.state?.running?.startedAt
      return {
        name: pod.metadata.name,
        isUp: status?.state?.running !== undefined,
        isReady: isReady(pod),
        startedAt: dateOf(startedAt),
        waits: waitsFor(pod),
        ended: endOf(pod),
        restarts: status?.restartCount ?? 0,
      }
    })
}

/** True if the pod's events may show more. */
export function isUnwell({ name }: Pod['metadata'], all: readonly InstanceHealth[]): boolean {
  const health = all.find((it) => it.name === name)
  return health !== undefined && (health.isReady !== true || health.waits !== null || health.ended !== null)
}

function waitsFor(pod: Pod): string | null {
  const before = failingBefore(pod)
  if (before) return inWords(before)
  const { reason, message } = statusIn(pod)?.state?.waiting ?? {}
  if (!isStuck(reason)) return unscheduledIn(pod)
  // for a loop, the message tells only how long until the next start
  return message && reason !== 'CrashLoopBackOff' ? `${reason}: ${oneLine(message)}` : (reason ?? null)
}

/** Returns an end that nobody ordered: Kubernetes ends a container by order only with its pod. */
function endOf(pod: Pod): InstanceEnd | null {
  const status = statusIn(pod)
  const ended = status?.state?.terminated ?? status?.lastState?.terminated
  if (pod.status?.phase === 'Failed') {
    const { reason = 'Failed', message } = pod.status
    return {
      ...datesOf(ended, pod),
      reason: message ? `${reason}: ${oneLine(message)}` : reason,
      exitCode: ended?.exitCode ?? null,
    }
  }
  if (!ended) return null
  return {
    ...datesOf(ended, pod),
    reason: ended.reason === 'Error' ? '' : (ended.reason ?? ''),
    exitCode: ended.exitCode,
  }
}

function datesOf(ended: Terminated | undefined, { status }: Pod): Pick<InstanceEnd, 'startedAt' | 'at'> {
  // a pod that was evicted before it ran has no end of its own
  const unready = status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime
  return { startedAt: dateOf(ended?.startedAt), at: dateOf(ended?.finishedAt ?? unready) }
}

function dateOf(text: string | undefined): Date | null {
  const date = new Date(text ?? '')
  return Number.isNaN(date.getTime()) ? null : date
}

const maxBytes = 100_000
const maxLines = 400

/**
 * Returns the last output of a pod's container in its run that has ended, also of one that runs before the service's
 * own. Null if none has ended, or its log is gone. Throws as the client does.
 */
export async function lastWordsOf(client: KubernetesClient, pod: Pod): Promise<LastWords | null> {
  const { name, namespace = '' } = pod.metadata
  const status = failingBefore(pod) ?? statusIn(pod)
  const container = status?.name ?? serviceContainer(pod.spec)?.name
  if (!status || container === undefined || !hasEnded(status)) return null
  const previous = status.state?.terminated === undefined
  const query = { container, tailLines: maxLines, ...(previous && { previous }) }
  try {
    const { text } = await client.text({ resource: 'pods', namespace, name, subresource: 'log', query }, { maxBytes })
    return {
      command: client.kubectl(
        '-n',
        namespace,
        'logs',
        name,
        '-c',
        container,
        ...(previous ? ['--previous'] : []),
        '--tail=50',
      ),
      text,
    }
  } catch (error) {
    // the node keeps only one earlier run, and not for ever
    if (isRefusal(error, 404) || isRefusal(error, 400)) return null
    throw error
  }
}

function hasEnded({ state, lastState, restartCount = 0 }: ContainerStatus): boolean {
  return state?.terminated !== undefined || lastState?.terminated !== undefined || restartCount > 0
}

/** What Kubernetes assumes where a probe does not say (kubernetes.io, "Configure Probes"). */
const usual = { initialDelaySeconds: 0, periodSeconds: 10, failureThreshold: 3 } as const

/** Returns the probe that restarts a container which takes long to start; null: none does. */
export function startLimitOf({ startupProbe, livenessProbe }: Container): Pick<StartLimit, 'by' | 'afterMs'> | null {
  const probe = startupProbe ?? livenessProbe
  if (!probe) return null
  const { initialDelaySeconds, periodSeconds, failureThreshold } = { ...usual, ...probe }
  return {
    by: probe === startupProbe ? 'startup probe' : 'liveness probe',
    afterMs: (initialDelaySeconds + periodSeconds * failureThreshold) * 1000,
  }
}
