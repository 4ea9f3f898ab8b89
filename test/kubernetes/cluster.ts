import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import type { ExecCall } from './exec.ts'
import { recordedObjects } from './recordings.ts'
import { builtIn } from './resources.ts'
import type { Pod, Resource, Stored, Workload } from './resources.ts'
import { alreadyExists, conflict, notFound } from './status.ts'
import { Workloads } from './workloads.ts'

/** What nobody may do; a part that is left out fits all. `namespace: null` is the cluster scope. */
export interface Rule {
  verb?: string
  /** `secrets`, `pods/log` */
  resource?: string
  namespace?: string | null
}

/** What becomes of a pod that is started. */
export type Fate =
  | 'ready'
  | 'never-ready'
  | { waiting: string; message: string }
  | { exitCode: number; reason: string; log: string }

/** What a container has printed. */
export interface ContainerLog {
  current: LogLine[] | null
  previous: LogLine[] | null
}

export interface LogLine {
  /** to the nanosecond, as the kubelet notes it */
  at: string
  text: string
}

/**
 * A cluster in memory. Its objects may be read and written by tests at any time; pods follow the replicas of their
 * Deployments and StatefulSets, after as many milliseconds as `timing` says.
 */
export class Cluster {
  readonly resources: Resource[] = [...builtIn]
  /** user names by token; a token that is not there is refused with 401 */
  readonly users = new Map([['test-token', 'tester']])
  readonly forbidden: Rule[] = []
  /** all that may be done, as `get secrets`; null: everything that is not forbidden */
  granted: ReadonlySet<string> | null = null
  /** all that was asked for, as `get secrets` */
  readonly asked = new Set<string>()
  /** by `namespace/pod/container` */
  readonly logs = new Map<string, ContainerLog>()
  timing = { startMs: 30, readyMs: 30, stopMs: 30 }
  /** the right that a stream takes which a GET begins: before Kubernetes 1.35, `get` */
  streamVerb: 'create' | 'get' = 'create'
  /** pods stay as they are, whatever their workloads say */
  isFrozen = false
  /** pods on these nodes stay Terminating for ever */
  readonly deadNodes = new Set<string>()
  /** the API server does not reach the kubelets of these nodes, whose pods run on */
  readonly hiddenNodes = new Set<string>()
  readonly hooks: {
    /** a pod's container starts; it becomes ready as soon as this says so */
    starting?: (pod: Pod) => Fate | Promise<Fate>
    /** a pod that a controller makes; what a quota or a policy says where it refuses it */
    admitting?: (pod: Pick<Pod, 'metadata' | 'spec'>) => string | null
    /** it has been told to end, and is there until this is done */
    stopping?: (pod: Pod) => void | Promise<void>
    /** how a Job ends; it runs until this is done */
    job?: (job: Stored) => 'Complete' | 'Failed' | Promise<'Complete' | 'Failed'>
    /** the replicas of a workload were changed through the API */
    scaled?: (workload: Workload, replicas: number) => void
    /** runs a program in a pod; null: its image has none of that name */
    exec?: (call: ExecCall) => ChildProcessWithoutNullStreams | null
    /** whether the kubelet of a pod is reached for its log, `exec` or `portforward`: asked each time */
    reached?: (subresource: string, pod: Pod) => boolean
  } = {}
  /** programs that were started in pods and have not ended */
  readonly programs = new Set<ChildProcess>()
  /** of exec, that are open */
  readonly streams = new Set<Duplex>()
  /** what an older server knows of exec; null: all */
  execProtocols: readonly string[] | null = null
  /** emits `change` with {type, resource, object} */
  readonly changes = new EventEmitter().setMaxListeners(100)
  resourceVersion = 0
  readonly #objects = new Map<string, Map<string, Stored>>()
  readonly #workloads = new Workloads(this)

  resource(plural: string): Resource {
    const found = this.resources.find((it) => it.plural === plural)
    if (!found) throw new Error(`the cluster keeps no ${plural}`)
    return found
  }

