import { sharedAnswers } from '../../core/answers.ts'
import type { ServiceCommands, ServiceSource } from '../../core/sources.ts'
import type { KubernetesClient } from './client.ts'
import { controllersOf, ownersOf } from './controllers.ts'
import { driftFrom, environmentOf } from './environment.ts'
import { eventsOf, refusalOf } from './events.ts'
import type { ExecPlace, Execution } from './exec.ts'
import { imageOf, placeOf, serviceContainer } from './find.ts'
import type { FoundService } from './find.ts'
import { healthOf, isUnwell, lastWordsOf, startLimitOf } from './health.ts'
import { ingressesBefore } from './service-pods.ts'
import { leaseHolder } from './lease.ts'
import { machinesFor } from './machines.ts'
import type { Pod, Workload } from './objects.ts'
import { isRefusal } from './refusal.ts'
import { canRun, hasEnded, isOwnPod, isPodOf, originsOf, podsOf } from './pods.ts'
import type { WorkloadRef } from './scale.ts'
import type { KubernetesSettings } from './access.ts'
import { failingOf, lackingAmong, statusOf } from './status.ts'
import { startObstaclesOf } from './rollout.ts'
import { typed } from '../../core/typed.ts'
import { nested, sentence } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import { isHostName } from '../../core/host.ts'
import { MissingProgram, execIn } from './exec.ts'

/** Milliseconds for which what was read when the service was found answers questions */
const firstLifeMs = 1000
/** Milliseconds for which the workload and the pods that a status was read from also serve to tell what changed */
const judgedMs = 10_000

/** Number of pods whose objects are shown whole */
const mostDefined = 20
/** A copy of the object as it was applied: the same again, in one line */
const copyAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

/** Returns an object without what only its controllers need. */
function shownOf(object: Workload | Pod): Readonly<Record<string, unknown>> {
  const { managedFields: _, annotations, ...metadata } = { managedFields: null, ...object.metadata }
  const kept = Object.entries(annotations ?? {}).filter(
    // the chart's checksums of Secrets are fingerprints of them
    ([key]) => key !== copyAnnotation && !key.startsWith('checksum/'),
  )
  return { ...object, metadata: { ...metadata, annotations: Object.fromEntries(kept) } }
}

/** The service's workload as it is now, and its pods. */
export interface ClusterService extends ServiceSource {
  workload(): Promise<Workload>
  pods(): Promise<readonly Pod[]>
  /** Sentence that says which it is, and why */
  readonly why: string
  /** What runs it, for changes */
  readonly place: WorkloadRef
  /** Name of its container */
  readonly container: string
  /** Discards what was read when the service was found, since something has been changed */
  forget(): void
}

