import { AdminError } from '../../core/error.ts'
import type { InstanceOwner } from '../../core/sources.ts'
import type { KubernetesClient } from './client.ts'
import type { Pod } from './objects.ts'

interface Owner {
  apiVersion?: string
  kind: string
  name: string
  controller?: boolean
}

interface Owned {
  metadata: { ownerReferences?: readonly Owner[] }
}

/** Maximum number of ReplicaSets that are asked for their owners */
const mostAsked = 5

/**
 * Finds the owners of pods that run the service and are not its workload's. One is an Argo Rollout that refers to a
 * Deployment by `workloadRef` (argo-rollouts.readthedocs.io, "Migrating to Rollouts"). A ReplicaSet that cannot be seen
 * stands for its owner. Throws as the client does.
 */
export async function ownersOf(
  client: KubernetesClient,
  namespace: string,
  pods: readonly Pod[],
): Promise<InstanceOwner[]> {
  const direct = [...new Map(pods.map((pod) => [keyOf(controllerIn(pod)), controllerIn(pod)])).values()]
  const last = await Promise.all(
    direct.map(async (owner, at) => (owner === null || at >= mostAsked ? owner : ownerOf(client, namespace, owner))),
  )
  // a Rollout has a ReplicaSet for each version
  const owners = [...new Map(last.map((owner) => [keyOf(owner), owner])).values()]
  return owners.map((owner) => {
    const its = direct.filter((_, at) => keyOf(last[at]!) === keyOf(owner)).map(keyOf)
    const owned = pods.filter((pod) => its.includes(keyOf(controllerIn(pod)))).map(({ metadata }) => metadata.name)
    const shown = client.kubectl('-n', namespace, 'get', 'pod', owned[0] ?? '', '-o', 'yaml')
    if (owner === null) return { name: 'no controller', instances: owned, proof: [shown] }
    return {
      name: `${owner.kind} \`${owner.name}\``,
      instances: owned,
      proof: [shown, client.kubectl('-n', namespace, 'get', fullKind(owner), owner.name, '-o', 'yaml')],
    }
  })
}

/** Returns `Rollout.v1alpha1.argoproj.io`, which kubectl resolves even if another kind has the same name. */
export function fullKind({ apiVersion = '', kind }: Pick<Owner, 'apiVersion' | 'kind'>): string {
  const [group, version] = apiVersion.split('/')
  return version === undefined || group === undefined ? kind : `${kind}.${version}.${group}`
}

function controllerIn({ metadata: { ownerReferences = [] } }: Owned): Owner | null {
  return ownerReferences.find(({ controller }) => controller === true) ?? null
}

function keyOf(owner: Owner | null): string {
  return owner === null ? '' : `${owner.kind}/${owner.name}`
}

async function ownerOf(client: KubernetesClient, namespace: string, direct: Owner): Promise<Owner> {
  if (direct.kind !== 'ReplicaSet') return direct
  try {
    return controllerIn(await client.get<Owned>({ resource: 'replicasets', namespace, name: direct.name })) ?? direct
  } catch (error) {
    if (error instanceof AdminError && (error.code === 'FORBIDDEN' || error.code === 'UNAVAILABLE')) return direct
    throw error
  }
}
