import { readFileSync } from 'node:fs'
import type { ChildProcess } from 'node:child_process'
import type { Cluster } from './cluster.ts'

const namespace = 'testops'

/** what any command may take on it, in MB */
export const most = 200

/**
 * What a large cluster has beside the service, in its namespace too: objects as large as those of real ones, of which
 * `managedFields` and the images of a node are the most. `unwell`: the pod of which most events tell.
 */
export function fillCluster(cluster: Cluster, unwell: string): void {
  const [pod] = cluster.pods
  const [node] = cluster.list('nodes')
  const managedFields = [
    {
      manager: 'kubelet',
      operation: 'Update',
      fieldsV1: Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f:field-${at}`, { 'f:value': {} }])),
    },
  ]
  const images = Array.from({ length: 50 }, (_, at) => ({
    names: [`registry.example.org/image-${at}@sha256:${'0'.repeat(64)}`, `registry.example.org/image-${at}:1`],
    sizeBytes: 1_000_000,
  }))
  const now = new Date().toISOString()
  const warning = {
    type: 'Warning',
    reason: 'BackOff',
    message: `Back-off restarting failed container ${'x'.repeat(400)}`,
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
    source: { component: 'kubelet' },
  }
  for (let at = 0; at < 2000; at += 1)
    cluster.load('pods', {
      ...pod!,
      metadata: { ...pod!.metadata, name: `other-${at}`, labels: { app: 'other' }, ownerReferences: [], managedFields },
    } as never)
  for (let at = 0; at < 1000; at += 1)
    cluster.load('nodes', {
      ...node!,
      metadata: { ...node!.metadata, name: `node-${at}`, managedFields },
      status: { ...(node!['status'] as object), images },
    } as never)
  // a pod that fails for days has nearly all of them
  for (let at = 0; at < 10_000; at += 1)
    cluster.load('events', {
      ...warning,
      metadata: { namespace, name: `event-${at}`, managedFields },
      involvedObject: { kind: 'Pod', namespace, name: at % 5 === 0 ? `other-${at % 2000}` : unwell },
    } as never)
  for (let at = 0; at < 500; at += 1)
    cluster.load('secrets', {
      metadata: { namespace, name: `secret-${at}` },
      type: 'Opaque',
      data: { key: Buffer.alloc(20_000).toString('base64') },
    })
}

/** The most memory that a process held at a time, in MB, as Linux counts it. */
export function watchMemory(child: ChildProcess): () => number {
  let kilobytes = 0
  const timer = setInterval(() => {
    try {
      kilobytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? kilobytes)
    } catch {
      // it has ended
    }
  }, 10)
  child.once('exit', () => clearInterval(timer))
  return () => Math.ceil(kilobytes / 1024)
}
