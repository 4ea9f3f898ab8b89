import { isDeepStrictEqual } from 'node:util'
import { AdminError } from '../../core/error.ts'
import { listed } from '../../core/format.ts'
import type { PlatformChange, PlatformChanges } from '../../core/sources.ts'
import type { KubernetesClient } from './client.ts'
import type { FoundService } from './find.ts'
import type { ConfigMap, Container, ContainerStatus, ControllerRevision, EnvVar, Node, Pod } from './objects.ts'
import type { PodTemplate, ReplicaSet, Workload } from './objects.ts'
import { selectorText } from './pods.ts'

/** Label and annotation that name the Helm release that an object is part of (helm.sh, "Labels and Annotations"). */
const release = { label: 'app.kubernetes.io/instance', annotation: 'meta.helm.sh/release-name' } as const

/** Maximum number of settings objects and of nodes that are asked for, and of pods that are looked at */
const [mostObjects, mostNodes, mostPods] = [20, 5, 200]
/** Milliseconds after a revision during which its pods are made, and after an object was made until it is settled */
const [rolloutMs, settleMs] = [600_000, 60_000]

/** Waits for an answer; for what may not be asked, notes that and returns the other value. */
type Seen = <T>(asked: Promise<T>, otherwise: T) => Promise<T>

type Place = Pick<FoundService, 'resource' | 'namespace' | 'name'>
type Owners = NonNullable<Pod['metadata']['ownerReferences']>

/** What a workload's pods were to be from one time on. */
interface Revision {
  /** Name of the ReplicaSet or ControllerRevision */
  name: string
  owner: { kind: string; name: string }
  number: number
  at: Date
  template: PodTemplate
  /** True if it was used before, so that `at` is not when it began */
  hasReturned: boolean
}

/**
 * Returns what changed about a workload and the others of its Helm release: revisions, settings objects, pods, nodes.
 * The cluster keeps no more than it needs, so older changes may be gone. `unseen` lists what may not be asked.
 */
export async function changesOf(
  client: KubernetesClient,
  place: Place,
  workload: Workload,
  own: readonly Pod[],
): Promise<PlatformChanges> {
  const unseen: string[] = []
  const seen: Seen = async (asked, otherwise) =>
    asked.catch((error: unknown) => {
      if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
      unseen.push(error.message)
      return otherwise
    })
  const { own: ownSelector, release: ofRelease } = selectorsOf(workload)
  const each = async <T extends { metadata: Workload['metadata'] }>(
    resource: 'replicasets' | 'controllerrevisions' | 'pods',
  ): Promise<readonly T[]> => {
    const { namespace } = place
    // each kind of workload keeps its revisions in one of the two
    const isOwn = resource === (place.resource === 'deployments' ? 'replicasets' : 'controllerrevisions')
    const selectors = [...(isOwn ? [ownSelector] : []), ...(ofRelease === null ? [] : [ofRelease])]
    const lists = selectors.map(async (labelSelector) =>
      client.list<T>({ resource, namespace, query: { labelSelector } }),
    )
    const all = (await seen(Promise.all(lists), [])).flat()
    return [...new Map(all.map((it) => [it.metadata.uid ?? it.metadata.name, it])).values()]
  }
  const [sets, revisions, beside, objects, nodes] = await Promise.all([
    each<ReplicaSet>('replicasets'),
    each<ControllerRevision>('controllerrevisions'),
    each<Pod>('pods'),
    settingsChanges(client, place.namespace, workload, seen),
    nodeChanges(client, own, seen),
  ])
  const known = [...sets.flatMap(revisionOfSet), ...revisions.flatMap(revisionIn)]
  const byUid = new Map([...own, ...beside].map((pod) => [pod.metadata.uid ?? pod.metadata.name, pod]))
  const pods = [...byUid.values()]
  if (pods.length > mostPods) unseen.push(`only ${mostPods} of ${pods.length} pods were looked at`)
  return {
    changes: [
      ...revisionChanges(client, place.namespace, known, {
        workload,
        unseen,
        isRecent: (it) => isOfRecentPods(it, pods),
      }),
      ...pods.slice(0, mostPods).flatMap((pod) => podChanges(client, place.namespace, pod, known)),
      ...objects,
      ...nodes,
    ],
    unseen: [...new Set(unseen)],
  }
}

