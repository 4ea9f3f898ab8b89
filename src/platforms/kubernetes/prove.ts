import { AdminError } from '../../core/error.ts'
import type { Machine } from '../../core/sources.ts'
import {
  architectureIn,
  firmwareFiles,
  hypervisorNamed,
  isCutShort,
  isVirtual,
  parseCpuinfo,
} from '../../knowledge/processors.ts'
import type { Proof } from '../platform.ts'
import type { KubernetesClient } from './client.ts'
import { execIn } from './exec.ts'
import { serviceContainer } from './find.ts'
import { inTurns } from '../../core/work.ts'
import { awaitPod, imagesOn, makePod, ownContainer, removeLeftovers } from './short-lived.ts'
import type { NodeImage } from './short-lived.ts'
import type { Node, Pod, PodSpec } from './objects.ts'
import { isEnding } from './pods.ts'

const command = ['cat', '/proc/cpuinfo', ...firmwareFiles]
/** Maximum bytes of output, for a machine with thousands of processors */
const maxBytes = 64_000_000
/** Maximum number of running pods, and of images, to try on a node: each may lack the program */
const mostTries = 4
const leastPodMs = 30_000
/** Seconds after which a pod ends by itself */
const podSeconds = 120

interface Around {
  namespace: string
  /** How the service's pods are made */
  spec: PodSpec
  proof: Proof
  nodes: readonly Node[]
  pods: readonly Pod[]
}

/**
 * Reads the processors of nodes in a pod that runs there anyway, the service's own first. Else, if pods may be made,
 * uses a short-lived one with an image that the node has. If that fails, returns the node as it was, with the reason.
 * Throws INTERRUPTED.
 */
export async function proveMachines(
  client: KubernetesClient,
  { namespace, spec }: { namespace: string; spec: PodSpec },
  machines: readonly Machine[],
  proof: Proof,
): Promise<readonly Machine[]> {
  const [nodes, all] = await Promise.all([
    client.list<Node>({ resource: 'nodes', namespace: null }),
    client.list<Pod>({ resource: 'pods', namespace }),
  ])
  const pods = all.filter((pod) => pod.spec.runtimeClassName === spec.runtimeClassName)
  if (proof.mayMakePods) await removeLeftovers(client, namespace, 'check-cpu', proof.tell)
  const around: Around = { namespace, spec, proof, nodes, pods }
  return inTurns(machines, async (machine) =>
    machine.architecture === null || machine.architecture === 'x86_64' ? proven(client, machine, around) : machine,
  )
}

async function proven(client: KubernetesClient, machine: Machine, around: Around): Promise<Machine> {
  const reasons: string[] = []
  for (const ask of [fromRunning, fromOwn]) {
    const answer = await ask(client, machine.name, around, (error) => reasons.push(error.message))
    if (answer) return answer
  }
  return {
    ...machine,
    unproven:
      [...new Set(reasons)].join('\n') ||
      'no pod of this namespace runs on this node, and the node has no usable image for a new pod',
  }
}

/** Reports a failed attempt, after which the next is tried: only trying shows whether an image has what is needed. */
type Failed = (error: AdminError) => void

async function fromRunning(
  client: KubernetesClient,
  node: string,
  { namespace, pods, proof: { signal } }: Around,
  failed: Failed,
): Promise<Machine | null> {
  const running = pods
    .filter((pod) => pod.spec.nodeName === node && !isEnding(pod))
    .flatMap((pod) => placeIn(pod) ?? [])
  for (const { pod, container } of running
    .toSorted((a, b) => Number(b.isService) - Number(a.isService))
    .slice(0, mostTries)) {
    const machine = await tried(async () => {
      const { stdout } = await execIn(client, { namespace, pod, container }, command, {
        timeoutMs: client.timeoutMs,
        maxBytes,
        signal,
      })
      return machineIn(node, stdout)
    }, failed)
    if (machine) return machine
    if (machine === null) return null
  }
  return null
}

function placeIn({ metadata, spec, status }: Pod): { pod: string; container: string; isService: boolean } | null {
  const running = (status?.containerStatuses ?? [])
    .filter(({ state }) => state?.running !== undefined)
    .map(({ name }) => name)
  const own = serviceContainer(spec)?.name
  const isService = own !== undefined && running.includes(own)
  const container = isService ? own : running[0]
  return container === undefined ? null : { pod: metadata.name, container, isService }
}

async function fromOwn(
  client: KubernetesClient,
  node: string,
  { namespace, spec, nodes, pods, proof }: Around,
  failed: Failed,
): Promise<Machine | null> {
  if (!proof.mayMakePods) {
    failed(
      new AdminError(
        'REFUSED',
        'to read /proc/cpuinfo of the node, this check would have to create a pod there, but the check must not ' +
          'change anything',
      ),
    )
    return null
  }
  for (const image of imagesOn(node, nodes, pods).slice(0, mostTries)) {
    const machine = await tried(
      async () =>
        machineIn(
          node,
          await printed(client, namespace, node, { image, runtimeClassName: spec.runtimeClassName, proof }),
        ),
      failed,
    )
    if (machine) return machine
    if (machine === null) return null
  }
  return null
}

/** Returns what a pod of our own prints on that node. */
async function printed(
  client: KubernetesClient,
  namespace: string,
  node: string,
  {
    image,
    runtimeClassName,
    proof: { tell, signal },
  }: { image: NodeImage; runtimeClassName: string | undefined; proof: Proof },
): Promise<string> {
  const pod = await makePod(
    client,
    namespace,
    { purpose: 'check-cpu', node, image, command, lifeSeconds: podSeconds, runtimeClassName },
    tell,
  )
  try {
    await awaitPod(client, namespace, pod.name, 'ended', { timeoutMs: Math.max(leastPodMs, client.timeoutMs), signal })
    const { text } = await client.text(
      { resource: 'pods', namespace, name: pod.name, subresource: 'log', query: { container: ownContainer } },
      { maxBytes },
    )
    return text
  } finally {
    await pod.remove()
  }
}

/** Returns undefined if it failed, and another attempt may not; null if every other one would fail, too. */
async function tried(work: () => Promise<Machine | null>, failed: Failed): Promise<Machine | null | undefined> {
  try {
    return (await work()) ?? undefined
  } catch (error) {
    if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
    failed(error)
    return error.code === 'FORBIDDEN' || error.code === 'TIMED_OUT' ? null : undefined
  }
}

/** Reads a machine from /proc/cpuinfo; null if it shows none. Throws UNEXPECTED_ANSWER if it is cut short. */
function machineIn(name: string, text: string): Machine | null {
  if (isCutShort(text))
    throw new AdminError('UNEXPECTED_ANSWER', 'a pod on this node printed only part of /proc/cpuinfo')
  const processors = parseCpuinfo(text)
  const architecture = architectureIn(text)
  if (architecture === null) return null
  return {
    name,
    architecture,
    processors,
    hypervisor: isVirtual(processors) ? hypervisorNamed(text.split('\n')) : null,
  }
}
