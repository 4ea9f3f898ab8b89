import { oneLine } from '../../adapters/failure.ts'
import type { KubernetesClient } from './client.ts'
import { newestEvents, newestFirst } from './events.ts'
import type { Event, Pod, Workload } from './objects.ts'
import { isEnding, isOver } from './pods.ts'
import { isRefusal } from './refusal.ts'
import type { WorkloadRef } from './scale.ts'

/**
 * Returns why the cluster makes no pods of a workload (a quota, an admission policy): `FailedCreate: pods "…" is
 * forbidden: …`. Null if it makes them. For a StatefulSet only events tell that; null, too, if they may not be seen.
 * Throws as the client does.
 */
export async function refusalOf(
  client: KubernetesClient,
  { resource, namespace, name }: WorkloadRef,
  workload: Workload,
  pods: readonly Pod[],
): Promise<string | null> {
  if (resource === 'deployments') return conditionOf(workload)
  const alive = pods.filter((pod) => !isOver(pod) && !isEnding(pod))
  if (alive.length >= (workload.spec.replicas ?? 1)) return null
  try {
    const {
      newest: [last],
    } = await newestEvents(client, namespace, `involvedObject.kind=StatefulSet,involvedObject.name=${name}`, {
      most: 1,
      order,
    })
    return last?.reason === failed ? worded(last) : null
  } catch (error) {
    if (isRefusal(error, 403)) return null
    throw error
  }
}

function conditionOf({ status }: Workload): string | null {
  const failure = status?.conditions?.find(({ type, status: it }) => type === 'ReplicaFailure' && it === 'True')
  return failure ? worded({ reason: failure.reason ?? failure.type, message: failure.message }) : null
}

function worded({ reason = '', message = '' }: { reason?: string | undefined; message?: string | undefined }): string {
  return `${reason}: ${oneLine(message).slice(0, 300)}`
}

/** Reason that a StatefulSet's controller gives (kubernetes, pkg/controller/statefulset/stateful_pod_control.go) */
const failed = 'FailedCreate'
const made: readonly (string | undefined)[] = [failed, 'SuccessfulCreate']

/** Sorts newest first, other matters last. Within one second, a pod was made before the next one was refused. */
function order(one: Event, other: Event): number {
  const byMatter = Number(made.includes(other.reason)) - Number(made.includes(one.reason))
  return byMatter || newestFirst(one, other) || Number(other.reason === failed) - Number(one.reason === failed)
}