/** Milliseconds after which pods are older than any change that matters */
const recentMs = 172_800_000

/** True if pods of that revision were made lately. */
function isOfRecentPods({ name, owner }: Revision, pods: readonly Pod[]): boolean {
  return pods.some(({ metadata }) => {
    const isIts = [name, owner.name].includes(controllerOf(metadata.ownerReferences)?.name ?? '')
    return isIts && Date.now() - Date.parse(metadata.creationTimestamp ?? '') < recentMs
  })
}

/** Returns the label selectors of the workload's own objects, and of those of its Helm release; null: it names none. */
function selectorsOf({ metadata: { labels = {}, annotations = {} }, spec }: Workload): {
  own: string
  release: string | null
} {
  const name = annotations[release.annotation] ?? labels[release.label]
  return { own: selectorText(spec.selector), release: name === undefined ? null : `${release.label}=${name}` }
}

function controllerOf(owners: Owners = []): Owners[number] | undefined {
  return owners.find(({ controller }) => controller === true)
}

const revisionAnnotation = 'deployment.kubernetes.io/revision'
/** The numbers that a ReplicaSet had before it came back (pkg/controller/deployment/util) */
const formerAnnotation = 'deployment.kubernetes.io/revision-history'

function revisionOfSet({ metadata, spec }: ReplicaSet): Revision[] {
  const owner = controllerOf(metadata.ownerReferences)
  const number = Number(metadata.annotations?.[revisionAnnotation])
  const hasReturned = metadata.annotations?.[formerAnnotation] !== undefined
  return owner && Number.isInteger(number) ? revisionAs(metadata, owner, number, spec.template, hasReturned) : []
}

function revisionIn({ metadata, revision, data }: ControllerRevision): Revision[] {
  const [owner, template] = [controllerOf(metadata.ownerReferences), data?.spec?.template]
  return owner && template ? revisionAs(metadata, owner, revision, template) : []
}

function revisionAs(
  { name, creationTimestamp = '' }: Workload['metadata'],
  owner: Revision['owner'],
  number: number,
  template: PodTemplate,
  hasReturned = false,
): Revision[] {
  const at = new Date(creationTimestamp)
  // other kinds have templates, too
  const isOfPods = Array.isArray((template as Partial<PodTemplate>).spec?.containers)
  return Number.isNaN(at.getTime()) || !isOfPods ? [] : [{ name, owner, number, at, template, hasReturned }]
}

const shownOwner = ({ kind, name }: Revision['owner']): string => `${kind} \`${name}\``

function revisionChanges(
  client: KubernetesClient,
  namespace: string,
  all: readonly Revision[],
  { workload, unseen, isRecent }: { workload: Workload; unseen: string[]; isRecent: (it: Revision) => boolean },
): PlatformChange[] {
  const owners = [...new Set(all.map(({ owner }) => shownOwner(owner)))]
  return owners.flatMap((shown) => {
    const sorted = all.filter(({ owner }) => shownOwner(owner) === shown).sort((a, b) => a.number - b.number)
    return sorted.flatMap((revision, index): PlatformChange[] => {
      const { owner, number, name } = revision
      const which = shownOwner(owner)
      const before = sorted[index - 1]
      const proof = client.kubectl(
        ...['-n', namespace, 'rollout', 'history', `${owner.kind.toLowerCase()}/${owner.name}`, `--revision=${number}`],
      )
      // one that comes back keeps the time of its first use, and a ControllerRevision nothing that says so
      const hasReturned = revision.hasReturned || (before !== undefined && before.at > revision.at)
      const isUncertain = owner.kind !== 'Deployment' && before === undefined && number !== 1
      if (hasReturned || isUncertain) {
        const at = hasReturned ? returnedAt(workload, owner, name) : null
        if (at !== null) {
          const found = before === undefined ? [] : differences(before.template, revision.template)
          const what = found.map((it) => it.what).join(', and ')
          const message = `${which} has gone back to an earlier revision${what === '' ? '' : `: it ${what}`}`
          return [{ kind: 'rollout', at, message, proof }]
        }
        // of those that are long over, the time does not matter
        if (index === sorted.length - 1 && isRecent(revision))
          unseen.push(`${which} may have gone back to an earlier revision: the cluster does not keep when`)
        return []
      }
      if (before === undefined) {
        const message = number === 1 ? `${which} was created` : `${which} rolled out revision ${number}`
        return [{ kind: 'rollout', at: revision.at, message, proof }]
      }
      const found = differences(before.template, revision.template)
      if (found.length === 0)
        return [{ kind: 'rollout', at: revision.at, message: `${which} rolled out revision ${number}`, proof }]
      return found.map(({ kind, what }) => ({ kind, at: revision.at, message: `${which} ${what}`, proof }))
    })
  })
}

