import { AdminError } from '../../core/error.ts'
import type { KubernetesClient } from './client.ts'

/** A Service, with the fields that show what is behind it. */
export interface Service {
  metadata: { name: string; namespace?: string }
  spec?: {
    type?: string
    externalName?: string
    clusterIP?: string
    clusterIPs?: string[]
    selector?: Record<string, string>
    ports?: { port: number; name?: string; targetPort?: number | string }[]
  }
  status?: { loadBalancer?: { ingress?: { ip?: string }[] } }
}

interface Pod {
  metadata: { name: string; deletionTimestamp?: string }
  spec?: { containers?: { ports?: { name?: string; containerPort: number }[] }[] }
  status?: { phase?: string; podIP?: string; conditions?: { type: string; status: string }[] }
}

interface Endpoints {
  subsets?: {
    addresses?: { ip: string; targetRef?: { kind?: string; name?: string } }[]
    ports?: { name?: string; port: number }[]
  }[]
}

/** What is behind a port of a Service: a pod, or a server that is no pod. */
export type Backend = { pod: string; port: number } | { address: string; port: number }

/** Finds what a connection to a Service leads to now, as a rule a pod. Throws UNAVAILABLE if none is ready. */
export async function backendOf(
  client: KubernetesClient,
  service: Service,
  namespace: string,
  { port, pod: wanted }: { port: number; pod: string | null },
): Promise<Backend> {
  const { name } = service.metadata
  const { selector, ports = [], clusterIP } = service.spec ?? {}
  const declared = ports.find((it) => it.port === port)
  if (!selector || Object.keys(selector).length === 0) return withoutSelector(client, service, namespace, port)
  const labelSelector = Object.entries(selector)
    .map(([key, value]) => `${key}=${value}`)
    .join(',')
  const all = await client.list<Pod>({ resource: 'pods', namespace, query: { labelSelector } })
  const meant = wanted === null ? all : all.filter((it) => it.metadata.name === wanted)
  const ready = meant.find(isReady)
  if (!ready) {
    const who =
      wanted === null
        ? `service \`${name}\` in namespace \`${namespace}\``
        : `\`${wanted}\` of service \`${name}\` in namespace \`${namespace}\``
    const why =
      meant.length === 0
        ? 'has no pod'
        : meant.length === 1
          ? 'has one pod, which is not ready'
          : `has ${meant.length} pods, but none is ready`
    throw new AdminError(
      'UNAVAILABLE',
      `${who} ${why}`,
      [
        client.kubectl('-n', namespace, 'get', 'pods', '-l', labelSelector),
        client.kubectl('-n', namespace, 'describe', 'pods', '-l', labelSelector),
      ],
      { obstacle: { kind: 'instances' } },
    )
  }
  // a headless service leads to the pod itself, whatever its ports say
  const target = clusterIP === 'None' ? port : (declared?.targetPort ?? port)
  return { pod: ready.metadata.name, port: typeof target === 'number' ? target : portNamed(target, ready, name) }
}

/** Returns the ready pod that has an address now; null if none in that namespace has it. */
export async function podAt(client: KubernetesClient, namespace: string, address: string): Promise<string | null> {
  const all = await client.list<Pod>({ resource: 'pods', namespace })
  return all.find((it) => it.status?.podIP === address && isReady(it))?.metadata.name ?? null
}

/** Returns the addresses to which a Service's name may lead on a machine that reaches the cluster's network. */
export async function addressesOf(
  client: KubernetesClient,
  { spec, status, metadata: { name } }: Service,
  namespace: string,
): Promise<ReadonlySet<string>> {
  const own = [
    ...(spec?.clusterIPs ?? []),
    ...(spec?.clusterIP ? [spec.clusterIP] : []),
    ...(status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []),
  ]
  const fixed = own.filter((it) => it !== 'None')
  if (fixed.length > 0) return new Set(fixed)
  const { subsets = [] } = await client.get<Endpoints>({ resource: 'endpoints', namespace, name })
  return new Set(subsets.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip)))
}

/** Finds what is behind a Service with endpoints written by hand, as for a server outside the cluster. */
async function withoutSelector(
  client: KubernetesClient,
  { metadata: { name }, spec }: Service,
  namespace: string,
  port: number,
): Promise<Backend> {
  const { subsets = [] } = await client.get<Endpoints>({ resource: 'endpoints', namespace, name })
  const declared = spec?.ports?.find((it) => it.port === port)
  for (const { addresses = [], ports = [] } of subsets) {
    const [address] = addresses
    if (!address) continue
    const target = ports.length === 1 ? ports[0] : ports.find((it) => it.name === declared?.name)
    const at = target?.port ?? port
    return address.targetRef?.kind === 'Pod' && address.targetRef.name
      ? { pod: address.targetRef.name, port: at }
      : { address: address.ip, port: at }
  }
  throw new AdminError('UNAVAILABLE', `service \`${name}\` in namespace \`${namespace}\` leads to no address`, [
    client.kubectl('-n', namespace, 'get', 'endpoints', name),
  ])
}

function portNamed(target: string, pod: Pod, service: string): number {
  const found = (pod.spec?.containers ?? []).flatMap(({ ports = [] }) => ports).find(({ name }) => name === target)
  if (found) return found.containerPort
  throw new AdminError(
    'UNAVAILABLE',
    `service \`${service}\` leads to a port named \`${target}\`, which pod \`${pod.metadata.name}\` does not have`,
  )
}

function isReady({ metadata, status }: Pod): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
  )
}
