import { connect, isIP } from 'node:net'
import { systemCode } from '../../adapters/failure.ts'
import { lookUp } from '../../adapters/look-up.ts'
import type { HostPort, Opened, Way } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import { command, nested } from '../../core/shell-command.ts'
import { atMost } from '../../core/work.ts'
import type { ByteStream } from './channels.ts'
import { openStream, portStream } from './channels.ts'
import type { KubernetesClient } from './client.ts'
import { listenForward } from './forward.ts'
import { isRefusal } from './refusal.ts'
import type { Backend, Service } from './service-pods.ts'
import { addressesOf, backendOf, podAt } from './service-pods.ts'
import { brokenStream, withoutAnswer, withoutStream } from './unseen.ts'

/** One meaning of an address by the cluster's own names (kubernetes.io, "DNS for Services and Pods"). */
interface ClusterName {
  service: string
  namespace: string
  /** Pod of a headless service; null if none is named */
  pod: string | null
  /** True unless it may as well be a name outside the cluster */
  isCertain: boolean
}

/**
 * Lists what a host may mean to a pod of that namespace, likeliest first: `db`, `db.testops`,
 * `db.testops.svc.cluster.local`, `db-0.db.testops.svc`, …
 */
export function clusterNames(host: string, namespace: string): ClusterName[] {
  if (host.toLowerCase() === 'localhost') return []
  const labels = host.toLowerCase().replace(/\.$/, '').split('.')
  if (!labels.every((it) => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(it))) return []
  const [first = '', second, ...others] = labels
  if (second === undefined) return [{ service: first, namespace, pod: null, isCertain: true }]
  const at = labels.indexOf('svc')
  if (at === 2 || at === 3) {
    const [service = '', where = ''] = labels.slice(at - 2, at)
    return [{ service, namespace: where, pod: at === 3 ? first : null, isCertain: true }]
  }
  if (others.length > 0) return []
  return [
    { service: first, namespace: second, pod: null, isCertain: false },
    { service: second, namespace, pod: first, isCertain: false },
  ]
}

interface ReachOptions {
  timeoutMs: number
  pingMs?: number
  /** Returns the addresses of a name on this machine; none if it does not resolve */
  resolve?: (host: string) => Promise<readonly string[]>
}

/** Milliseconds to wait for a direct connection, before the way through the API server is taken */
const directMs = 1000

/**
 * Opens the way from this machine to an address as the service in `namespace` understands it. It is a forward to a pod,
 * or the address that an ExternalName or hand-written endpoints lead to. Null if the address can be used as it is: it
 * is none of the cluster's, or leads to the same here. Throws UNAVAILABLE if no pod is ready, or the cluster lacks a
 * name that must be its own; FORBIDDEN, and what the client throws.
 */
export async function reachFrom(
  client: KubernetesClient,
  namespace: string,
  address: HostPort,
  options: ReachOptions,
): Promise<Opened<Way> | null> {
  return wayTo(client, namespace, address, options).catch((error: unknown) => {
    throw withoutAnswer(error)
  })
}

async function wayTo(
  client: KubernetesClient,
  namespace: string,
  { host, port }: HostPort,
  options: ReachOptions,
): Promise<Opened<Way> | null> {
  if (isIP(host) !== 0) return reachPodAt(client, namespace, { host, port }, options)
  const names = clusterNames(host, namespace)
  for (const name of names) {
    const service = await serviceOf(client, name)
    if (service) return reachService(client, service, name, port, host, options)
  }
  const certain = names.find(({ isCertain }) => isCertain)
  if (certain) throw withoutService(client, certain, { host, port })
  return null
}

/** Returns the error for a missing Service: a server of that name on this machine's own network is another one. */
function withoutService(
  client: KubernetesClient,
  { service, namespace }: ClusterName,
  { host, port }: HostPort,
): AdminError {
  return new AdminError(
    'UNAVAILABLE',
    `the service uses ${host}:${port}, a name inside the cluster. But namespace \`${namespace}\` of ` +
      `${client.cluster} has no Service \`${service}\``,
    [
      client.kubectl('-n', namespace, 'get', 'services'),
      'in the configuration, set a server address that this machine can reach',
    ],
    { obstacle: { kind: 'unresolved', host, port } },
  )
}

/** Returns the Service; null if it is missing, or if it may not be read and the name may lead elsewhere. */
export async function serviceOf(
  client: KubernetesClient,
  { service, namespace, isCertain }: ClusterName,
): Promise<Service | null> {
  try {
    return await client.get<Service>({ resource: 'services', namespace, name: service })
  } catch (error) {
    if (isRefusal(error, 404) || (!isCertain && isRefusal(error, 403))) return null
    throw error
  }
}

