import { oneLine } from '../../adapters/failure.ts'
import { grouped, moment } from '../../core/format.ts'
import type { KubernetesClient } from './client.ts'
import type { Event, Pod, Workload } from './objects.ts'
import { isEnding, isOver } from './pods.ts'
import { isRefusal } from './refusal.ts'
import type { WorkloadRef } from './scale.ts'

/** Maximum number of pods whose events are asked for, and of events shown for each */
const [maxPods, maxEvents] = [3, 3]
/** Maximum number of pages read for each pod; they are in no order of time */
const maxPages = 10

/**
 * Returns the newest warnings about some pods, after the command that shows them; if they are hidden, the missing
 * right.
 */
export async function eventsOf(
  client: KubernetesClient,
  namespace: string,
  pods: readonly Pod[],
): Promise<readonly string[]> {
  try {
    const told = await Promise.all(
      pods.slice(0, maxPods).map((pod) => warningsAbout(client, namespace, pod.metadata.name)),
    )
    return told.flat()
  } catch (error) {
    // events are only a help
    if (isRefusal(error, 403)) return [error.message, ...error.suggestions]
    throw error
  }
}

async function warningsAbout(client: KubernetesClient, namespace: string, pod: string): Promise<string[]> {
  const { newest, read, isCut } = await newestEvents(client, namespace, `involvedObject.name=${pod},type=Warning`, {
    most: maxEvents,
  })
  if (newest.length === 0) return []
  const more = isCut ? [`(the newest of the first ${grouped(read)} warnings; any others were not read)`] : []
  return [client.kubectl('-n', namespace, 'describe', 'pod', pod), ...newest.map(line), ...more]
}

/**
 * Returns the newest `most` events of a selection, as far as its pages are read; `isCut`: there may be more. Throws as
 * the client does.
 */
async function newestEvents(
  client: KubernetesClient,
  namespace: string,
  fieldSelector: string,
  { most, order = newestFirst }: { most: number; order?: typeof newestFirst },
): Promise<{ newest: readonly Event[]; read: number; isCut: boolean }> {
  let newest: Event[] = []
  let [pages, read] = [0, 0]
  for await (const events of client.pages<Event>({ resource: 'events', namespace, query: { fieldSelector } })) {
    newest = [...newest, ...events].sort(order).slice(0, most)
    read += events.length
    if ((pages += 1) === maxPages) break
  }
  return { newest, read, isCut: pages === maxPages }
}

function newestFirst(one: Event, other: Event): number {
  const [first, second] = [timeOf(one), timeOf(other)]
  return first === second ? 0 : first < second ? 1 : -1
}

function line(event: Event): string {
  const { reason = 'Warning', message = '', count = 1 } = event
  const at = timeOf(event)
  return `${at === '' ? '' : moment(at)} ${reason}${count > 1 ? ` (${count} times)` : ''}: ${oneLine(message)}`.trim()
}

function timeOf({ lastTimestamp, eventTime, metadata }: Event): string {
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? ''
}

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
