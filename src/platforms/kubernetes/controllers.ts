import { AdminError } from '../../core/error.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { Controller, InstanceOwner } from '../../core/sources.ts'
import type { KubernetesClient } from './client.ts'
import type { Asked, Pod } from './objects.ts'
import type { WorkloadRef } from './scale.ts'

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
function fullKind({ apiVersion = '', kind }: Pick<Owner, 'apiVersion' | 'kind'>): string {
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

interface Thing<Spec = unknown> {
  metadata: {
    name: string
    namespace?: string
    labels?: Readonly<Record<string, string>>
    annotations?: Readonly<Record<string, string>>
    ownerReferences?: readonly { apiVersion?: string; kind: string; name: string; controller?: boolean }[]
  }
  spec?: Spec
}

type ScaledObject = Thing<{ scaleTargetRef?: Target }>

interface Target {
  kind?: string
  name?: string
}

/**
 * Lists what may start the service again by itself, or set back a change: what the workload's own marks name, and what
 * targets the workload. A controller that a missing right hides counts as at work. Throws as the client does.
 */
export async function controllersOf(client: KubernetesClient, workload: WorkloadRef): Promise<readonly Controller[]> {
  const found = await client.get<Thing>(workload)
  const scaled = await ifSeen(client.list<ScaledObject>({ resource: 'scaledobjects', namespace: workload.namespace }))
  const all = await Promise.all([argo(client, found), ...flux(client, found), autoscalers(client, workload, scaled)])
  return [...all.flat(), ...keda(client, workload, scaled), ...operators(client, found)]
}

/** Finds Argo CD, which marks what it keeps by annotation or label (argo-cd.readthedocs.io, "Resource Tracking"). */
async function argo(
  client: KubernetesClient,
  { metadata: { labels = {}, annotations = {} } }: Thing,
): Promise<Controller[]> {
  const tracked =
    annotations['argocd.argoproj.io/tracking-id']?.split(':')[0] ??
    labels['argocd.argoproj.io/instance'] ??
    annotations['argocd.argoproj.io/instance']
  if (!tracked) return []
  interface Spec {
    syncPolicy?: { automated?: { enabled?: boolean } | null }
  }
  const all = await ifSeen(client.list<Thing<Spec>>({ resource: 'applications', namespace: null }))
  const same =
    all?.filter(({ metadata: { name, namespace = '' } }) => name === tracked || `${namespace}_${name}` === tracked) ??
    []
  const [application] = same
  const where = application?.metadata.namespace ?? 'argocd'
  const automated = application?.spec?.syncPolicy?.automated
  const isManual = automated === undefined || automated === null || automated.enabled === false
  const name = application?.metadata.name ?? tracked
  return [
    {
      name: `Argo CD (Application \`${name}\`)`,
      paused: same.length === 1 ? isManual : null,
      pause: [
        client.kubectl(
          '-n',
          where,
          'patch',
          'applications.argoproj.io',
          name,
          '--type',
          'merge',
          '-p',
          '{"spec":{"syncPolicy":{"automated":null}}}',
        ),
      ],
    },
  ]
}

/** Finds Flux, which labels what it applies with its source object (fluxcd.io, "Kustomization", "HelmRelease"). */
function flux(
  client: KubernetesClient,
  { metadata: { labels = {}, namespace: own = '' } }: Thing,
): Promise<Controller[]>[] {
  const kinds = [
    { prefix: 'kustomize.toolkit.fluxcd.io', resource: 'kustomizations', kind: 'Kustomization' },
    { prefix: 'helm.toolkit.fluxcd.io', resource: 'helmreleases', kind: 'HelmRelease' },
  ] as const
  return kinds.map(async ({ prefix, resource, kind }) => {
    const name = labels[`${prefix}/name`]
    if (!name) return []
    const namespace = labels[`${prefix}/namespace`] ?? own
    const asked: Asked & { name: string } = { resource, namespace, name }
    const found = await ifSeen(client.get<Thing<{ suspend?: boolean }>>(asked))
    return [
      {
        name: `Flux (${kind} \`${name}\` in namespace \`${namespace}\`)`,
        paused: found === null ? null : found.spec?.suspend === true,
        pause: [
          client.kubectl(
            '-n',
            namespace,
            'patch',
            `${resource}.${prefix}`,
            name,
            '--type',
            'merge',
            '-p',
            '{"spec":{"suspend":true}}',
          ),
        ],
      },
    ]
  })
}

/** Finds ScaledObjects: they start a target from zero unless paused (keda.sh, "Pausing Autoscaling of Deployments"). */
function keda(
  client: KubernetesClient,
  { namespace, ...workload }: WorkloadRef,
  all: readonly ScaledObject[] | null,
): Controller[] {
  return (all ?? [])
    .filter(({ spec }) => isAimedAt(workload, spec?.scaleTargetRef))
    .map(({ metadata: { name, annotations = {} } }) => ({
      name: `KEDA (ScaledObject \`${name}\`)`,
      paused:
        annotations['autoscaling.keda.sh/paused'] === 'true' ||
        annotations['autoscaling.keda.sh/paused-replicas'] === '0',
      pause: [pauseOf(client, namespace, name)],
    }))
}

function pauseOf(client: KubernetesClient, namespace: string, name: string): ShellCommand {
  return client.kubectl('-n', namespace, 'annotate', 'scaledobjects.keda.sh', name, 'autoscaling.keda.sh/paused=true')
}

/**
 * Finds autoscalers. One leaves alone what others scale to zero (kubernetes.io, "Horizontal Pod Autoscaling", "Implicit
 * maintenance-mode deactivation"), unless it may scale to zero itself. KEDA's autoscaler shows its ScaledObject even if
 * the user may not see ScaledObjects.
 */
async function autoscalers(
  client: KubernetesClient,
  { namespace, ...workload }: WorkloadRef,
  scaled: readonly ScaledObject[] | null,
): Promise<Controller[]> {
  const all = await ifSeen(
    client.list<Thing<{ scaleTargetRef?: Target; minReplicas?: number }>>({
      resource: 'horizontalpodautoscalers',
      namespace,
    }),
  )
  if (all === null && scaled === null) return unseen(client, namespace)
  return (all ?? [])
    .filter(({ spec }) => isAimedAt(workload, spec?.scaleTargetRef))
    .flatMap(({ metadata: { name, ownerReferences = [] }, spec }): Controller[] => {
      const owner = ownerReferences.find(({ kind }) => kind === 'ScaledObject')
      if (owner)
        return scaled === null
          ? [
              {
                name: `KEDA (ScaledObject \`${owner.name}\`)`,
                paused: null,
                pause: [pauseOf(client, namespace, owner.name)],
              },
            ]
          : []
      return [
        {
          name: `the autoscaler \`${name}\``,
          paused: spec?.minReplicas !== 0,
          pause: [
            client.kubectl(
              '-n',
              namespace,
              'patch',
              'horizontalpodautoscalers',
              name,
              '--type',
              'merge',
              '-p',
              '{"spec":{"minReplicas":1}}',
            ),
          ],
        },
      ]
    })
}

/** Returns an unknown autoscaler if the user may see none of their kinds: KEDA's would start the service from zero. */
async function unseen(client: KubernetesClient, namespace: string): Promise<Controller[]> {
  if (await client.may('list', { resource: 'scaledobjects', namespace })) return []
  const canI = (resource: string): ShellCommand => client.kubectl('auth', 'can-i', 'list', resource, '-n', namespace)
  return [
    {
      name: 'an autoscaler (this user has no permission to list autoscalers)',
      paused: null,
      pause: [canI('scaledobjects.keda.sh'), canI('horizontalpodautoscalers.autoscaling')],
    },
  ]
}

function operators(
  client: KubernetesClient,
  { metadata: { namespace = '', ownerReferences = [] } }: Thing,
): Controller[] {
  return ownerReferences
    .filter(({ controller }) => controller === true)
    .map((owner) => ({
      name: `the operator of ${owner.kind} \`${owner.name}\``,
      paused: null,
      pause: [
        command`${nested(client.kubectl('-n', namespace, 'get', fullKind(owner), owner.name, '-o', 'yaml'))}   # shows
          the object. To pause its operator, see the operator's documentation`,
      ],
    }))
}

function isAimedAt({ resource, name }: Omit<WorkloadRef, 'namespace'>, target: Target | undefined): boolean {
  return (
    target?.name === name &&
    (target.kind ?? 'Deployment') === (resource === 'deployments' ? 'Deployment' : 'StatefulSet')
  )
}

/** Returns null if there is no such kind or object, or if it may not be seen. */
async function ifSeen<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof AdminError && (error.code === 'FORBIDDEN' || error.code === 'UNAVAILABLE')) return null
    throw error
  }
}