/** Returns the service in a cluster as checks see it. Every question throws as the client does. */
export function clusterService(
  client: KubernetesClient,
  found: FoundService,
  values: KubernetesSettings['values'],
): ClusterService {
  const { resource, namespace, name, why } = found
  let freshUntil = performance.now() + firstLifeMs
  let judged: { now: Workload; pods: readonly Pod[]; at: number } | null = null
  const workload = async (): Promise<Workload> =>
    performance.now() <= freshUntil ? found.workload : client.get<Workload>({ resource, namespace, name })
  const containerIn = ({ spec }: Workload): FoundService['container'] =>
    serviceContainer(spec.template.spec) ?? found.container
  const placeIn = (pod: Pod): ExecPlace => ({
    namespace,
    pod: pod.metadata.name,
    container: serviceContainer(pod.spec)?.name ?? found.container.name,
  })
  const declaredIn = `${placeOf(found)} (${client.cluster})`
  const place: WorkloadRef = { resource, namespace, name }
  const ownOf = (now: Workload, pods: readonly Pod[]): readonly Pod[] => pods.filter((pod) => isOwnPod(place, now, pod))
  const othersOf = (now: Workload, pods: readonly Pod[]): readonly Pod[] =>
    pods.filter((pod) => !isOwnPod(place, now, pod))
  const warnings = sharedAnswers({ keep: 'nothing' })
  const warningsAbout = async (pods: readonly Pod[]): Promise<readonly string[]> =>
    warnings.to(pods.map(({ metadata }) => metadata.uid ?? metadata.name).join(), async () =>
      eventsOf(client, namespace, pods),
    )
  return {
    why,
    place,
    container: found.container.name,
    workload,
    pods: async () => podsOf(client, found, await workload()),
    async status() {
      const now = await client.get<Workload>({ resource, namespace, name })
      const pods = await podsOf(client, found, now)
      judged = { now, pods, at: performance.now() }
      const [own, others] = [ownOf(now, pods), othersOf(now, pods)]
      const status = statusOf(
        now,
        pods,
        await refusalOf(client, place, now, own),
        await ownersOf(client, namespace, others),
      )
      const evidence = await warningsAbout(failingOf(pods))
      return { ...status, ...(evidence.length > 0 && { evidence }) }
    },
    origins: async () => originsOf(await podsOf(client, found, await workload())),
    async hasEnded(host) {
      // a pod without its labels is no longer the workload's, but still runs
      if (!isPodOf(place, host)) return false
      const pod = await client.get<Pod>({ resource: 'pods', namespace, name: host }).catch((error: unknown) => {
        if (isRefusal(error, 404)) return null
        throw error
      })
      return pod === null || hasEnded(pod)
    },
    async health() {
      const now = await workload()
      const pods = await podsOf(client, found, now)
      const instances = healthOf(pods)
      return {
        wanted: (now.spec.replicas ?? 1) + othersOf(now, pods).length,
        instances,
        said: await warningsAbout(pods.filter(({ metadata }) => isUnwell(metadata, instances))),
      }
    },
    async lastWords(instance) {
      const pod = (await podsOf(client, found, await workload())).find(({ metadata }) => metadata.name === instance)
      return pod === undefined ? null : lastWordsOf(client, pod)
    },
    async definitions() {
      const now = await client.get<Workload>({ resource, namespace, name })
      const pods = await podsOf(client, found, now)
      return [
        { name: `${resource}/${name}`, content: shownOf(now) },
        ...pods.slice(0, mostDefined).map((pod) => ({ name: `pods/${pod.metadata.name}`, content: shownOf(pod) })),
      ]
    },
    async changes() {
      const { changesOf } = await import('./changes.ts')
      // `doctor` has just read both for the status
      if (judged !== null && performance.now() - judged.at < judgedMs)
        return changesOf(client, place, judged.now, judged.pods)
      const now = await workload()
      return changesOf(client, place, now, await podsOf(client, found, now))
    },
    environment: async () => environmentOf(client, namespace, containerIn(await workload())),
    image: async () => imageOf(containerIn(await workload()), declaredIn),
    async machines() {
      const now = await workload()
      return machinesFor(client, now.spec.template.spec, await podsOf(client, found, now))
    },
    async resolve(host) {
      const pod = (await podsOf(client, found, await workload())).find(canRun)
      return pod ? resolvesIn(client, placeIn(pod), host) : null
    },
    proxies: async () => ingressesBefore(client, namespace, await workload()),
    async drift() {
      const container = containerIn(await workload())
      const settings = await driftFrom(
        values,
        await environmentOf(client, namespace, container),
        imageOf(container, declaredIn),
      )
      return {
        declaredIn: values?.file ?? '',
        shown: client.kubectl('-n', namespace, 'set', 'env', `${resource.slice(0, -1)}/${name}`, '--list'),
        settings,
      }
    },
    controllers: async () => controllersOf(client, place),
    async startObstacles() {
      const now = await client.get<Workload>({ resource, namespace, name })
      return startObstaclesOf(client, place, now, ownOf(now, await podsOf(client, found, now)))
    },
    async lacks(settings) {
      const now = await client.get<Workload>({ resource, namespace, name })
      return lackingAmong(ownOf(now, await podsOf(client, found, now)), now, settings).map(({ pod, lacks }) => ({
        message:
          `pod \`${pod}\` does not run with ` +
          `${lacks.map((it) => (it === 'image' ? 'the image' : `the value of \`${it}\``)).join(' or ')} that ` +
          `${placeOf(found)} declares`,
        proof: [
          client.kubectl('-n', namespace, 'get', 'pod', pod, '-o', 'yaml'),
          client.kubectl('get', 'mutatingwebhookconfigurations'),
        ],
      }))
    },
    async startLimit() {
      const limit = startLimitOf(containerIn(await workload()))
      return limit && { ...limit, proof: client.kubectl('-n', namespace, 'get', resource, name, '-o', 'yaml') }
    },
    operator: async () => leaseHolder(client, namespace),
    commands: commandsFor(client, found),
    settingsFiles: null,
    forget() {
      freshUntil = Number.NEGATIVE_INFINITY
      judged = null
    },
  }
}

/** Returns what an operator would type for this service. */
export function commandsFor(
  { kubectl, context }: Pick<KubernetesClient, 'kubectl' | 'context'>,
  { resource, namespace, name, workload, container }: FoundService,
): ServiceCommands {
  const kind = resource === 'deployments' ? 'deployment' : 'statefulset'
  const which = `${kind}/${name}`
  const here = (...words: string[]): ShellCommand => kubectl('-n', namespace, ...words)
  const labels = Object.entries(workload.spec.selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`)
  const release = workload.metadata.annotations?.['meta.helm.sh/release-name']
  const values =
    release === undefined
      ? null
      : typed([
          'helm',
          'get',
          'values',
          release,
          '-n',
          workload.metadata.annotations?.['meta.helm.sh/release-namespace'] ?? namespace,
          ...(context === null ? [] : ['--kube-context', context]),
        ])
  const ofRelease = values === null ? '' : sentence`, and the values of its release (${nested(values)})`
  return {
    start: here('scale', which, `--replicas=${workload.spec.replicas || 1}`),
    stop: here('scale', which, '--replicas=0'),
    restart: here('rollout', 'restart', which),
    status: here('get', 'pods', ...(labels.length > 0 ? ['-l', labels.join(',')] : []), '-o', 'wide'),
    logs: here('logs', which, '-c', container.name, '--tail=200'),
    processes: here('exec', which, '-c', container.name, '--', 'ps', '-ef'),
    edit: here('edit', which),
    settings: sentence`the environment of ${kind} ${name} (${nested(here('edit', which))})${nested(ofRelease)}`,
    ...(values !== null && { values }),
  }
}

/**
 * True if a name resolves in a running container, by its own resolver; null if that cannot be told. Throws as `execIn`
 * if nothing can be run there.
 */
async function resolvesIn(client: KubernetesClient, place: ExecPlace, host: string): Promise<boolean | null> {
  if (!isHostName(host)) return null
  const ask = async (...command: string[]): Promise<Execution | null> =>
    execIn(client, place, command, { timeoutMs: client.timeoutMs }).catch((error: unknown) => {
      if (error instanceof MissingProgram) return null
      throw error
    })
  const asked = await ask('getent', 'hosts', host)
  // getent(1) exits with 2 if the name is unknown
  if (asked) return asked.exitCode === 0 ? true : asked.exitCode === 2 ? false : null
  // BusyBox's does not read /etc/hosts, so that its no does not count
  return (await ask('nslookup', host))?.exitCode === 0 ? true : null
}
