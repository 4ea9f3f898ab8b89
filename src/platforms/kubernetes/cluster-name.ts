/** One meaning of an address by the cluster's own names (kubernetes.io, "DNS for Services and Pods"). */
export interface ClusterName {
  service: string
  namespace: string
  /** Pod of a headless service; null if none is named */
  pod: string | null
  /** True unless it may as well be a name outside the cluster */
  isCertain: boolean
}

/**
 * Lists what a host may mean to a pod of that namespace, likeliest first: `db`, `db.testops`,
 * `db.testops.svc.cluster.local`, `db-0.db.testops.svc`, …
 */
export function clusterNames(host: string, namespace: string): ClusterName[] {
  if (host.toLowerCase() === 'localhost') return []
  const labels = host.toLowerCase().replace(/\.$/, '').split('.')
  if (!labels.every((it) => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(it))) return []
  const [first = '', second, ...others] = labels
  if (second === undefined) return [{ service: first, namespace, pod: null, isCertain: true }]
  const at = labels.indexOf('svc')
  if (at === 2 || at === 3) {
    const [service = '', where = ''] = labels.slice(at - 2, at)
    return [{ service, namespace: where, pod: at === 3 ? first : null, isCertain: true }]
  }
  if (others.length > 0) return []
  return [
    { service: first, namespace: second, pod: null, isCertain: false },
    { service: second, namespace, pod: first, isCertain: false },
  ]
}
