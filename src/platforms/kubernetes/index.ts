import { isIP } from 'node:net'
import type { HostPort, Opened, Way } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import { isLoopback } from '../../core/host.ts'
import type { Platform, PlatformOptions } from '../platform.ts'
import { openClient } from './client.ts'
import type { KubernetesClient } from './client.ts'
import { clusterNames, connectionTo, reachFrom, serviceOf } from './reach.ts'
import { findService, imageNameIn, SeenService } from './find.ts'
import { releaseFor } from './helm/index.ts'
import { leaseLock } from './lease.ts'
import { logOf } from './log.ts'
import { proveMachines } from './prove.ts'
import { relayThrough } from './relay.ts'
import type { Relay } from './relay.ts'
import { withoutAnswer } from './unseen.ts'
import { configMapRuns } from './run-store.ts'
import { clusterService } from './service.ts'
import type { ClusterService } from './service.ts'
import type { KubernetesSettings } from './access.ts'
import { command, nested, sentence } from '../../core/shell-command.ts'
import type { ServiceControl } from '../../core/controls.ts'
import { giveUpFields, ownsFields, withoutOwning } from './fields.ts'
import { scaleDown, scaleUp, tryScale } from './scale.ts'
import { patchSetting } from './setting.ts'
import type { CtlCommand } from '../../adapters/rabbitmq/ctl/program.ts'
import { commandFor, execIn } from './exec.ts'
import type { ExecPlace } from './exec.ts'
import type { Pod } from './objects.ts'
import { backendOf, podAt } from './service-pods.ts'

export { clusterAt } from './access.ts'
export { readClusterSecret } from './environment.ts'
export type { KubernetesSettings } from './access.ts'

/** Milliseconds for which a failure answers further questions, so that a silent cluster is waited for only once. */
const failureLifeMs = 2000

/**
 * Opens the platform `kubernetes`: the service runs in a cluster that kubectl's configuration or the pod's own account
 * knows.
 */
export async function openKubernetes(settings: KubernetesSettings, options: PlatformOptions): Promise<Platform> {
  let client: KubernetesClient | null = null
  let found: ClusterService | null = null
  let opening: Promise<ClusterService> | null = null
  let seen = options.seen instanceof SeenService ? options.seen : null
  const open = async (): Promise<ClusterService> => {
    client ??= seen?.client.patient(options) ?? (await openClient(settings, options))
    const service = seen?.fresh ?? (await findService(client, settings))
    // a second opening wants to know the present state
    seen = null
    return (found = clusterService(client, service, settings.values))
  }
  const opened = async (): Promise<{ client: KubernetesClient; service: ClusterService }> => {
    const source = await service()
    if (!client) throw new TypeError('the service was found, but there is no connection to its cluster')
    return { client, service: source }
  }
  const service = async (): Promise<ClusterService> => {
    const now = (opening ??= open())
    now.catch(() => setTimeout(() => void (opening = opening === now ? null : opening), failureLifeMs).unref())
    return now
  }
  let relay: Relay | null = null
  const throughRelay = async ({ host, port }: HostPort): Promise<Opened<Way>> => {
    if (!options.relay) throw new TypeError('no relay was requested')
    const { client: of, service: source } = await opened()
    relay ??= relayThrough(of, {
      namespace: source.place.namespace,
      pods: async () => source.pods(),
      wish: options.relay,
      signal: options.signal,
    })
    return relay.open({ host, port })
  }
  /** Returns the way, or one through the cluster if that is wanted and this machine gets no connection. */
  const orRelayed = async (address: HostPort, way: Opened<Way> | null): Promise<Opened<Way> | null> => {
    // a way with a command already leads to a pod
    if (!options.relay || way?.source.command) return way
    const beyond = way?.source ?? address
    if ((await connectionTo(beyond)) === 'open') return way
    return throughRelay(beyond)
  }
  return {
    get commands() {
      return found?.commands ?? null
    },
    async service() {
      const source = await service()
      // a missing right to see the pods is one finding, not one of each check
      await source.pods()
      return source
    },
    environment: async () => (await service()).environment(),
    async log() {
      const { client: of, service: source } = await opened()
      return logOf(of, source.commands.logs, () => source.pods())
    },
    async control() {
      const { client: of, service: source } = await opened()
      return clusterControl(of, source)
    },
    async release() {
      const { client: of, service: source } = await opened()
      return releaseFor(of, await source.workload(), settings, options)
    },
    async reach(address) {
      if (isLoopback(address.host)) {
        const { client: of, service: source } = await opened()
        throw besideService(of, source.place, address)
      }
      const names = clusterNames(address.host, '')
      if (names.length === 0 && isIP(address.host) === 0) return orRelayed(address, null)
      const it = await opened().catch((error: unknown) => {
        // a name that only the cluster has must not be mistaken for a server of that name here
        if (!(error instanceof AdminError) || names.some(({ isCertain }) => isCertain)) throw withoutAnswer(error)
        return null
      })
      if (it === null) return orRelayed(address, null)
      try {
        return await orRelayed(
          address,
          await reachFrom(it.client.lasting, it.service.place.namespace, address, options),
        )
      } catch (error) {
        // the node of that pod may be out of reach while others are not
        if (!options.relay || !(error instanceof AdminError) || error.obstacle?.kind !== 'beyond') throw error
        return throughRelay(address)
      }
    },
    // a pod of the cluster is in the cluster's network
    isBeyond: async (address) => client !== null && client.context !== null && (await connectionTo(address)) === 'none',
    async prove(machines, proof) {
      const { client: of, service: source } = await opened()
      const { template } = (await source.workload()).spec
      return proveMachines(of, { namespace: source.place.namespace, spec: template.spec }, machines, proof)
    },
    async brokerProgram(address) {
      const { client: of, service: source } = await opened()
      return brokerProgram(of, source.place.namespace, address)
    },
    async workload() {
      const { service: source } = await opened()
      const { resource, namespace, name } = source.place
      const { uid } = (await source.workload()).metadata
      return {
        kind: resource === 'deployments' ? 'Deployment' : 'StatefulSet',
        namespace,
        name,
        ...(uid !== undefined && { uid }),
      }
    },
    async journals({ isNeeded }) {
      const { client: of, service: source } = await opened()
      return configMapRuns(of.lasting, source.place.namespace, { isNeeded })
    },
    async lock(own) {
      const { client: of, service: source } = await opened()
      return leaseLock(of.lasting, source.place.namespace, own, { signal: options.signal })
    },
    async close() {
      await relay?.close()
      client?.close()
    },
  }
}

