import type { LastWords } from '../../core/sources.ts'
import type { KubernetesClient } from './client.ts'
import { serviceContainer } from './image.ts'
import type { ContainerStatus, Pod } from './objects.ts'
import { statusIn } from './pods.ts'
import { isRefusal } from './refusal.ts'
import { failingBefore } from './status.ts'

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
