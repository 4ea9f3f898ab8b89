/** The service in a cluster, as the configuration describes it; null: to be found. */
export interface KubernetesSettings {
  /** of kubectl; null: the current one, or the pod's own service account */
  context: string | null
  namespace: string | null
  /** of Helm */
  release: string | null
  /**
   * of the Deployment or StatefulSet, whatever its image is called; absent: it is found by its image, or by the chart's
   * label
   */
  workload?: string
  /** the release's values file, absolute, and the keys under which the chart's own values lie in it */
  values?: { file: string; path: readonly string[] }
}
