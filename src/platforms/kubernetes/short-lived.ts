import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { oneLine, seconds } from '../../adapters/failure.ts'
import { livesHere, processName } from '../../adapters/process-identity.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import { toolsRank } from '../../knowledge/images.ts'
import type { KubernetesClient } from './client.ts'
import type { ContainerStatus, Node, Pod } from './objects.ts'
import { isRefusal, Refusal } from './refusal.ts'

/** Why a pod is created. */
type Purpose = 'check-cpu' | 'relay'

interface Wish {
  purpose: Purpose
  node: string
  image: NodeImage
  command: readonly string[]
  /** Seconds after which it ends by itself, whatever becomes of this process */
  lifeSeconds: number
  /** Class of the service's own pods: another runtime may be another machine */
  runtimeClassName?: string | undefined
}

/** A pod of our own. */
export interface ShortLived {
  name: string
  /** Removes the pod; reports it if that fails, and never throws */
  remove(): Promise<void>
}

export const ownContainer = 'main'
const labels = { managedBy: 'app.kubernetes.io/managed-by', purpose: 'testops-admin/purpose' } as const
const processAnnotation = 'testops-admin/process'
const pollMs = 300
/** Milliseconds after which the output of a pod has been read; none that prints lives longer */
const unreadMs = 600_000

/** This image cannot run anything; another one might. */
export class UnusableImage extends AdminError {}

/**
 * Makes a pod on a node with an image that it has; `tell` reports what could not be removed again. Throws `Refusal`, as
 * for a quota or a policy, and as the client does. An interruption does not stop it halfway.
 */
export async function makePod(
  client: KubernetesClient,
  namespace: string,
  wish: Wish,
  tell: (message: string) => void,
): Promise<ShortLived> {
  const name = `testops-admin-${wish.purpose}-${randomBytes(4).toString('hex')}`
  const pod: ShortLived = { name, remove: async () => removePod(client, namespace, name, tell) }
  try {
    await client.lasting.change(
      { resource: 'pods', namespace },
      { verb: 'create', body: bodyOf(name, wish, await processName()) },
    )
    return pod
  } catch (error) {
    // a request whose answer was lost may have been carried out
    if (!(error instanceof Refusal)) await pod.remove()
    throw error
  }
}

/**
 * Removes pods of that kind that earlier runs have left: whose process on this machine has ended, or that ended a while
 * ago. Never throws.
 */
export async function removeLeftovers(
  client: KubernetesClient,
  namespace: string,
  purpose: Purpose,
  tell: (message: string) => void,
): Promise<void> {
  const labelSelector = `${labels.managedBy}=testops-admin,${labels.purpose}=${purpose}`
  const all = await client.list<Pod>({ resource: 'pods', namespace, query: { labelSelector } }).catch(() => [])
  for (const { metadata, status } of all) {
    const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed'
    // another operator may be about to read a pod that has just ended
    const isOld = Date.now() - Date.parse(metadata.creationTimestamp ?? '') > unreadMs
    if ((isOver && isOld) || (await livesHere(metadata.annotations?.[processAnnotation])) === false)
      await removePod(client, namespace, metadata.name, tell)
  }
}

/**
 * Waits until the pod's container runs or has ended. Throws `UnusableImage` if it cannot be started with this image,
 * UNAVAILABLE if the node does not take it, TIMED_OUT, INTERRUPTED.
 */
