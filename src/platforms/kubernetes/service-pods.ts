import { AdminError } from '../../core/error.ts'
import { own } from '../../core/lookup.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import type { ProxySettings } from '../../core/sources.ts'
import { ingressLimits, sizeIn, timeIn } from '../../knowledge/proxy.ts'
import type { KubernetesClient } from './client.ts'
import type { Workload } from './objects.ts'
import { isRefusal } from './refusal.ts'

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
        : `pod \`${wanted}\` of service \`${name}\` in namespace \`${namespace}\``
    const why =
      wanted !== null
        ? meant.length === 0
          ? 'does not exist'
          : 'is not ready'
        : meant.length === 0
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
  throw new AdminError('UNAVAILABLE', `service \`${name}\` in namespace \`${namespace}\` has no ready endpoint`, [
    client.kubectl('-n', namespace, 'get', 'endpoints', name),
  ])
}

function portNamed(target: string, pod: Pod, service: string): number {
  const found = (pod.spec?.containers ?? []).flatMap(({ ports = [] }) => ports).find(({ name }) => name === target)
  if (found) return found.containerPort
  throw new AdminError(
    'UNAVAILABLE',
    `service \`${service}\` targets port \`${target}\`, but pod \`${pod.metadata.name}\` has no port with this name`,
  )
}

function isReady({ metadata, status }: Pod): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
  )
}

/** networking.k8s.io/v1 */
interface Ingress {
  metadata: { name: string; annotations?: Readonly<Record<string, string>> }
  spec?: {
    defaultBackend?: IngressBackend
    rules?: readonly { http?: { paths?: readonly { backend?: IngressBackend }[] } }[]
  }
}

interface IngressBackend {
  service?: { name?: string }
}

/**
 * Lists the Ingresses that lead to the pods of a workload, and the limits that their annotations set. Throws as the
 * client does.
 */
export async function ingressesBefore(
  client: KubernetesClient,
  namespace: string,
  workload: Workload,
): Promise<ProxySettings[]> {
  const all = await client.list<Ingress>({ resource: 'ingresses', namespace })
  const names = [...new Set(all.flatMap(backendsOf))]
  const leading = await Promise.all(
    names.map(async (name) => ((await leadsTo(client, namespace, name, workload)) ? [name] : [])),
  )
  const own = new Set(leading.flat())
  return all.filter((it) => backendsOf(it).some((name) => own.has(name))).map((it) => settingsOf(client, namespace, it))
}

function backendsOf({ spec }: Ingress): string[] {
  const all = [
    spec?.defaultBackend,
    ...(spec?.rules ?? []).flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend)),
  ]
  return all.flatMap((it) => it?.service?.name ?? [])
}

/** True if the Service selects the pods of that template. */
async function leadsTo(
  client: KubernetesClient,
  namespace: string,
  name: string,
  { spec }: Workload,
): Promise<boolean> {
  const labels = spec.template.metadata?.labels ?? {}
  try {
    const service = await client.get<Service>({ resource: 'services', namespace, name })
    const selector = Object.entries(service.spec?.selector ?? {})
    return selector.length > 0 && selector.every(([key, value]) => own(labels, key) === value)
  } catch (error) {
    // an Ingress may name a Service that no longer exists
    if (isRefusal(error, 404)) return false
    throw error
  }
}

function settingsOf(
  client: KubernetesClient,
  namespace: string,
  { metadata: { name, annotations = {} } }: Ingress,
): ProxySettings {
  const limits = ingressLimits.find(
    ({ maxBody, readTimeout }) => (maxBody !== null && maxBody in annotations) || readTimeout in annotations,
  )
  const body = limits?.maxBody ? annotations[limits.maxBody] : undefined
  const timeout = limits ? annotations[limits.readTimeout] : undefined
  const change = (key: string | null | undefined, value: string): ShellCommand | null =>
    key ? client.kubectl('-n', namespace, 'annotate', '--overwrite', 'ingress', name, `${key}=${value}`) : null
  return {
    name: `Ingress \`${name}\` in namespace \`${namespace}\``,
    maxBodyBytes: body === undefined ? null : sizeIn(body),
    readTimeoutMs: timeout === undefined || !limits ? null : timeIn(timeout, limits.unitMs),
    evidence: [
      client.kubectl('-n', namespace, 'get', 'ingress', name, '-o', 'yaml'),
      ...[limits?.maxBody, limits?.readTimeout].flatMap((key) =>
        key && annotations[key] !== undefined ? [`${key}: ${annotations[key]}`] : [],
      ),
    ],
    change: { maxBody: change(limits?.maxBody, '100m'), readTimeout: change(limits?.readTimeout, '300') },
  }
}