/**
 * Returns the error for a loopback address. To the service it means its own pod, as with the proxy of a database beside
 * it. That pod is gone while the service is stopped, and is not this machine.
 */
function besideService(
  client: KubernetesClient,
  { resource, namespace, name }: ClusterService['place'],
  { host, port }: HostPort,
): AdminError {
  const forward = client.kubectl('-n', namespace, 'port-forward', `${resource.slice(0, -1)}/${name}`, String(port))
  return new AdminError(
    'UNAVAILABLE',
    `${host}:${port} is an address inside the service's own pod. Cannot tell which server is behind it`,
    [
      sentence`in the configuration, set the server's own address, or a local address that is forwarded to the server`,
      command`${nested(forward)}   # forwards a local port to the pod. Leave it running`,
    ],
    { obstacle: { kind: 'beyond' } },
  )
}

const pollMs = 500

/** Returns how to stop, start and change the service in a cluster. Throws as the client does, too. */
export function clusterControl(
  given: KubernetesClient,
  service: Pick<ClusterService, 'place' | 'container' | 'status' | 'forget'>,
): ServiceControl {
  const { place: workload, container } = service
  const client = withoutOwning(given, workload)
  /** Gives up what a killed process left behind. */
  const giveUp = async (): Promise<void> => giveUpFields(given, workload)
  const scaled = { client, workload, pollMs, status: async () => service.status() }
  const settings = { client, workload, container }
  /** Discards known answers before and after a write: one that fails may have been carried out */
  const written = async <T>(writing: Promise<T>): Promise<T> => {
    service.forget()
    return writing.finally(() => service.forget())
  }
  return {
    stop: async (options) => written(giveUp().then(async () => scaleDown(scaled, options))),
    tryStop: async () => tryScale(scaled),
    // no dry run: an audit log would show attempts to change something
    async askRights(change) {
      await client.assertMay('patch', workload)
      if (change === null) await client.assertMay('patch', { ...workload, subresource: 'scale' })
    },
    start: async (options) => written(giveUp().then(async () => scaleUp(scaled, options))),
    writeSetting: async (change) => written(giveUp().then(async () => patchSetting(settings, change))),
    trySetting: async (change) => patchSetting(settings, change, { dryRun: true }),
    ownsFields: async () => ownsFields(given, workload),
    giveUpFields: async () => written(giveUp()),
  }
}

/**
 * Returns `rabbitmqctl` in the pod that a broker's address leads to; null if that is no pod of the cluster. Throws as
 * finding the pod does.
 */
async function brokerProgram(
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
