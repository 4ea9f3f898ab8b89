import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Cluster, Fate } from './cluster.ts'
import { hashOf, safe, timestamp } from './cluster.ts'
import { written } from './managers.ts'
import type { Writer } from './managers.ts'
import { crashed, pending, running, waiting } from './pod-states.ts'
import type { Metadata, Pod, Stored, Workload } from './resources.ts'

/** how long a pod that is refused is not tried again */
const refusedMs = 200

/** Makes pods follow the replicas of Deployments and StatefulSets, one step after another, over a short time. */
export class Workloads {
  readonly #cluster: Cluster
  readonly #timers = new Set<NodeJS.Timeout>()
  #isSettling = false
  #isClosed = false

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** Looks at all workloads once whoever changes them is done. */
  settle(): void {
    if (this.#isSettling || this.#isClosed || this.#cluster.isFrozen) return
    this.#isSettling = true
    this.#after(0, () => {
      this.#isSettling = false
      for (const it of this.#cluster.list('deployments') as Workload[]) this.#settleDeployment(it)
      for (const it of this.#cluster.list('statefulsets') as Workload[]) this.#settleSet('statefulsets', it, it)
      this.#removeOrphans()
    })
  }

  terminate(pod: Pod): void {
    if (pod.metadata.deletionTimestamp !== undefined) return
    this.#cluster.update('pods', pod, ({ metadata }) => {
      metadata.deletionTimestamp = timestamp(new Date())
      metadata.deletionGracePeriodSeconds = 30
    })
    this.settle()
    if (this.#cluster.deadNodes.has(pod.spec.nodeName ?? '')) return
    this.#after(this.#cluster.timing.stopMs, async () => {
      await this.#cluster.hooks.stopping?.(pod)
      this.#cluster.remove('pods', pod)
    })
  }

  /** A Job, whose pods are not shown. */
  run(job: Stored): void {
    this.#after(this.#cluster.timing.readyMs, async () => {
      const type = (await this.#cluster.hooks.job?.(job)) ?? 'Complete'
      const reason =
        type === 'Failed'
          ? { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' }
          : {}
      const counted = type === 'Failed' ? { failed: 1 } : { succeeded: 1, completionTime: timestamp(new Date()) }
      this.#cluster.update(
        'jobs',
        job,
        (it) =>
          void (it['status'] = {
            startTime: timestamp(new Date()),
            ...counted,
            conditions: [{ type, status: 'True', ...reason }],
          }),
      )
    })
  }

  close(): void {
    this.#isClosed = true
    for (const timer of this.#timers) clearTimeout(timer)
  }

  #settleDeployment(deployment: Workload): void {
    const sets = this.#owned('replicasets', deployment) as Workload[]
    const { replicas = 1 } = deployment.spec
    const same = sets.find((set) => isSameTemplate(set, deployment))
    if (deployment.spec['paused'] === true) return this.#settlePaused(deployment, sets, same)
    const current = same ?? this.#newSet(deployment)
    const others = sets.filter((it) => it !== current)
    if (isRecreated(deployment) && others.some((set) => this.#lasting(set).length > 0)) {
      // none is made while one of before is there, be it Terminating (kubernetes,
      // pkg/controller/deployment/recreate.go)
      for (const old of others) this.#resize(old, 0, deployment)
      return this.#report('deployments', deployment, [current, ...others])
    }
    // no more at once than maxSurge allows, and those of before go as new ones are ready
    const former = others.reduce((sum, set) => sum + this.#podsOf(set).length, 0)
    const most = Math.max(0, replicas + surgeOf(deployment) - former)
    this.#resize(
      current,
      former === 0 ? replicas : Math.min(replicas, Math.max(most, this.#podsOf(current).length)),
      deployment,
    )
    let left = Math.max(0, replicas - unavailableOf(deployment) - this.#podsOf(current).filter(isReady).length)
    for (const old of others) {
      const kept = Math.min(left, this.#podsOf(old).length)
      left -= kept
      this.#resize(old, kept, deployment)
    }
    this.#report('deployments', deployment, [current, ...others])
  }

  /**
   * A paused one is scaled alone, by the set that has pods or else by the newest; what else is changed makes no new
   * set.
   */
  #settlePaused(deployment: Workload, sets: readonly Workload[], same: Workload | undefined): void {
    const active = sets.find((set) => this.#podsOf(set).length > 0)
    const target = active ?? same ?? sets.toSorted((one, other) => revisionOf(other) - revisionOf(one))[0]
    if (target) this.#resize(target, deployment.spec.replicas ?? 1, deployment)
    this.#report('deployments', deployment, same ? [same, ...sets.filter((it) => it !== same)] : [null, ...sets])
  }

  #resize(set: Workload, replicas: number, workload: Workload): void {
    if (set.spec.replicas !== replicas)
      this.#cluster.update('replicasets', set, (it) => void ((it as Workload).spec.replicas = replicas))
    this.#settleSet('replicasets', { ...set, spec: { ...set.spec, replicas } }, workload)
  }

  #settleSet(plural: string, set: Workload, workload: Workload): void {
    const { replicas = 1 } = set.spec
    const alive = this.#podsOf(set)
    for (const pod of alive.slice(replicas)) this.terminate(pod)
    for (let index = alive.length; index < replicas; index++)
      if (!this.#start(set, plural === 'statefulsets' ? index : null, workload)) break
    if (plural === 'statefulsets') this.#report(plural, set, [set])
  }

  #newSet({ metadata, spec }: Workload): Workload {
    const hash = hashOf(spec.template)
    const labels = { ...spec.template.metadata.labels, 'pod-template-hash': hash }
    const set: Stored = {
      metadata: {
        name: `${metadata.name}-${hash}`,
        ...namespaceOf(metadata),
        labels,
        ownerReferences: [ownerOf('Deployment', metadata)],
      },
      spec: {
        replicas: spec.replicas ?? 1,
        selector: { matchLabels: { ...spec.selector.matchLabels, 'pod-template-hash': hash } },
        template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
      },
      status: {},
    }
    return this.#cluster.create('replicasets', set) as Workload
  }

  /** False where it is refused; tried again after a while, as a controller does. */
  #start(set: Workload, index: number | null, workload: Workload): boolean {
    const { name } = set.metadata
    const suffix = index === null ? safe(randomBytes(4).toString('hex').slice(0, 5)) : String(index)
    const node = this.#cluster.list('nodes').find(({ metadata }) => !this.#cluster.deadNodes.has(metadata.name))
    const { labels } = set.spec.template.metadata
    const wanted: Pod = {
      metadata: {
        name: `${name}-${suffix}`,
        generateName: `${name}-`,
        ...namespaceOf(set.metadata),
        labels,
        ownerReferences: [ownerOf(index === null ? 'ReplicaSet' : 'StatefulSet', set.metadata)],
      },
      spec: { ...set.spec.template.spec, ...(node && { nodeName: node.metadata.name }) },
      status: pending(set.spec.template.spec),
    }
    const refusal = this.#cluster.hooks.admitting?.(wanted) ?? null
    const said = refusal === null ? null : `pods "${wanted.metadata.name}" is forbidden: ${refusal}`
    if (index === null) this.#noteRefusal(workload, said)
    else this.#tellOfPod(workload, wanted.metadata.name, said)
    if (refusal !== null) {
      this.#after(refusedMs, () => this.settle())
      return false
    }
    const pod = this.#cluster.create('pods', wanted) as Pod
    this.#after(this.#cluster.timing.startMs, async () => {
      if (this.#isGone(pod)) return
      this.#become(pod, running(pod, { isReady: false }))
      const fate = (await this.#cluster.hooks.starting?.(pod)) ?? 'ready'
      if (fate !== 'never-ready') this.#after(this.#cluster.timing.readyMs, () => this.#meet(pod, fate))
    })
    return true
  }

  /**
   * A StatefulSet's controller tells of it by events alone (kubernetes,
   * pkg/controller/statefulset/stateful_pod_control.go, `recordPodEvent`).
   */
  #tellOfPod({ metadata: { namespace, name, uid } }: Workload, pod: string, error: string | null): void {
    const at = timestamp(new Date())
    const what = `create Pod ${pod} in StatefulSet ${name}`
    const told =
      error === null
        ? { type: 'Normal', reason: 'SuccessfulCreate', message: `${what} successful` }
        : { type: 'Warning', reason: 'FailedCreate', message: `${what} failed error: ${error}` }
    this.#cluster.create('events', {
      metadata: { name: `${name}.${randomBytes(8).toString('hex')}`, ...(namespace !== undefined && { namespace }) },
      involvedObject: { kind: 'StatefulSet', namespace, name, uid, apiVersion: 'apps/v1' },
      ...told,
      source: { component: 'statefulset-controller' },
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
    })
  }

  #noteRefusal(workload: Workload, message: string | null): void {
    const now = this.#cluster.find('deployments', workload.metadata.namespace, workload.metadata.name)
    if (!now) return
    const { conditions = [] } = (now['status'] ?? {}) as { conditions?: { type: string; message?: string }[] }
    const known = conditions.find(({ type }) => type === 'ReplicaFailure')
    if ((known?.message ?? null) === message) return
    const others = conditions.filter((it) => it !== known)
    const failure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message }
    this.#cluster.update(
      'deployments',
      now,
      (it) =>
        void (it['status'] = {
          ...(it['status'] as object),
          conditions: message === null ? others : [...others, failure],
        }),
    )
  }

  #meet(pod: Pod, fate: Exclude<Fate, 'never-ready'>): void {
    if (this.#isGone(pod)) return
    if (fate === 'ready') return this.#become(pod, running(pod, { isReady: true }))
    if ('waiting' in fate) return this.#become(pod, waiting(pod, fate.waiting, fate.message))
    const { namespace = '', name } = pod.metadata
    for (const { name: container } of pod.spec.containers.slice(0, 1)) {
      for (const text of fate.log.split('\n')) this.#cluster.print(name, container, text, { namespace, previous: true })
    }
    this.#become(pod, crashed(pod, fate))
  }

  #become(pod: Pod, status: Pod['status']): void {
    this.#cluster.update('pods', pod, (it) => void (it['status'] = status))
    this.settle()
  }

  /** The first of them is of the template that is declared now; null: there is none. */
  #report(plural: string, of: Workload, sets: readonly (Workload | null)[]): void {
    const workload = (this.#cluster.find(plural, of.metadata.namespace, of.metadata.name) ?? of) as Workload
    const all = sets.flatMap((set) => (set ? this.#podsOf(set) : []))
    const ready = all.filter(isReady).length
    const updated = sets[0] ? this.#podsOf(sets[0]).length : 0
    const counts = {
      ...(all.length > 0 && { replicas: all.length }),
      ...(updated > 0 && { updatedReplicas: updated }),
      ...(ready > 0 && { readyReplicas: ready, availableReplicas: ready }),
    }
    const {
      replicas: _r,
      updatedReplicas: _u,
      readyReplicas: _ready,
      availableReplicas: _a,
      ...rest
    } = workload.status ?? {}
    const status = { ...rest, observedGeneration: workload.metadata.generation ?? 1, ...counts }
    const known = Object.entries(workload.status ?? {})
    const isSame =
      known.length === Object.keys(status).length &&
      known.every(([key, it]) => JSON.stringify(it) === JSON.stringify(status[key as keyof typeof status]))
    if (isSame) return
    const writer: Writer = {
      resource: this.#cluster.resource(plural),
      manager: 'kube-controller-manager',
      subresource: 'status',
      now: timestamp(new Date()),
    }
    this.#cluster.update(
      plural,
      workload,
      (it) => void Object.assign(it, written(structuredClone(it), { ...it, status }, writer)),
    )
  }

  #removeOrphans(): void {
    for (const set of this.#cluster.list('replicasets'))
      if (!this.#hasOwner(set)) this.#cluster.remove('replicasets', set)
    for (const pod of this.#cluster.pods) if (!this.#hasOwner(pod)) this.terminate(pod)
  }

  #hasOwner({ metadata: { namespace, ownerReferences = [] } }: Stored): boolean {
    return ownerReferences.every(
      ({ kind, name }) => this.#cluster.find(`${kind.toLowerCase()}s`, namespace, name) !== null,
    )
  }

  #owned(plural: string, { metadata }: Stored): Stored[] {
    return this.#cluster
      .list(plural, metadata.namespace ?? null)
      .filter((it) => it.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid))
  }

  /** Those that are told to end, too. */
  #lasting(set: Workload): Pod[] {
    return this.#owned('pods', set) as Pod[]
  }

  /** Those that are not told to end. */
  #podsOf(set: Workload): Pod[] {
    return (this.#owned('pods', set) as Pod[]).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  }

  #isGone({ metadata: { namespace, name, uid } }: Pod): boolean {
    const found = this.#cluster.find('pods', namespace, name)
    return found?.metadata.uid !== uid || found?.metadata.deletionTimestamp !== undefined
  }

  #after(ms: number, work: () => void | Promise<void>): void {
    if (this.#isClosed) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      void work()
    }, ms)
    this.#timers.add(timer)
  }
}

