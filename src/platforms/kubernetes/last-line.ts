import { oneLine } from '../../adapters/failure.ts'
import type { KubernetesClient } from './client.ts'
import { serviceContainer } from './image.ts'
import type { Pod } from './objects.ts'
import { statusIn } from './pods.ts'
import { isRefusal } from './refusal.ts'

/** of how many pods it is asked for, and how many bytes are read of each */
const [maxPods, maxBytes] = [3, 10_000]

/** The last line that the service printed before its container ended, of pods that start it again and again, below the command that shows it. */
export async function lastLinesOf(client: KubernetesClient, namespace: string, pods: readonly Pod[]): Promise<readonly string[]> {
  const restarted = pods.filter((pod) => (statusIn(pod)?.restartCount ?? 0) > 0)
  return (await Promise.all(restarted.slice(0, maxPods).map(async (pod) => lastLineOf(client, namespace, pod)))).flat()
}

async function lastLineOf(client: KubernetesClient, namespace: string, pod: Pod): Promise<string[]> {
  const { name } = pod.metadata
  const container = serviceContainer(pod.spec)?.name
  const query = { container, previous: true, tailLines: 1 }
  try {
    const { text } = await client.text({ resource: 'pods', namespace, name, subresource: 'log', query }, { maxBytes })
    return text.trim() === '' ? [] : [client.kubectl('-n', namespace, 'logs', name, ...(container === undefined ? [] : ['-c', container]), '--previous', '--tail=1'), oneLine(text)]
  } catch (error) {
    // its log is gone, or may not be read: a help, not the matter itself
    if (isRefusal(error, 400) || isRefusal(error, 403) || isRefusal(error, 404)) return []
    throw error
  }
}
