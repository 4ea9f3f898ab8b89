import { setTimeout as sleep } from 'node:timers/promises'
import { seconds } from '../../adapters/failure.ts'
import type { WaitOptions } from '../../core/controls.ts'
import { refuseOwnedByOthers, startedByOthers, stoppedByOthers } from '../../core/by-others.ts'
import { AdminError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { ServiceStatus } from '../../core/sources.ts'
import type { KubernetesClient } from './client.ts'
import { placeOf } from './find.ts'
import { holdIn, isHeld, isObserved, isRolledOut, replicasAnnotation, replicasIn } from './status.ts'
import type { Workload } from './objects.ts'
import { isRefusal } from './refusal.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

/** Which object runs the service. */
export interface WorkloadRef {
  resource: 'deployments' | 'statefulsets'
  namespace: string
  name: string
}

export interface Scaled {
  client: KubernetesClient
  workload: WorkloadRef
  /** Returns the status as the platform reports it */
  status: () => Promise<ServiceStatus>
  pollMs: number
}

interface WorkloadState {
  metadata: { resourceVersion?: string; generation?: number; annotations?: Record<string, string> }
  spec: { replicas?: number }
  status?: NonNullable<Workload['status']>
}

const annotation = replicasAnnotation
const attempts = 5
const onTrial = { query: { dryRun: 'All' } }

/**
 * Scales to zero, and waits until no pod is left in which the service may run. A pod that is Terminating on a silent
 * node counts (DESIGN.md 6.8). Throws INTERRUPTED if something else scales it up meanwhile, REFUSED if something else
 * owns pods of it.
 */
export async function scaleDown(
  scaled: Scaled,
  { timeoutMs, signal, note, tell }: WaitOptions,
): Promise<ServiceStatus> {
  const end = performance.now() + timeoutMs
  refuseOwnedByOthers(await scaled.status())
  await unlessChanged(async () => {
    const { metadata, spec } = await read(scaled)
    const replicas = spec.replicas ?? 1
    if (replicas === 0) return
    await note?.(noteOf(scaled.workload, replicas))
    const marked = await change(scaled, {
      metadata: { ...versionOf(metadata), annotations: { [annotation]: String(replicas) } },
    })
    await setReplicas(scaled, 0, marked.metadata)
  })
  let isUnseen = false
  const isGone = async (status: ServiceStatus): Promise<boolean> => {
    // a controller that has not looked yet may make pods of what it saw last
    if (status.state === 'stopped') return (isUnseen = !isObserved(await read(scaled))) === false
    if (status.ownedByOthers !== undefined || ((await read(scaled)).spec.replicas ?? 1) > 0)
      throw startedByOthers(status)
    return false
  }
  return waitUntil(
    scaled,
    isGone,
    { timeoutMs: end - performance.now(), signal, ...(tell && { tell }) },
    async (status) => (isUnseen ? notSeen(scaled, timeoutMs) : notGone(scaled, status, timeoutMs)),
  )
}

/**
 * Asks the API server on trial whether the service can be stopped and started; changes nothing (`dryRun`). Throws
 * FORBIDDEN, REFUSED as `scaleDown`, and what an admission webhook says.
 */
export async function tryScale(scaled: Scaled): Promise<void> {
  refuseOwnedByOthers(await scaled.status())
  await unlessChanged(async () => {
    const { metadata, spec } = await read(scaled)
    const replicas = spec.replicas ?? 1
    await change(
      scaled,
      { metadata: { ...versionOf(metadata), annotations: { [annotation]: String(replicas) } } },
      { dryRun: true },
    )
    await setReplicas(scaled, 0, metadata, { dryRun: true })
  })
}

/**
 * Scales to as many replicas as there were, and waits until they are ready. Throws INTERRUPTED if something else scales
 * it to zero meanwhile, REFUSED as `scaleDown`.
 */
export async function scaleUp(
  scaled: Scaled,
  { timeoutMs, signal, notes = [], tell }: WaitOptions,
): Promise<ServiceStatus> {
  const end = performance.now() + timeoutMs
  refuseOwnedByOthers(await scaled.status())
  await unlessChanged(async () => {
    const { metadata, spec } = await read(scaled)
    if ((spec.replicas ?? 1) > 0) return
    await setReplicas(
      scaled,
      replicasIn(metadata.annotations?.[annotation]) ?? notedIn(scaled.workload, notes) ?? 1,
      metadata,
    )
  })
  const isUp = async (status: ServiceStatus): Promise<boolean> => {
    const now = await scaled.client.get<Workload>(scaled.workload)
    if (now.spec.replicas === 0) throw stoppedByOthers(status)
    return status.state === 'running' && isUpToDate(scaled, now)
  }
  const status = await waitUntil(
    scaled,
    isUp,
    { timeoutMs: end - performance.now(), signal, ...(tell && { tell }) },
    async ({ detail }) =>
      new AdminError('TIMED_OUT', `the service did not become ready within ${seconds(timeoutMs)}: ${detail}`, [
        shown(scaled, 'describe'),
        logs(scaled),
      ]),
  )
  await forget(scaled)
  return status
}

async function read({ client, workload }: Scaled): Promise<WorkloadState> {
  return client.get<WorkloadState>(workload)
}

async function change({ client, workload }: Scaled, body: unknown, { dryRun = false } = {}): Promise<WorkloadState> {
  return client.change<WorkloadState>({ ...workload, ...(dryRun && onTrial) }, { verb: 'patch', kind: 'merge', body })
}

async function setReplicas(
  { client, workload }: Scaled,
  replicas: number,
  metadata: WorkloadState['metadata'],
  { dryRun = false } = {},
): Promise<void> {
  await client.change(
    { ...workload, subresource: 'scale', ...(dryRun && onTrial) },
    { verb: 'patch', kind: 'merge', body: { metadata: versionOf(metadata), spec: { replicas } } },
  )
}

function versionOf({ resourceVersion }: WorkloadState['metadata']): { resourceVersion?: string } {
  return resourceVersion === undefined ? {} : { resourceVersion }
}

/** Removes the remembered number, which is useful only while there are no replicas. Leaving it does no harm. */
async function forget(scaled: Scaled): Promise<void> {
  try {
    await change(scaled, { metadata: { annotations: { [annotation]: null } } })
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
  }
}

/** Retries after a conflict, `attempts` in all: a controller writes a workload's status all the time. */
async function unlessChanged(work: () => Promise<void>): Promise<void> {
  for (let left = attempts; ; left -= 1) {
    try {
      return await work()
    } catch (error) {
      if (!isRefusal(error, 409) || left === 1) throw error
    }
  }
}

/**
 * True if the controller counts all pods as of what is declared. Throws FAILED if it never will, since it leaves pods
 * as they are.
 */
function isUpToDate(scaled: Scaled, workload: Workload): boolean {
  if (isRolledOut(workload)) return true
  const { spec, status } = workload
  if (!isHeld(workload) || (status?.readyReplicas ?? 0) < (spec.replicas ?? 1)) return false
  const { resource, namespace, name } = scaled.workload
  throw new AdminError(
    'FAILED',
    `the running pods lack the latest changes, because the rollout of ${placeOf(scaled.workload)} is ` +
      holdIn(workload),
    [
      spec.paused === true
        ? scaled.client.kubectl('-n', namespace, 'rollout', 'resume', `${resource.slice(0, -1)}/${name}`)
        : shown(scaled, 'describe'),
    ],
  )
}

async function waitUntil(
  { status: ask, pollMs }: Scaled,
  isSo: (status: ServiceStatus) => Promise<boolean>,
  { timeoutMs, signal, tell }: WaitOptions,
  late: (status: ServiceStatus) => Promise<AdminError>,
): Promise<ServiceStatus> {
  const end = performance.now() + timeoutMs
  let told: string | null = null
  for (;;) {
    if (signal?.aborted) throw new AdminError('INTERRUPTED', 'interrupted while waiting for the pods of the service')
    const answer = await answerOf(async () => {
      const status = await ask()
      return { status, isSo: await isSo(status) }
    })
    if ('status' in answer && answer.isSo) return answer.status
    const state = 'status' in answer ? answer.status.detail : answer.failure.message
    if (state !== told) tell?.(state)
    told = state
    if (performance.now() >= end) throw 'status' in answer ? await late(answer.status) : answer.failure
    await sleep(Math.min(pollMs, Math.max(1, end - performance.now())), undefined, { ...(signal && { signal }) }).catch(
      () => undefined,
    )
  }
}

/**
 * Codes of failures that may pass: an API server may be silent or refuse for a while, as while its own control plane is
 * renewed.
 */
const passing: readonly ErrorCode[] = ['UNREACHABLE', 'TIMED_OUT', 'EXHAUSTED', 'UNEXPECTED_ANSWER']

async function answerOf<T>(asking: () => Promise<T>): Promise<T | { failure: AdminError }> {
  try {
    return await asking()
  } catch (error) {
    if (error instanceof AdminError && passing.includes(error.code)) return { failure: error }
    throw error
  }
}

function notSeen(scaled: Scaled, timeoutMs: number): AdminError {
  const { resource, namespace, name } = scaled.workload
  return new AdminError(
    'TIMED_OUT',
    `${placeOf(scaled.workload)} is scaled to 0 and has no pods left. But after ${seconds(timeoutMs)} the ` +
      `cluster's controller still has not seen the new number of replicas, so it may start another pod`,
    [
      scaled.client.kubectl('-n', namespace, 'get', `${resource.slice(0, -1)}/${name}`, '-o', 'yaml'),
      scaled.client.kubectl('-n', 'kube-system', 'get', 'pods'),
    ],
  )
}

async function notGone(scaled: Scaled, { detail, instances }: ServiceStatus, timeoutMs: number): Promise<AdminError> {
  const { client, workload } = scaled
  const silent = (await Promise.all(instances.map(async ({ name }) => silentNodeOf(scaled, name)))).filter(
    (it) => it !== null,
  )
  const message = `the service did not stop within ${seconds(timeoutMs)}: ${detail}`
  if (silent.length === 0)
    return new AdminError('TIMED_OUT', message, [
      shown(scaled, 'describe'),
      client.kubectl('-n', workload.namespace, 'get', 'pods', '-o', 'wide'),
    ])
  const where = silent.map(
    ({ pod, node }) =>
      `pod \`${pod}\` is Terminating on node \`${node}\`, which is not Ready: the pod may still be running there`,
  )
  return new AdminError('TIMED_OUT', `${message}; ${where.join('; ')}`, [
    ...new Set(silent.map(({ node }) => client.kubectl('describe', 'node', node))),
    'make sure that the machine behind the node is switched off, then delete these pods with `--force`',
  ])
}

/** Returns a pod with its node, unless the node is Ready; null if it is, or if either cannot be read. */
async function silentNodeOf(
  { client, workload: { namespace } }: Scaled,
  pod: string,
): Promise<{ pod: string; node: string } | null> {
  try {
    const { spec } = await client.get<{ spec?: { nodeName?: string } }>({ resource: 'pods', namespace, name: pod })
    const node = spec?.nodeName
    if (node === undefined) return null
    const { status } = await client.get<{ status?: { conditions?: { type: string; status: string }[] } }>({
      resource: 'nodes',
      namespace: null,
      name: node,
    })
    return status?.conditions?.some((it) => it.type === 'Ready' && it.status === 'True') === true ? null : { pod, node }
  } catch (error) {
    if (error instanceof AdminError) return null
    throw error
  }
}

function noteOf({ resource, namespace, name }: WorkloadRef, replicas: number): string {
  return `replicas ${resource}/${namespace}/${name} ${replicas}`
}

function notedIn(workload: WorkloadRef, notes: readonly string[]): number | null {
  const begin = noteOf(workload, 0).slice(0, -1)
  return replicasIn(notes.findLast((it) => it.startsWith(begin))?.slice(begin.length))
}

function shown({ client, workload: { resource, namespace, name } }: Scaled, verb: string): ShellCommand {
  return client.kubectl('-n', namespace, verb, `${resource.slice(0, -1)}/${name}`)
}

function logs({ client, workload: { resource, namespace, name } }: Scaled): ShellCommand {
  return client.kubectl('-n', namespace, 'logs', `${resource.slice(0, -1)}/${name}`, '--all-containers', '--tail=100')
}