/** of a quarter of them, where the strategy says nothing else */
function surgeOf({ spec }: Workload): number {
  const { maxSurge = '25%' } = rollingIn(spec)
  return typeof maxSurge === 'number' ? maxSurge : Math.ceil(partOf(spec, maxSurge))
}

/** as many may be missing meanwhile; none where nothing is said, which of a few is what a quarter comes to */
function unavailableOf({ spec }: Workload): number {
  const { maxUnavailable = 0 } = rollingIn(spec)
  return typeof maxUnavailable === 'number' ? maxUnavailable : Math.floor(partOf(spec, maxUnavailable))
}

function rollingIn(spec: Workload['spec']): { maxSurge?: number | string; maxUnavailable?: number | string } {
  return (spec['strategy'] as { rollingUpdate?: object } | undefined)?.rollingUpdate ?? {}
}

function partOf({ replicas = 1 }: Workload['spec'], share: string): number {
  return (replicas * Number.parseInt(share, 10)) / 100
}

function isRecreated({ spec }: Workload): boolean {
  return (spec['strategy'] as { type?: string } | undefined)?.type === 'Recreate'
}

function revisionOf({ metadata }: Workload): number {
  return Number(metadata.annotations?.['deployment.kubernetes.io/revision'] ?? metadata.resourceVersion ?? 0)
}

function isSameTemplate(set: Workload, deployment: Workload): boolean {
  return isDeepStrictEqual(set.spec.template.spec, deployment.spec.template.spec)
}

function isReady({ status }: Pod): boolean {
  return status.conditions.some(({ type, status: it }) => type === 'Ready' && it === 'True')
}

function namespaceOf({ namespace }: Metadata): { namespace?: string } {
  return namespace === undefined ? {} : { namespace }
}

function ownerOf(kind: string, { name, uid = '' }: Metadata): NonNullable<Metadata['ownerReferences']>[number] {
  return { apiVersion: 'apps/v1', kind, name, uid, controller: true, blockOwnerDeletion: true }
}
