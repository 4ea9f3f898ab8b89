/** The service in a cluster, as the configuration describes it; null: to be found. */
export interface KubernetesSettings {
  /** of kubectl; null: the current one, or the pod's own service account */
  context: string | null
  namespace: string | null
  /** of Helm */
  release: string | null
}
