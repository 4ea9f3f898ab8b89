import { timestamp } from './cluster.ts'
import type { ContainerStatus, Pod, PodSpec, PodStatus } from './resources.ts'

/** What a pod's `status` says at each stage of its life, in the recorded shapes. */

export function pending({ containers }: PodSpec): PodStatus {
  return {
    phase: 'Pending',
    conditions: conditions({ isReady: false }),
    containerStatuses: containers.map(({ name, image }) => ({
      ...container(name, image),
      state: { waiting: { reason: 'ContainerCreating' } },
    })),
    qosClass: 'BestEffort',
  }
}

export function running(pod: Pod, { isReady }: { isReady: boolean }): PodStatus {
  const startedAt = startOf(pod) ?? timestamp(new Date())
  return {
    ...pod.status,
    phase: 'Running',
    conditions: conditions({ isReady }),
    podIP: '10.129.0.9',
    startTime: startedAt,
    containerStatuses: pod.spec.containers.map(({ name, image }) => ({
      ...container(name, image),
      state: { running: { startedAt } },
      ready: isReady,
    })),
  }
}

/** Its image cannot be had, for one. */
export function waiting(pod: Pod, reason: string, message: string): PodStatus {
  return {
    ...pod.status,
    phase: 'Pending',
    conditions: conditions({ isReady: false }),
    containerStatuses: pod.spec.containers.map(({ name, image }) => ({
      ...container(name, image),
      state: { waiting: { reason, message } },
    })),
  }
}

/** Its first container has ended several times, and is about to be started again. */
export function crashed(pod: Pod, { exitCode, reason }: { exitCode: number; reason: string }): PodStatus {
  const now = timestamp(new Date())
  const { name, namespace, uid } = pod.metadata
  return {
    ...pod.status,
    phase: 'Running',
    conditions: conditions({ isReady: false }),
    containerStatuses: pod.spec.containers.map((it, index) =>
      index > 0
        ? { ...container(it.name, it.image), state: { running: { startedAt: now } }, ready: true }
        : {
            ...container(it.name, it.image),
            state: {
              waiting: {
                reason: 'CrashLoopBackOff',
                message: `back-off 40s restarting failed container=${it.name} pod=${name}_${namespace}(${uid})`,
              },
            },
            lastState: { terminated: { exitCode, reason, startedAt: now, finishedAt: now } },
            restartCount: 3,
          },
    ),
  }
}

function startOf({ status }: Pod): string | null {
  const at = status.containerStatuses?.[0]?.state['running']?.['startedAt']
  return typeof at === 'string' ? at : null
}

function container(name: string, image: string): ContainerStatus {
  return { name, state: {}, lastState: {}, ready: false, restartCount: 0, image, imageID: '', started: false }
}

function conditions({ isReady }: { isReady: boolean }): PodStatus['conditions'] {
  const status = isReady ? 'True' : 'False'
  return [
    { type: 'Initialized', status: 'True', lastProbeTime: null },
    { type: 'Ready', status, lastProbeTime: null, ...(!isReady && { reason: 'ContainersNotReady' }) },
    { type: 'ContainersReady', status, lastProbeTime: null },
    { type: 'PodScheduled', status: 'True', lastProbeTime: null },
  ]
}
