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
