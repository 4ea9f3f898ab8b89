import { isIP } from 'node:net'
import type { CtlCommand } from '../../adapters/rabbitmq/ctl/program.ts'
import type { HostPort } from '../../core/endpoint.ts'
import type { KubernetesClient } from './client.ts'
import { clusterNames, serviceOf } from './reach.ts'
import { commandFor, execIn } from './exec.ts'
import type { ExecPlace } from './exec.ts'
import { imageNameIn } from './find.ts'
import type { Pod } from './objects.ts'
import { backendOf, podAt } from './service-pods.ts'

/**
 * Returns `rabbitmqctl` in the pod that a broker's address leads to; null if that is no pod of the cluster. Throws as
 * finding the pod does.
 */
export async function brokerProgram(
  client: KubernetesClient,
  namespace: string,
  address: HostPort,
): Promise<CtlCommand | null> {
  const place = await brokerPlace(client, namespace, address)
  if (place === null) return null
  return {
    command: ['rabbitmqctl'],
    shown: commandFor(client, place, ['rabbitmqctl']),
    async run(words, { timeoutMs, maxBytes }) {
      const ended = await execIn(client, place, ['rabbitmqctl', ...words], { timeoutMs, maxBytes })
      return { ...ended, signal: null, truncated: false }
    },
  }
}

async function brokerPlace(
  client: KubernetesClient,
  namespace: string,
  { host, port }: HostPort,
): Promise<ExecPlace | null> {
  if (isIP(host) !== 0) {
    const name = await podAt(client, namespace, host)
    return name === null ? null : placeIn(client, namespace, name)
  }
  for (const name of clusterNames(host, namespace)) {
    const service = await serviceOf(client, name)
    if (!service) continue
    const backend =
      service.spec?.type === 'ExternalName'
        ? null
        : await backendOf(client, service, name.namespace, { port, pod: name.pod })
    return backend && 'pod' in backend ? placeIn(client, name.namespace, backend.pod) : null
  }
  return null
}

/** Picks the broker's container: others in the pod may export figures, or be a mesh's. */
async function placeIn(client: KubernetesClient, namespace: string, pod: string): Promise<ExecPlace | null> {
  const { spec } = await client.get<Pod>({ resource: 'pods', namespace, name: pod })
  const broker = spec.containers.find(({ image = '' }) => /rabbitmq/.test(imageNameIn(image))) ?? spec.containers[0]
  return broker ? { namespace, pod, container: broker.name } : null
}