export async function awaitPod(
  client: KubernetesClient,
  namespace: string,
  name: string,
  is: 'running' | 'ended',
  options: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<void> {
  const { timeoutMs, signal } = options
  const until = performance.now() + timeoutMs
  for (;;) {
    if (signal?.aborted) throw signal.reason as Error
    const { status } = await client.get<Pod>({ resource: 'pods', namespace, name })
    const container = status?.containerStatuses?.find((it) => it.name === ownContainer)
    refuseUnusable(container)
    if (container?.state?.[is === 'running' ? 'running' : 'terminated']) return
    if (status?.phase === 'Failed' || container?.state?.terminated) {
      throw new AdminError(
        'UNAVAILABLE',
        `pod ${name} failed: ` +
          `${oneLine([status?.reason, status?.message].filter(Boolean).join(': ')) || 'no reason given'}`,
      )
    }
    if (performance.now() > until) {
      const waiting = container?.state?.waiting
      const why =
        waiting?.reason ??
        status?.conditions?.find((it) => it.status === 'False' && it.reason)?.reason ??
        status?.phase ??
        'no reason given'
      throw new AdminError(
        'TIMED_OUT',
        `pod ${name} did not ${is === 'running' ? 'start' : 'finish'} within ${seconds(timeoutMs)} (${why})`,
      )
    }
    await sleep(pollMs, undefined, signal ? { signal } : {}).catch(() => undefined)
  }
}

const unusable = new RegExp(
  '^(?:ErrImage|ImagePull|InvalidImage|ImageInspect|CreateContainer|RunContainer|RegistryUnavailable|' +
    'SignatureValidation|StartError)',
)

/**
 * Throws `UnusableImage` for what a kubelet says of an image that it does not have or cannot start: pkg/kubelet/images,
 * and the runtimes' own reasons.
 */
function refuseUnusable(container: ContainerStatus | undefined): void {
  const { waiting, terminated } = container?.state ?? {}
  const refused = waiting && unusable.test(waiting.reason ?? '') ? waiting : null
  const notStarted =
    terminated &&
    (/^(?:StartError|ContainerCannotRun)$/.test(terminated.reason ?? '') || [126, 127].includes(terminated.exitCode))
      ? terminated
      : null
  const it = refused ?? notStarted
  if (it)
    throw new UnusableImage(
      'UNAVAILABLE',
      `cannot start a pod with image \`${container?.image ?? ''}\`: ` +
        `${oneLine([it.reason, it.message].filter(Boolean).join(': '))}`,
    )
}

async function removePod(
  client: KubernetesClient,
  namespace: string,
  name: string,
  tell: (message: string) => void,
): Promise<void> {
  try {
    await client.lasting.change(
      { resource: 'pods', namespace, name, query: { gracePeriodSeconds: 0 } },
      { verb: 'delete' },
    )
  } catch (error) {
    if (isRefusal(error, 404)) return
    if (!(error instanceof AdminError)) throw error
    tell(
      `pod ${name} in namespace ${namespace} could not be removed: ${messageOf(error)}\n  ` +
        `${client.kubectl('-n', namespace, 'delete', 'pod', name)}`,
    )
  }
}

/** Returns a pod as the Pod Security level `restricted` requires it (kubernetes.io, "Pod Security Standards"). */
function bodyOf(
  name: string,
  { purpose, node, image, command, lifeSeconds, runtimeClassName }: Wish,
  process: string | null,
): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      // a mesh's own container beside it would never end
      labels: { [labels.managedBy]: 'testops-admin', [labels.purpose]: purpose, 'sidecar.istio.io/inject': 'false' },
      annotations: { 'linkerd.io/inject': 'disabled', ...(process !== null && { [processAnnotation]: process }) },
    },
    spec: {
      nodeName: node,
      tolerations: [{ operator: 'Exists' }],
      restartPolicy: 'Never',
      activeDeadlineSeconds: lifeSeconds,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...(runtimeClassName !== undefined && { runtimeClassName }),
      ...(image.pullSecrets.length > 0 && { imagePullSecrets: image.pullSecrets.map((it) => ({ name: it })) }),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65534,
        runAsGroup: 65534,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: ownContainer,
          image: image.image,
          imagePullPolicy: 'Never',
          command,
          resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '200m', memory: '64Mi' } },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    },
  }
}

/** An image that a node has, and the names of the Secrets that it may have been pulled with. */
export interface NodeImage {
  image: string
  pullSecrets: readonly string[]
}

/**
 * Lists the images that a node has, likely ones with a shell first, and of these the small ones. Leaves out images that
 * surely have no shell. A node's status may list only some of its images (the kubelet reports 50), so that those that
 * run there now are added.
 */
export function imagesOn(node: string, nodes: readonly Node[], pods: readonly Pod[]): NodeImage[] {
  const listed = nodes.find(({ metadata }) => metadata.name === node)?.status?.images ?? []
  const known = listed.flatMap(({ names = [], sizeBytes = Infinity }) => {
    // a tag says more to a person than a digest does
    const name = names
      .filter((it) => !it.includes('<none>'))
      .toSorted((a, b) => Number(a.includes('@')) - Number(b.includes('@')))[0]
    return name === undefined ? [] : [{ image: name, sizeBytes, pullSecrets: secretsFor(names, pods) }]
  })
  const running = pods
    .filter(({ spec, status }) => spec.nodeName === node && status?.phase === 'Running')
    .flatMap(({ spec }) =>
      spec.containers.map(({ image = '' }) => ({ image, sizeBytes: Infinity, pullSecrets: namesIn(spec) })),
    )
  const all = [
    ...known,
    ...running.filter(
      ({ image }, index) =>
        image !== '' &&
        !listed.some(({ names = [] }) => names.includes(image)) &&
        running.findIndex((it) => it.image === image) === index,
    ),
  ]
  return all
    .filter(({ image }) => toolsRank(image) < 3)
    .toSorted(
      (a, b) =>
        toolsRank(a.image) - toolsRank(b.image) || (a.sizeBytes === b.sizeBytes ? 0 : a.sizeBytes - b.sizeBytes),
    )
    .map(({ image, pullSecrets }) => ({ image, pullSecrets }))
}

/** Returns the Secrets of its users: since 1.35, a kubelet lets only pods that name one use the image (KEP-2535). */
function secretsFor(names: readonly string[], pods: readonly Pod[]): readonly string[] {
  const users = pods.filter(({ spec }) => spec.containers.some(({ image = '' }) => names.includes(image)))
  return [...new Set(users.flatMap(({ spec }) => namesIn(spec)))]
}

function namesIn({ imagePullSecrets = [] }: Pod['spec']): readonly string[] {
  return imagePullSecrets.flatMap(({ name }) => name ?? [])
}