  /** In the order of their names. */
  list(plural: string, namespace: string | null = null): Stored[] {
    const all = [...(this.#objects.get(plural)?.entries() ?? [])]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, it]) => it)
    return namespace === null ? all : all.filter(({ metadata }) => metadata.namespace === namespace)
  }

  get deployments(): Workload[] {
    return this.list('deployments') as Workload[]
  }

  get pods(): Pod[] {
    return this.list('pods') as Pod[]
  }

  find(plural: string, namespace: string | null | undefined, name: string): Stored | null {
    return this.#objects.get(plural)?.get(keyOf(namespace, name)) ?? null
  }

  /** Throws 404. */
  get(plural: string, namespace: string | null | undefined, name: string): Stored {
    const found = this.find(plural, namespace, name)
    if (!found) throw notFound(this.resource(plural), name)
    return found
  }

  /** Puts an object there as it is, as a recording has it. */
  load(plural: string, object: Stored): void {
    const copy = structuredClone(object)
    const { namespace, name } = copy.metadata
    const objects = this.#objects.get(plural) ?? new Map<string, Stored>()
    this.#objects.set(plural, objects.set(keyOf(namespace, name), copy))
    this.resourceVersion = Math.max(this.resourceVersion, Number(copy.metadata.resourceVersion ?? 0))
  }

  /** Throws 409 where it is there already. */
  create(plural: string, object: Stored): Stored {
    const { namespace, name } = object.metadata
    if (this.find(plural, namespace, name)) throw alreadyExists(this.resource(plural), name)
    const created: Stored = structuredClone(object)
    const { metadata } = created
    metadata.uid = randomUUID()
    metadata.creationTimestamp = timestamp(new Date())
    if (isWorkload(plural)) metadata.generation = 1
    const stored = this.#store('ADDED', plural, created)
    if (plural === 'jobs') this.#workloads.run(stored)
    return stored
  }

  /** Takes the place of an object; throws 404, and 409 where it names another version than the one that is there. */
  replace(plural: string, object: Stored): Stored {
    const { namespace, name, resourceVersion } = object.metadata
    const before = this.get(plural, namespace, name)
    if (resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion)
      throw conflict(this.resource(plural), name)
    const { uid, creationTimestamp, generation } = before.metadata
    const after: Stored = structuredClone({
      ...object,
      metadata: { ...object.metadata, ...(uid && { uid }), ...(creationTimestamp && { creationTimestamp }) },
    })
    const changed = !isDeepStrictEqual(before['spec'], after['spec'])
    if (generation !== undefined) after.metadata.generation = generation + (changed ? 1 : 0)
    return this.#store('MODIFIED', plural, after)
  }

  /** Changes an object in place, as a controller does. Nothing happens where it is gone. */
  update(plural: string, { metadata: { namespace, name } }: Stored, change: (object: Stored) => void): void {
    const found = this.find(plural, namespace, name)
    if (!found) return
    const next = structuredClone(found)
    change(next)
    this.#store('MODIFIED', plural, next)
  }

  /** Throws 404. A pod is Terminating for a while. */
  delete(plural: string, namespace: string | null | undefined, name: string): Stored {
    const object = this.get(plural, namespace, name)
    if (plural === 'pods') this.#workloads.terminate(object as Pod)
    else this.remove(plural, object)
    return object
  }

  /** Gone at once. */
  remove(plural: string, { metadata: { namespace, name } }: Stored): void {
    const object = this.find(plural, namespace, name)
    if (!object) return
    this.#objects.get(plural)?.delete(keyOf(namespace, name))
    this.changes.emit('change', { type: 'DELETED', resource: plural, object })
    if (plural === 'namespaces')
      for (const it of this.resources) for (const inside of this.list(it.plural, name)) this.remove(it.plural, inside)
    if (plural === 'pods' || isWorkload(plural)) this.#workloads.settle()
  }

  /** Adds a line to what a container prints. */
  print(
    pod: string,
    container: string,
    text: string,
    { namespace = 'testops', at = nanoseconds(new Date()), previous = false } = {},
  ): void {
    const key = `${namespace}/${pod}/${container}`
    const log = this.logs.get(key) ?? { current: null, previous: null }
    const part = previous ? 'previous' : 'current'
    ;(log[part] ??= []).push({ at, text })
    this.logs.set(key, log)
    this.changes.emit('log', key)
  }

  /** Whether the API server does not reach the kubelet of a pod. */
  isHidden(subresource: string, pod: Pod): boolean {
    return this.hiddenNodes.has(pod.spec.nodeName ?? '') || this.hooks.reached?.(subresource, pod) === false
  }

  /** Lets pods follow their workloads, as after each change of one. */
  settle(): void {
    this.#workloads.settle()
  }

  close(): void {
    for (const program of this.programs) program.kill('SIGKILL')
    this.#workloads.close()
  }

  #store(type: 'ADDED' | 'MODIFIED', plural: string, object: Stored): Stored {
    const { namespace, name } = object.metadata
    object.metadata.resourceVersion = String(++this.resourceVersion)
    const objects = this.#objects.get(plural) ?? new Map<string, Stored>()
    this.#objects.set(plural, objects.set(keyOf(namespace, name), object))
    this.changes.emit('change', { type, resource: plural, object })
    if (isWorkload(plural)) this.#workloads.settle()
    return object
  }
}

function isWorkload(plural: string): boolean {
  return plural === 'deployments' || plural === 'statefulsets'
}

function keyOf(namespace: string | null | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`
}

/** As Kubernetes writes a time. */
export function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`
}

/** A time to the nanosecond. */
function nanoseconds(date: Date): string {
  return date.toISOString().replace('Z', '000000Z')
}

/** The hash of a template, of the kind that names replica sets. */
export function hashOf(value: unknown): string {
  return safe(createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 9))
}

/** Without what could make words, as in all names that Kubernetes makes up (k8s.io/apimachinery, "rand"). */
export function safe(hex: string): string {
  return [...hex].map((digit) => 'bcdfghjklmnpqrst'[Number.parseInt(digit, 16)]).join('')
}

const recorded = {
  deployments: ['deployments-list'],
  replicasets: ['replicasets-list'],
  statefulsets: ['statefulsets-list'],
  pods: ['pods-list', 'pod-crashing'],
  nodes: ['nodes-list'],
  services: ['services-list'],
  secrets: ['secret-get'],
  events: ['events-list'],
} as const

/**
 * The cluster of the recorded exchanges, as it was at the time of its lists; without the deployment that crashes,
 * unless wanted.
 */
export function recordedCluster({ crashing = false } = {}): Cluster {
  const cluster = new Cluster()
  const isWanted = ({ metadata }: Stored): boolean => crashing || !metadata.name.startsWith('crashing')
  for (const [plural, names] of Object.entries(recorded)) {
    for (const object of names.flatMap(recordedObjects).filter(isWanted)) cluster.load(plural, object)
  }
  for (const name of ['default', 'testops'])
    cluster.load('namespaces', { metadata: { name }, spec: {}, status: { phase: 'Active' } })
  cluster.resourceVersion = 424
  return cluster
}
