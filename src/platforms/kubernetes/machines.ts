import type { Machine } from '../../core/sources.ts'
import { toldByLabels } from '../../knowledge/processors.ts'
import type { KubernetesClient } from './client.ts'
import type { Expression, Node, Pod, PodSpec, Toleration } from './objects.ts'
import { own } from '../../core/lookup.ts'

/** Nodes per request: with the images that it lists, a node is ten times as large as a pod */
const pageSize = 100

/** Lists the nodes on which pods of this kind run, or could be scheduled. Throws FORBIDDEN, and as the client does. */
export async function machinesFor(
  client: KubernetesClient,
  spec: PodSpec,
  pods: readonly Pod[],
): Promise<readonly Machine[]> {
  const used = new Set(pods.map((pod) => pod.spec.nodeName))
  const machines: Machine[] = []
  for await (const nodes of client.pages<Node>({ resource: 'nodes', namespace: null, query: { limit: pageSize } })) {
    machines.push(...nodes.filter((node) => used.has(node.metadata.name) || couldTake(node, spec)).map(machineOf))
  }
  return machines
}

function machineOf({ metadata: { name, labels = {} }, status }: Node): Machine {
  const architecture = status?.nodeInfo?.architecture ?? null
  const told = toldByLabels(labels)
  return {
    name,
    architecture: architecture === null ? null : (unameOf[architecture] ?? architecture),
    // labels of a node are no list of flags
    processors: [],
    hypervisor: null,
    ...(told && { told }),
  }
}

/** Go's names of architectures, which Kubernetes uses, and those of `uname`. */
const unameOf: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64', '386': 'i686' }

/**
 * True if the scheduler could choose a node by what it is, whatever is free on it (kubernetes.io, "Assigning Pods to
 * Nodes").
 */
function couldTake(
  { metadata: { name, labels = {} }, spec: { unschedulable = false, taints = [] } = {} }: Node,
  spec: PodSpec,
): boolean {
  const { nodeSelector = {}, tolerations = [], affinity } = spec
  if (unschedulable) return false
  // the service's images are for Linux
  if ((labels['kubernetes.io/os'] ?? 'linux') !== 'linux') return false
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return (
    Object.entries(nodeSelector).every(([key, value]) => own(labels, key) === value) &&
    (terms === undefined ||
      terms.some(
        ({ matchExpressions = [], matchFields = [] }) =>
          matchExpressions.length + matchFields.length > 0 &&
          matchExpressions.every((it) => fits(own(labels, it.key), it)) &&
          matchFields.every((it) => fits(it.key === 'metadata.name' ? name : undefined, it)),
      )) &&
    taints.every((taint) => taint.effect === 'PreferNoSchedule' || tolerations.some((it) => tolerates(it, taint)))
  )
}

function fits(value: string | undefined, { operator, values = [] }: Expression): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return Number(value) > Number(values[0])
    case 'Lt':
      return Number(value) < Number(values[0])
    default:
      return false
  }
}

function tolerates(toleration: Toleration, taint: { key: string; value?: string; effect: string }): boolean {
  const { key = '', operator = 'Equal', value = '', effect = '' } = toleration
  if (effect !== '' && effect !== taint.effect) return false
  if (key === '') return operator === 'Exists'
  return key === taint.key && (operator === 'Exists' || value === (taint.value ?? ''))
}
