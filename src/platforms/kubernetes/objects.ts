/** Fields read of the API's objects (Kubernetes API reference, 1.36; recorded in test/fixtures/kubernetes). */

interface Metadata {
  name: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  labels?: Readonly<Record<string, string>>
  annotations?: Readonly<Record<string, string>>
  ownerReferences?: readonly { apiVersion?: string; kind: string; name: string; uid: string; controller?: boolean }[]
}

/** A Deployment or a StatefulSet. */
export interface Workload {
  metadata: Metadata
  spec: {
    replicas?: number
    selector: LabelSelector
    /** Only of a Deployment */
    paused?: boolean
    /** Only of a StatefulSet */
    updateStrategy?: { type?: string; rollingUpdate?: { partition?: number } }
    template: { metadata?: Partial<Metadata>; spec: PodSpec }
  }
  status?: {
    replicas?: number
    readyReplicas?: number
    updatedReplicas?: number
    observedGeneration?: number
    conditions?: readonly Condition[]
  }
}

export interface LabelSelector {
  matchLabels?: Readonly<Record<string, string>>
  matchExpressions?: readonly Expression[]
}

export interface Expression {
  key: string
  /** One of In, NotIn, Exists, DoesNotExist; for nodes Gt and Lt too */
  operator: string
  values?: readonly string[]
}

interface Condition {
  type: string
  status: string
  reason?: string
  message?: string
  lastTransitionTime?: string
}

export interface PodSpec {
  containers: readonly Container[]
  initContainers?: readonly Container[]
  hostNetwork?: boolean
  nodeName?: string
  runtimeClassName?: string
  imagePullSecrets?: readonly { name?: string }[]
  nodeSelector?: Readonly<Record<string, string>>
  tolerations?: readonly Toleration[]
  affinity?: {
    nodeAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: {
        nodeSelectorTerms?: readonly { matchExpressions?: readonly Expression[]; matchFields?: readonly Expression[] }[]
      }
    }
  }
}

export interface Container {
  name: string
  image?: string
  env?: readonly EnvVar[]
  envFrom?: readonly EnvFrom[]
}

export interface EnvVar {
  name: string
  value?: string
  valueFrom?: {
    secretKeyRef?: KeyReference
    configMapKeyRef?: KeyReference
  }
}

interface KeyReference {
  name?: string
  key: string
  optional?: boolean
}

interface EnvFrom {
  prefix?: string
  secretRef?: { name?: string; optional?: boolean }
  configMapRef?: { name?: string; optional?: boolean }
}

export interface Toleration {
  key?: string
  /** Equal if absent */
  operator?: string
  value?: string
  effect?: string
}

export interface Pod {
  metadata: Metadata
  spec: PodSpec
  status?: {
    phase?: string
    podIP?: string
    podIPs?: readonly { ip?: string }[]
    reason?: string
    message?: string
    conditions?: readonly Condition[]
    containerStatuses?: readonly ContainerStatus[]
    initContainerStatuses?: readonly ContainerStatus[]
    /** Containers of `kubectl debug` */
    ephemeralContainerStatuses?: readonly ContainerStatus[]
  }
}

export interface ContainerStatus {
  name: string
  state?: ContainerState
  lastState?: ContainerState
  ready?: boolean
  restartCount?: number
  image?: string
}

interface ContainerState {
  running?: { startedAt?: string }
  waiting?: { reason?: string; message?: string }
  terminated?: Terminated
}

export interface Terminated {
  exitCode: number
  reason?: string
  message?: string
  signal?: number
  startedAt?: string
  finishedAt?: string
}

export interface Node {
  metadata: Metadata
  spec?: { unschedulable?: boolean; taints?: readonly { key: string; value?: string; effect: string }[] }
  status?: {
    nodeInfo?: { architecture?: string }
    conditions?: readonly Condition[]
    images?: readonly { names?: readonly string[]; sizeBytes?: number }[]
  }
}

export interface Event {
  metadata: Metadata
  involvedObject?: { kind?: string; name?: string }
  type?: string
  reason?: string
  message?: string
  count?: number
  lastTimestamp?: string | null
  eventTime?: string | null
}

export interface Secret {
  metadata: Metadata
  /** Values in base64 */
  data?: Readonly<Record<string, string>>
}

export interface ConfigMap {
  metadata: Metadata
  data?: Readonly<Record<string, string>>
}
