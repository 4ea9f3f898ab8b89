import { oneLine } from '../../adapters/failure.ts'
import type { InstanceEnd, InstanceHealth } from '../../core/sources.ts'
import type { Pod, Terminated } from './objects.ts'
import { isEnding, isReady, statusIn } from './pods.ts'
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