/** Returns when a Deployment's rollout to a ReplicaSet of an earlier revision ended; null: nothing says it. */
function returnedAt({ metadata, status }: Workload, owner: Revision['owner'], set: string): Date | null {
  if (owner.kind !== 'Deployment' || owner.name !== metadata.name) return null
  const progress = status?.conditions?.find(({ type }) => type === 'Progressing')
  const isAbout = progress?.reason === 'NewReplicaSetAvailable' && progress.message?.includes(`"${set}"`) === true
  const at = new Date((isAbout && progress.lastUpdateTime) || '')
  return Number.isNaN(at.getTime()) ? null : at
}

interface Difference {
  kind: 'rollout' | 'image' | 'setting' | 'restart'
  what: string
}

/** Annotation by which `kubectl rollout restart` replaces all pods */
const restartedAnnotation = 'kubectl.kubernetes.io/restartedAt'

function differences(before: PodTemplate, after: PodTemplate): Difference[] {
  const [former, present] = [before, after].map(({ metadata }) => metadata?.annotations ?? {})
  const annotations = changedKeys(former!, present!)
  const isRestart = annotations.includes(restartedAnnotation)
  const notes = annotations.filter((it) => it !== restartedAnnotation)
  const containers = [...(after.spec.initContainers ?? []), ...after.spec.containers]
  const formerContainers = [...(before.spec.initContainers ?? []), ...before.spec.containers]
  const names = [...new Set([...formerContainers, ...containers].map(({ name }) => name))]
  const fields = changedKeys(withoutContainers(before.spec), withoutContainers(after.spec))
  return [
    ...names.flatMap((name) =>
      containerDifferences(
        name,
        formerContainers.find((it) => it.name === name),
        containers.find((it) => it.name === name),
      ),
    ),
    ...(notes.length > 0 ? [{ kind: 'setting' as const, what: `changed its annotations ${quoted(notes)}` }] : []),
    ...(fields.length > 0 ? [{ kind: 'rollout' as const, what: `changed ${quoted(fields)} of its pods` }] : []),
    ...(isRestart ? [{ kind: 'restart' as const, what: 'was restarted by `kubectl rollout restart`' }] : []),
  ]
}

function withoutContainers({ containers: _, initContainers: __, ...rest }: PodTemplate['spec']): object {
  return rest
}

function containerDifferences(name: string, before: Container | undefined, after: Container | undefined): Difference[] {
  if (!before) return [{ kind: 'rollout', what: `has the new container \`${name}\`` }]
  if (!after) return [{ kind: 'rollout', what: `lost its container \`${name}\`` }]
  const { image: formerImage, env: formerEnv = [], ...formerRest } = before
  const { image, env = [], ...rest } = after
  const settings = settingDifferences(formerEnv, env)
  const fields = changedKeys(formerRest, rest)
  return [
    ...(image === formerImage
      ? []
      : [
          {
            kind: 'image' as const,
            what: `changed the image of container \`${name}\` from \`${formerImage}\` to \`${image}\``,
          },
        ]),
    ...(settings.length > 0
      ? [{ kind: 'setting' as const, what: `changed settings of container \`${name}\`: ${listed(settings)}` }]
      : []),
    ...(fields.length > 0
      ? [{ kind: 'rollout' as const, what: `changed ${quoted(fields)} of container \`${name}\`` }]
      : []),
  ]
}

