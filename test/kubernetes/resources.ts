import type { ManagedEntry } from './managers.ts'

/** A kind of object that the API server keeps. */
export interface Resource {
  plural: string
  kind: string
  /** '' for the core group */
  group: string
  version: string
  isNamespaced: boolean
}

const resource = (plural: string, kind: string, group: string, version = 'v1', isNamespaced = true): Resource => ({
  plural,
  kind,
  group,
  version,
  isNamespaced,
})

/** What a server without any extension keeps, as far as tests need it. */
export const builtIn: readonly Resource[] = [
  resource('namespaces', 'Namespace', '', 'v1', false),
  resource('nodes', 'Node', '', 'v1', false),
  resource('pods', 'Pod', ''),
  resource('services', 'Service', ''),
  resource('endpoints', 'Endpoints', ''),
  resource('secrets', 'Secret', ''),
  resource('configmaps', 'ConfigMap', ''),
  resource('events', 'Event', ''),
  resource('deployments', 'Deployment', 'apps'),
  resource('replicasets', 'ReplicaSet', 'apps'),
  resource('statefulsets', 'StatefulSet', 'apps'),
  resource('controllerrevisions', 'ControllerRevision', 'apps'),
  resource('jobs', 'Job', 'batch'),
  resource('ingresses', 'Ingress', 'networking.k8s.io'),
  resource('leases', 'Lease', 'coordination.k8s.io'),
  resource('horizontalpodautoscalers', 'HorizontalPodAutoscaler', 'autoscaling', 'v2'),
]

/** `deployments.apps`, as the API server names a resource in its messages. */
export function nameOf({ plural, group }: Resource): string {
  return group === '' ? plural : `${plural}.${group}`
}

export function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`
}

/** Any object of the API. */
export interface Stored {
  metadata: Metadata
  [key: string]: unknown
}

/** A Deployment, StatefulSet or ReplicaSet. */
export interface Workload extends Stored {
  spec: WorkloadSpec
  status?: Record<string, unknown>
}

interface WorkloadSpec {
  replicas?: number
  selector: { matchLabels: Record<string, string> }
  template: Template
  [key: string]: unknown
}

interface Template {
  metadata: { labels: Record<string, string>; [key: string]: unknown }
  spec: PodSpec
}

export interface PodSpec {
  containers: Container[]
  initContainers?: Container[]
  nodeName?: string
  [key: string]: unknown
}

interface Container {
  name: string
  image: string
  env?: { name: string; value?: string; valueFrom?: Record<string, unknown> }[]
  [key: string]: unknown
}

export interface Pod extends Stored {
  spec: PodSpec
  status: PodStatus
}

export interface PodStatus {
  phase: string
  conditions: { type: string; status: string; [key: string]: unknown }[]
  containerStatuses?: ContainerStatus[]
  [key: string]: unknown
}

export interface ContainerStatus {
  name: string
  state: Record<string, Record<string, unknown>>
  lastState: Record<string, Record<string, unknown>>
  ready: boolean
  restartCount: number
  [key: string]: unknown
}

export interface Metadata {
  name: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  generateName?: string
  managedFields?: ManagedEntry[]
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: {
    apiVersion: string
    kind: string
    name: string
    uid: string
    controller?: boolean
    blockOwnerDeletion?: boolean
  }[]
}
