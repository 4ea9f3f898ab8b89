import { AdminError } from '../../core/error.ts'
import type { HostPort, Opened, Way } from '../../core/endpoint.ts'
import type { RelayWish } from '../platform.ts'
import type { ByteStream } from './byte-stream.ts'
import type { KubernetesClient } from './client.ts'
import { MissingProgram } from './exec.ts'
import type { ExecPlace } from './exec.ts'
import { listenForward } from './forward.ts'
import { serviceContainer } from './image.ts'
import { imagesOn } from './node-images.ts'
import type { Node, Pod } from './objects.ts'
import { canRun } from './pods.ts'
import { isRefusal } from './refusal.ts'
import { openRelayStream } from './relay-stream.ts'
import { awaitPod, makePod, ownContainer, removeLeftovers, UnusableImage } from './short-lived.ts'
import type { ShortLived } from './short-lived.ts'
import { withoutAnswer } from './unseen.ts'

interface Around {
  namespace: string
  /** Returns the pods of the service as they are now */
  pods: () => Promise<readonly Pod[]>
  wish: RelayWish
  signal?: AbortSignal | undefined
}

/** Ways through the cluster to servers outside it, open until all are closed. */
export interface Relay {
  /**
   * Opens a way to an address. Throws UNREACHABLE if the cluster does not reach it either, UNAVAILABLE if nothing there
   * can carry it, FORBIDDEN, and as the client does
   */
  open(address: HostPort): Promise<Opened<Way>>
  /** Removes what was made for it; never throws */
  close(): Promise<void>
}

/** Maximum number of the service's pods, and of nodes' images, to try: each may lack the programs */
const mostTries = 4
const leastPodMs = 30_000
/** Seconds after which the pod of a killed process ends by itself */
const podSeconds = 4 * 3600

/**
 * Returns a relay. The service's own pods carry it if they have the programs, and it need not outlast them. Else a pod
 * is made for all connections, with an image that one of the nodes has.
 */
export function relayThrough(client: KubernetesClient, { namespace, pods, wish, signal }: Around): Relay {
  let made: Promise<ShortLived> | null = null
  const streamFrom = async (place: ExecPlace, address: HostPort): Promise<ByteStream> =>
    openRelayStream(client, place, address, { timeoutMs: client.timeoutMs })

  const fromService = async (address: HostPort): Promise<ByteStream | null> => {
    for (const { metadata, spec } of (await pods()).filter(canRun).slice(0, mostTries)) {
      const container = serviceContainer(spec)?.name ?? ''
      try {
        return await streamFrom({ namespace, pod: metadata.name, container }, address)
      } catch (error) {
        // it lacks the programs, has just ended, or its node cannot be reached
        if (!isUnavailable(error) && !isBeyond(error)) throw error
      }
    }
    return null
  }

  const make = async (address: HostPort): Promise<ShortLived> => {
    if (!wish.mayMakePods)
      throw new AdminError(
        'REFUSED',
        'no pod of the service can carry a connection, and none may be created for it',
        [],
        { obstacle: { kind: 'beyond' } },
      )
    await removeLeftovers(client, namespace, 'relay', wish.tell)
    let last: AdminError | null = null
    let tries = 0
    const closed = new Set<string>()
    for (const { node, image } of await placesFor(client, namespace, await pods())) {
      if (closed.has(node)) continue
      if ((tries += 1) > mostTries) break
      const pod = await makePod(
        client,
        namespace,
        { purpose: 'relay', node, image, command: ['sleep', String(podSeconds)], lifeSeconds: podSeconds },
        wish.tell,
      )
      try {
        await awaitPod(client, namespace, pod.name, 'running', {
          timeoutMs: Math.max(leastPodMs, client.timeoutMs),
          signal,
        }).catch((error: unknown) => {
          throw withoutAnswer(error)
        })
        // a trial stream shows what the image lacks
        const proof = await streamFrom({ namespace, pod: pod.name, container: ownContainer }, address)
        proof.close()
        return pod
      } catch (error) {
        await pod.remove()
        if (!isUnavailable(error) && !isBeyond(error)) throw error
        // a node that takes no more pods takes none with another image either
        if (!(error instanceof UnusableImage || error instanceof MissingProgram)) closed.add(node)
        last = error
      }
    }
    const why = last === null ? 'no image is known to be on a node' : `the last one tried: ${last.message}`
    throw new AdminError(
      'UNAVAILABLE',
      `no relay pod can carry a connection; ${why}`,
      [client.kubectl('get', 'nodes', '-o', 'jsonpath={.items[*].status.images[*].names[-1]}')],
      { obstacle: { kind: 'beyond' } },
    )
  }
  const ownPod = async (address: HostPort): Promise<ShortLived> => {
    const making = (made ??= make(address))
    making.catch(() => (made = made === making ? null : made))
    return making
  }

  const stream = async (address: HostPort): Promise<ByteStream> => {
    const carried = wish.isLasting || made ? null : await fromService(address)
    if (carried) return carried
    const pod = await ownPod(address)
    const place = { namespace, pod: pod.name, container: ownContainer }
    return streamFrom(place, address).catch(async (error: unknown) => {
      if (!isRefusal(error, 404)) throw error
      // it was evicted, or somebody has removed it
      made = null
      return streamFrom({ ...place, pod: (await ownPod(address)).name }, address)
    })
  }
  return {
    async open(address) {
      const { source, close } = await listenForward(async () => stream(address))
      return { source: { ...source, command: null }, close }
    },
    async close() {
      const pod = await made?.catch(() => null)
      made = null
      await pod?.remove()
    },
  }
}

/**
 * Lists nodes and the images that they have, those of the service's pods first. For a user who may not list nodes: the
 * nodes and images of the namespace's pods.
 */
async function placesFor(
  client: KubernetesClient,
  namespace: string,
  own: readonly Pod[],
): Promise<{ node: string; image: ReturnType<typeof imagesOn>[number] }[]> {
  const pods = await client.list<Pod>({ resource: 'pods', namespace })
  const nodes = await client.list<Node>({ resource: 'nodes', namespace: null }).catch((error: unknown) => {
    if (error instanceof AdminError && error.code === 'FORBIDDEN') return []
    throw error
  })
  const isDown = (name: string): boolean =>
    nodes.some(
      ({ metadata, status }) =>
        metadata.name === name && status?.conditions?.some(({ type, status: it }) => type === 'Ready' && it !== 'True'),
    )
  const names = [...own, ...pods].flatMap(({ spec }) => spec.nodeName ?? [])
  return [...new Set([...names, ...nodes.map(({ metadata }) => metadata.name)])]
    .filter((name) => !isDown(name))
    .flatMap((node) => imagesOn(node, nodes, pods).map((image) => ({ node, image })))
}

function isBeyond(error: unknown): error is AdminError {
  return error instanceof AdminError && error.obstacle?.kind === 'beyond'
}

function isUnavailable(error: unknown): error is AdminError {
  return error instanceof AdminError && error.code === 'UNAVAILABLE'
}