/** Names the settings that differ; their values may be secret. */
function settingDifferences(before: readonly EnvVar[], after: readonly EnvVar[]): string[] {
  const [former, present] = [before, after].map((env) => Object.fromEntries(env.map((it) => [it.name, it])))
  return changedKeys(former!, present!).map((name) => {
    const how = Object.hasOwn(former!, name) ? (Object.hasOwn(present!, name) ? '' : ' (removed)') : ' (new)'
    return `\`${name}\`${how}`
  })
}

function changedKeys(before: object, after: object): string[] {
  const [former, present] = [before, after].map((it) => new Map<string, unknown>(Object.entries(it)))
  const keys = [...new Set([...former!.keys(), ...present!.keys()])]
  return keys.filter((key) => !isDeepStrictEqual(former!.get(key), present!.get(key)))
}

const quoted = (names: readonly string[]): string => listed(names.map((it) => `\`${it}\``))

/** Returns the ends of a pod's containers, and its own creation unless a rollout made it. */
function podChanges(
  client: KubernetesClient,
  namespace: string,
  { metadata, status = {} }: Pod,
  revisions: readonly Revision[],
): PlatformChange[] {
  const proof = client.kubectl('-n', namespace, 'describe', 'pod', metadata.name)
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  const created = new Date(metadata.creationTimestamp ?? '')
  const revision = revisionOf(metadata, revisions)
  const isRollout = revision !== undefined && created.getTime() - revision.at.getTime() <= rolloutMs
  const isNew = revision !== undefined && !isRollout && !Number.isNaN(created.getTime())
  return [
    ...(isNew
      ? [{ kind: 'restart' as const, at: created, message: `pod \`${metadata.name}\` was created`, proof }]
      : []),
    ...all.flatMap((container) => endsOf(container, metadata.name, proof)),
  ]
}

function revisionOf({ ownerReferences, labels = {} }: Pod['metadata'], all: readonly Revision[]): Revision | undefined {
  const names = [controllerOf(ownerReferences)?.name, labels['controller-revision-hash']]
  return all.find(({ name }) => names.includes(name))
}

function endsOf(
  { name, state, lastState, restartCount = 0 }: ContainerStatus,
  pod: string,
  proof: PlatformChange['proof'],
): PlatformChange[] {
  return [lastState?.terminated, state?.terminated].flatMap((end, index) => {
    const at = new Date(end?.finishedAt ?? '')
    // an init container is meant to end
    if (end === undefined || Number.isNaN(at.getTime()) || (end.exitCode === 0 && index === 1)) return []
    const why = end.reason === undefined || end.reason === 'Error' ? '' : ` (${end.reason})`
    const again = index === 0 && restartCount > 0 && state?.running !== undefined ? ' and was restarted' : ''
    const message = `container \`${name}\` of pod \`${pod}\` exited with ${end.exitCode}${why}${again}`
    return [{ kind: 'restart' as const, at, message, proof }]
  })
}

