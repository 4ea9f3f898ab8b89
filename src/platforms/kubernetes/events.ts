import { oneLine } from '../../adapters/failure.ts'
import { grouped } from '../../core/grouped.ts'
import type { KubernetesClient } from './client.ts'
import type { Event, Pod } from './objects.ts'
import { isRefusal } from './refusal.ts'

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
  const more = isCut ? [`(the newest of ${grouped(read)} warnings; there may be more)`] : []
  return [client.kubectl('-n', namespace, 'describe', 'pod', pod), ...newest.map(line), ...more]
}

/**
 * Returns the newest `most` events of a selection, as far as its pages are read; `isCut`: there may be more. Throws as
 * the client does.
 */
export async function newestEvents(
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

export function newestFirst(one: Event, other: Event): number {
  const [first, second] = [timeOf(one), timeOf(other)]
  return first === second ? 0 : first < second ? 1 : -1
}

function line(event: Event): string {
  const { reason = 'Warning', message = '', count = 1 } = event
  return `${timeOf(event)} ${reason}${count > 1 ? ` (${count} times)` : ''}: ${oneLine(message)}`.trim()
}

function timeOf({ lastTimestamp, eventTime, metadata }: Event): string {
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? ''
}
