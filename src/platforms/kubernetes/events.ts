import { oneLine } from '../../adapters/failure.ts'
import { grouped } from '../../core/grouped.ts'
import type { KubernetesClient } from './client.ts'
import type { Event, Pod } from './objects.ts'
import { isRefusal } from './refusal.ts'

/** of how many pods events are asked for, and how many of each are told */
const [maxPods, maxEvents] = [3, 3]
/** so many pages of each pod's are read; they come in no order of time */
const maxPages = 10

/** The newest warnings about some pods, below the command that shows them; which right is missing where they may not be seen. */
export async function eventsOf(client: KubernetesClient, namespace: string, pods: readonly Pod[]): Promise<readonly string[]> {
  try {
    const told = await Promise.all(pods.slice(0, maxPods).map((pod) => warningsAbout(client, namespace, pod.metadata.name)))
    return told.flat()
  } catch (error) {
    // they are a help, not the matter itself
    if (isRefusal(error, 403)) return [error.message, ...error.suggestions]
    throw error
  }
}

async function warningsAbout(client: KubernetesClient, namespace: string, pod: string): Promise<string[]> {
  let newest: Event[] = []
  let [pages, seen] = [0, 0]
  for await (const events of client.pages<Event>({ resource: 'events', namespace, query: { fieldSelector: `involvedObject.name=${pod},type=Warning` } })) {
    newest = [...newest, ...events].sort((one, other) => (timeOf(one) < timeOf(other) ? 1 : -1)).slice(0, maxEvents)
    seen += events.length
    if ((pages += 1) === maxPages) break
  }
  if (newest.length === 0) return []
  const more = pages === maxPages ? [`(the newest of ${grouped(seen)} warnings; there may be more)`] : []
  return [client.kubectl('-n', namespace, 'describe', 'pod', pod), ...newest.map(line), ...more]
}

function line(event: Event): string {
  const { reason = 'Warning', message = '', count = 1 } = event
  return `${timeOf(event)} ${reason}${count > 1 ? ` (${count} times)` : ''}: ${oneLine(message)}`.trim()
}

function timeOf({ lastTimestamp, eventTime, metadata }: Event): string {
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? ''
}
