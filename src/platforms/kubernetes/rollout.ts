import { oneLine } from '../../adapters/failure.ts'
import { moment } from '../../core/format.ts'
import type { StartObstacle } from '../../core/sources.ts'
import type { KubernetesClient } from './client.ts'
import { placeOf } from './find.ts'
import type { FoundService } from './find.ts'
import type { Node, Pod, Workload } from './objects.ts'
import { isEnding, isOver } from './pods.ts'
import { refusalOf } from './events.ts'
import { isRefusal } from './refusal.ts'
import { isHeld, isRolledOut, isServing, isStuck, unscheduledIn } from './status.ts'

type Place = Pick<FoundService, 'resource' | 'namespace' | 'name'>

/** Milliseconds after its grace period in which a pod may still be ending on a node that answers */
const goingMs = 60_000

/** Lists what keeps pods from coming back after they are gone. Throws as the client does. */
export async function startObstaclesOf(
  client: KubernetesClient,
  place: Place,
  workload: Workload,
  pods: readonly Pod[],
): Promise<StartObstacle[]> {
  const { namespace, name, resource } = place
  const which = `${resource.slice(0, -1)}/${name}`
  const here = (...words: string[]): StartObstacle['proof'][number] => client.kubectl('-n', namespace, ...words)
  const about = (pod: Pod): StartObstacle['proof'] => [here('describe', 'pod', pod.metadata.name)]
  const alive = pods.filter((pod) => !isOver(pod))
  const own = alive.filter((pod) => !isEnding(pod))
  return [
    ...holding(place, workload, here, which),
    ...refusing(await refusalOf(client, place, workload, pods), here, which),
    ...own.flatMap((pod) =>
      unscheduledIn(pod) === null
        ? []
        : [
            {
              kind: 'lasting' as const,
              message: `no node accepts pod \`${pod.metadata.name}\` (${unscheduledIn(pod)})`,
              proof: about(pod),
            },
          ],
    ),
    ...own.flatMap((pod) => unstartable(pod).map((it) => ({ ...it, proof: about(pod) }))),
    ...(await lostNodes(client, alive)),
    ...replaced(workload, own, here, which),
  ]
}

type Here = (...words: string[]) => StartObstacle['proof'][number]

function holding(place: Place, workload: Workload, here: Here, which: string): StartObstacle[] {
  if (!isHeld(workload)) return []
  const { paused, updateStrategy } = workload.spec
  if (paused === true)
    return [
      {
        kind: 'lasting',
        message: `the rollout of ${placeOf(place)} is paused: new pods do not get the latest changes`,
        proof: [here('rollout', 'resume', which)],
      },
    ]
  const partition = updateStrategy?.rollingUpdate?.partition ?? 0
  return [
    {
      kind: 'lasting',
      message:
        `${placeOf(place)} updates only pods numbered ${partition} or higher (\`partition\`): other pods do not ` +
        'get the latest changes',
      proof: [here('get', which, '-o', 'yaml')],
    },
  ]
}

/** Returns the obstacle that a quota or an admission policy is. */
function refusing(refusal: string | null, here: Here, which: string): StartObstacle[] {
  return refusal === null
    ? []
    : [
        {
          kind: 'lasting',
          message: `the cluster refuses to create pods (${refusal})`,
          proof: [here('describe', which)],
        },
      ]
}

/** Reasons that a kubelet gives for an image that it cannot get (pkg/kubelet/images). */
const ofImage = /^(?:ErrImage|ImagePull|InvalidImage|ImageInspect|RegistryUnavailable|SignatureValidation)/

function unstartable({ metadata: { name }, status }: Pod): Omit<StartObstacle, 'proof'>[] {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const stuck = all.find(
    ({ state }) => isStuck(state?.waiting?.reason) && state?.waiting?.reason !== 'CrashLoopBackOff',
  )
  const { reason = '', message = '' } = stuck?.state?.waiting ?? {}
  if (!stuck) return []
  const said = message === '' ? reason : `${reason}: ${oneLine(message).slice(0, 300)}`
  return [
    {
      kind: ofImage.test(reason) ? 'image' : 'lasting',
      message: `container ${stuck.name} of pod \`${name}\` cannot start (${said})`,
    },
  ]
}

/** Lists pods on lost nodes, and overdue ones: if nothing is heard of its node, nobody knows when a pod is gone. */
async function lostNodes(client: KubernetesClient, pods: readonly Pod[]): Promise<StartObstacle[]> {
  const names = [...new Set(pods.flatMap(({ spec }) => spec.nodeName ?? []))]
  const found = await Promise.all(names.map(async (name) => ({ name, isLost: await isLost(client, name) })))
  const lost = found.filter((it) => it.isLost === true).map(({ name }) => name)
  const onLost = pods.filter(({ spec }) => lost.includes(spec.nodeName ?? ''))
  const overdue = pods.filter((pod) => !onLost.includes(pod) && isOverdue(pod))
  return [
    ...onLost.map(
      ({ metadata, spec }): StartObstacle => ({
        kind: 'lasting',
        message:
          `pod \`${metadata.name}\` is on node \`${spec.nodeName}\`, which is not Ready: cannot tell whether ` +
          'the pod is still running',
        proof: [client.kubectl('describe', 'node', spec.nodeName ?? '')],
      }),
    ),
    ...overdue.map(
      ({ metadata }): StartObstacle => ({
        kind: 'lasting',
        message: `pod \`${metadata.name}\` has been Terminating since ${moment(metadata.deletionTimestamp!)}`,
        proof: [client.kubectl('-n', metadata.namespace ?? '', 'describe', 'pod', metadata.name)],
      }),
    ),
  ]
}

/** True if the node is gone or not Ready; null if this user cannot see it, or nobody has reported it yet. */
export async function isLost(client: KubernetesClient, name: string): Promise<boolean | null> {
  try {
    const { status } = await client.get<Node>({ resource: 'nodes', namespace: null, name })
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    return ready === undefined ? null : ready.status !== 'True'
  } catch (error) {
    if (isRefusal(error, 404)) return true
    if (isRefusal(error, 403)) return null
    throw error
  }
}

/** True if the pod is overdue; the time of its deletion is the one at which its grace period ends. */
function isOverdue({ metadata: { deletionTimestamp } }: Pod): boolean {
  return deletionTimestamp !== undefined && Date.now() - Date.parse(deletionTimestamp) > goingMs
}

/** Returns an obstacle if old pods serve while new ones are not ready: once all are gone, old ones do not restart. */
function replaced(workload: Workload, pods: readonly Pod[], here: Here, which: string): StartObstacle[] {
  const {
    metadata: { generation = 0 },
    spec,
    status = {},
  } = workload
  const { observedGeneration = 0, updatedReplicas = 0, replicas: all = 0 } = status
  // there, pods are replaced only when somebody deletes them
  if (isHeld(workload) || spec.updateStrategy?.type === 'OnDelete') return []
  const hasFormer = observedGeneration < generation || all > updatedReplicas
  const serving = pods.filter(isServing).length
  if (serving === 0 || !hasFormer || isRolledOut(workload)) return []
  const stuck = status.conditions?.find(({ type, status: it }) => type === 'Progressing' && it === 'False')
  const why = stuck ? ` (${stuck.reason ?? stuck.type}: ${oneLine(stuck.message ?? '').slice(0, 300)})` : ''
  return [
    {
      kind: 'unready',
      message:
        `old pods still serve users, but the new pods are not ready${why}. If the service is stopped, the old ` +
        'pods will not come back: only new pods will start',
      proof: [here('rollout', 'status', which), here('rollout', 'undo', which)],
    },
  ]
}
