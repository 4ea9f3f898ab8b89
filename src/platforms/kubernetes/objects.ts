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
  managedFields?: readonly { manager?: string; time?: string }[]
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

/** Pods as a workload declares them. */
export type PodTemplate = Workload['spec']['template']

/** A former or present template of a Deployment. */
export interface ReplicaSet {
  metadata: Metadata
  spec: { template: PodTemplate }
}

/** A former or present template of a StatefulSet or DaemonSet; `revision` grows. */
export interface ControllerRevision {
  metadata: Metadata
  revision: number
  data?: { spec?: { template?: PodTemplate } }
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
  /** Only of a Deployment's */
  lastUpdateTime?: string
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
  startupProbe?: Probe
  livenessProbe?: Probe
}

/** Seconds, and how many times in a row it fails before the container is restarted. */
interface Probe {
  initialDelaySeconds?: number
  periodSeconds?: number
  failureThreshold?: number
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

/** API group and version of each resource that is read or changed here (Kubernetes API reference, 1.36). */
const resources = {
  namespaces: { group: '', version: 'v1' },
  nodes: { group: '', version: 'v1' },
  pods: { group: '', version: 'v1' },
  services: { group: '', version: 'v1' },
  endpoints: { group: '', version: 'v1' },
  secrets: { group: '', version: 'v1' },
  configmaps: { group: '', version: 'v1' },
  events: { group: '', version: 'v1' },
  deployments: { group: 'apps', version: 'v1' },
  replicasets: { group: 'apps', version: 'v1' },
  statefulsets: { group: 'apps', version: 'v1' },
  daemonsets: { group: 'apps', version: 'v1' },
  controllerrevisions: { group: 'apps', version: 'v1' },
  cronjobs: { group: 'batch', version: 'v1' },
  serviceaccounts: { group: '', version: 'v1' },
  persistentvolumeclaims: { group: '', version: 'v1' },
  poddisruptionbudgets: { group: 'policy', version: 'v1' },
  roles: { group: 'rbac.authorization.k8s.io', version: 'v1' },
  rolebindings: { group: 'rbac.authorization.k8s.io', version: 'v1' },
  networkpolicies: { group: 'networking.k8s.io', version: 'v1' },
  ingresses: { group: 'networking.k8s.io', version: 'v1' },
  leases: { group: 'coordination.k8s.io', version: 'v1' },
  horizontalpodautoscalers: { group: 'autoscaling', version: 'v2' },
  scaledobjects: { group: 'keda.sh', version: 'v1alpha1' },
  applications: { group: 'argoproj.io', version: 'v1alpha1' },
  kustomizations: { group: 'kustomize.toolkit.fluxcd.io', version: 'v1' },
  helmreleases: { group: 'helm.toolkit.fluxcd.io', version: 'v2' },
  selfsubjectaccessreviews: { group: 'authorization.k8s.io', version: 'v1' },
} as const

export type ResourceName = keyof typeof resources

/** Resources that belong to no namespace. */
const ofCluster: ReadonlySet<ResourceName> = new Set(['namespaces', 'nodes', 'selfsubjectaccessreviews'])

/** What a request is about. */
export interface Asked {
  resource: ResourceName
  /** Null for all namespaces, or for a resource that has none */
  namespace: string | null
  name?: string
  /** `scale`, `log` */
  subresource?: string
  /** A list is written once for each of its items */
  query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>
}

/** Returns the path and query of a request below the server's own address. */
export function pathOf({ resource, namespace, name, subresource, query = {} }: Asked): string {
  const { group, version } = resources[resource]
  const parts = [
    ...(group === '' ? ['api'] : ['apis', group]),
    version,
    ...(namespace === null ? [] : ['namespaces', namespace]),
    resource,
    ...(name === undefined ? [] : [name]),
    ...(subresource === undefined ? [] : [subresource]),
  ]
  const wanted = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [value].flat().map((it): [string, string] => [key, String(it)]),
  )
  const text = new URLSearchParams(wanted).toString()
  return `/${parts.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`
}

export function groupOf(resource: ResourceName): string {
  return resources[resource].group
}

export function isOfCluster(resource: ResourceName): boolean {
  return ofCluster.has(resource)
}

/** Returns `deployments.apps`, as kubectl accepts it. */
export function kubectlName(resource: ResourceName): string {
  const { group } = resources[resource]
  return group === '' ? resource : `${resource}.${group}`
}

/** Describes a request for people: "secrets `testops` in namespace `testops`". */
export function described({ resource, namespace, name, subresource }: Asked): string {
  const what = subresource === undefined ? resource : `${resource}/${subresource}`
  const which = name === undefined ? what : `${what} \`${name}\``
  if (isOfCluster(resource)) return which
  return `${which} ${namespace === null ? 'in all namespaces' : `in namespace \`${namespace}\``}`
}