async function reachService(
  client: KubernetesClient,
  service: Service,
  name: ClusterName,
  port: number,
  host: string,
  options: ReachOptions,
): Promise<Opened<Way> | null> {
  const { namespace, pod } = name
  const { type, externalName } = service.spec ?? {}
  if (type === 'ExternalName' && externalName) {
    const [within] = clusterNames(externalName, namespace)
    const beyond =
      within?.isCertain && externalName.includes('.')
        ? await wayTo(client, namespace, { host: externalName, port }, options)
        : null
    return beyond ?? asItIs({ host: externalName, port })
  }
  if (await isDirect(client, service, namespace, { host, port }, options)) return null
  const backend = async (): Promise<Backend> => backendOf(client, service, namespace, { port, pod })
  const first = await backend()
  if ('address' in first) return asItIs({ host: first.address, port: first.port })
  const isDeclared = pod === null && service.spec?.ports?.some((it) => it.port === port) === true
  const target = isDeclared ? `service/${name.service}` : `pod/${first.pod}`
  const ports = isDeclared || first.port === port ? String(port) : `${port}:${first.port}`
  const forward = command`${nested(client.kubectl('-n', namespace, 'port-forward', target, ports))}   # then use
    127.0.0.1 instead of ${host}`
  return forwardTo(client, namespace, first, forward, options, backend)
}

async function reachPodAt(
  client: KubernetesClient,
  namespace: string,
  { host, port }: HostPort,
  options: ReachOptions,
): Promise<Opened<Way> | null> {
  // in a pod of the cluster, other pods are in reach
  if (client.context === null) return null
  let pod: string | null
  try {
    pod = await podAt(client, namespace, host)
  } catch (error) {
    if (isRefusal(error, 403)) return null
    throw error
  }
  if (pod === null) return null
  const forward = command`${nested(client.kubectl('-n', namespace, 'port-forward', `pod/${pod}`, String(port)))}   #
    then use 127.0.0.1 instead of ${host}`
  return forwardTo(client, namespace, { pod, port }, forward, options, null)
}

/** Milliseconds for which a pod that was found serves further connections, unless one of them fails */
const foundLifeMs = 2000

/** Forwards to a pod. `again`: finds the pod for later connections, since it may be another by then. */
async function forwardTo(
  client: KubernetesClient,
  namespace: string,
  first: { pod: string; port: number },
  forward: ShellCommand,
  options: ReachOptions,
  again: (() => Promise<Backend>) | null,
): Promise<Opened<Way>> {
  let known = { pod: first, at: performance.now() }
  const find = async (): Promise<{ pod: string; port: number }> => {
    const next = (await again?.()) ?? first
    if ('address' in next)
      throw new AdminError('UNAVAILABLE', 'the endpoint of the Service is no longer a pod, so no port can be forwarded')
    known = { pod: next, at: performance.now() }
    return next
  }
  const { source, close } = await listenForward(async () => {
    if (performance.now() - known.at > foundLifeMs) return streamTo(client, namespace, await find(), options)
    const { pod } = known
    return streamTo(client, namespace, pod, options).catch(async (error: unknown) => {
      const next = await find()
      // the same pod refuses again
      if (next.pod === pod.pod && next.port === pod.port) throw error
      return streamTo(client, namespace, next, options)
    })
  })
  return { source: { ...source, command: forward }, close }
}

async function streamTo(
  client: KubernetesClient,
  namespace: string,
  { pod, port }: { pod: string; port: number },
  { timeoutMs, pingMs }: ReachOptions,
): Promise<ByteStream> {
  const asked = { resource: 'pods', namespace, name: pod, subresource: 'portforward', query: { ports: port } } as const
  const stream = await openStream(client, asked, `a port-forward to pod \`${pod}\``, {
    timeoutMs,
    ...(pingMs !== undefined && { pingMs }),
  }).catch(async (error: unknown) => {
    throw await withoutStream(client, { namespace, pod }, error)
  })
  return portStream(stream, async (why) => withoutStream(client, { namespace, pod }, brokenStream(pod, why)))
}

/**
 * True if the name leads to the same here as in the cluster: another server of that name must never be taken for it.
 */
async function isDirect(
  client: KubernetesClient,
  service: Service,
  namespace: string,
  { host, port }: HostPort,
  { resolve = resolveHere }: ReachOptions,
): Promise<boolean> {
  const here = await resolve(host)
  if (here.length === 0) return false
  const there = await addressesOf(client, service, namespace).catch(() => null)
  const same = here.find((it) => there?.has(it))
  return same !== undefined && (await connectionTo({ host: same, port })) === 'open'
}

async function resolveHere(host: string): Promise<readonly string[]> {
  const found = lookUp(host).then(
    (all) => all.map(({ address }) => address),
    () => [],
  )
  return atMost(directMs, found, [])
}

/** Tries to connect from this machine; `none`: nothing at all answers, or the name leads nowhere. */
export async function connectionTo({ host, port }: HostPort): Promise<'open' | 'refused' | 'none'> {
  const socket = connect({ host, port })
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise((resolve) => {
      socket.once('connect', () => resolve('open'))
      socket.once('error', (error) => resolve(systemCode(error) === 'ECONNREFUSED' ? 'refused' : 'none'))
      // the time limit includes looking up the name
      timer = setTimeout(() => resolve('none'), directMs)
    })
  } finally {
    clearTimeout(timer)
    socket.destroy()
    socket.on('error', () => undefined)
  }
}

function asItIs(address: HostPort): Opened<Way> {
  return { source: { ...address, command: null }, close: async () => undefined }
}