/** Returns when the ConfigMaps and Secrets that the workload's settings come from were last written, and by whom. */
async function settingsChanges(
  client: KubernetesClient,
  namespace: string,
  { spec }: Workload,
  seen: Seen,
): Promise<PlatformChange[]> {
  const { containers, initContainers = [] } = spec.template.spec
  const named = [...initContainers, ...containers].flatMap(({ env = [], envFrom = [] }) => [
    ...envFrom.flatMap(({ secretRef, configMapRef }) => [
      { resource: 'secrets', name: secretRef?.name } as const,
      { resource: 'configmaps', name: configMapRef?.name } as const,
    ]),
    ...env.flatMap(({ valueFrom }) => [
      { resource: 'secrets', name: valueFrom?.secretKeyRef?.name } as const,
      { resource: 'configmaps', name: valueFrom?.configMapKeyRef?.name } as const,
    ]),
  ])
  const wanted = new Map(
    named.flatMap(({ resource, name }) => (name ? [[`${resource}/${name}`, { resource, name }] as const] : [])),
  )
  const all = await Promise.all(
    [...wanted.values()].slice(0, mostObjects).map(async ({ resource, name }): Promise<PlatformChange[]> => {
      const found = await seen(ifThere(client.get<ConfigMap>({ resource, namespace, name })), null)
      const { managedFields = [], creationTimestamp = '' } = found?.metadata ?? {}
      const last = managedFields.reduce((newest, it) => ((it.time ?? '') > (newest.time ?? '') ? it : newest), {
        time: creationTimestamp,
      } as { time?: string; manager?: string })
      const at = new Date(last.time ?? '')
      if (Number.isNaN(at.getTime())) return []
      const kind = resource === 'secrets' ? 'Secret' : 'ConfigMap'
      const isNew = at.getTime() - new Date(creationTimestamp).getTime() < settleMs
      const by = last.manager ? ` by \`${last.manager}\`` : ''
      return [
        {
          kind: 'setting',
          at,
          message: `${kind} \`${name}\` was ${isNew ? 'created' : `changed${by}`}`,
          proof: client.kubectl(
            ...['-n', namespace, 'get', resource, name, '--show-managed-fields'],
            ...['-o', 'jsonpath={.metadata.managedFields}'],
          ),
        },
      ]
    }),
  )
  return all.flat()
}

/** Returns null for an object that does not exist, which the settings may allow. */
async function ifThere<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch((error: unknown) => {
    if (error instanceof AdminError && error.code === 'UNAVAILABLE') return null
    throw error
  })
}

async function nodeChanges(client: KubernetesClient, pods: readonly Pod[], seen: Seen): Promise<PlatformChange[]> {
  const names = [...new Set(pods.flatMap(({ spec }) => spec.nodeName ?? []))].slice(0, mostNodes)
  const found = await Promise.all(
    names.map(async (name) =>
      seen(
        client.list<Node>({ resource: 'nodes', namespace: null, query: { fieldSelector: `metadata.name=${name}` } }),
        [],
      ),
    ),
  )
  return found.flat().flatMap((node) => conditionChanges(client, node))
}

/** Conditions of a node (kubernetes.io, "Node Status"), with the words for when each holds and when it does not. */
const conditions: Readonly<Record<string, { kind: 'disk' | 'node'; holds: string; ends?: string }>> = {
  // False proves nothing: a node that answers again reports all of them anew
  DiskPressure: { kind: 'disk', holds: 'has run low on disk space (DiskPressure)' },
  MemoryPressure: { kind: 'node', holds: 'has run low on memory (MemoryPressure)' },
  PIDPressure: { kind: 'node', holds: 'has run low on process ids (PIDPressure)' },
  Ready: { kind: 'node', holds: 'became Ready', ends: 'became NotReady' },
}

function conditionChanges(client: KubernetesClient, { metadata, status }: Node): PlatformChange[] {
  const created = new Date(metadata.creationTimestamp ?? '').getTime()
  return (status?.conditions ?? []).flatMap(({ type, status: value, lastTransitionTime = '' }) => {
    const told = Object.hasOwn(conditions, type) ? conditions[type]! : null
    const at = new Date(lastTransitionTime)
    const isFirst = !(at.getTime() - created > settleMs)
    const what = value === 'True' ? told?.holds : told?.ends
    if (told === null || isFirst || what === undefined) return []
    const proof = client.kubectl('describe', 'node', metadata.name)
    return [{ kind: told.kind, at, message: `node \`${metadata.name}\` ${what}`, proof }]
  })
}
