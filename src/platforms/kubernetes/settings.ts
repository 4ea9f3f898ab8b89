/** The service in a cluster, as the configuration describes it; null for what is to be found. */
export interface KubernetesSettings {
  /** Context of kubectl; null for the current one, or the pod's own service account */
  context: string | null
  namespace: string | null
  /** Name of the Helm release */
  release: string | null
  /**
   * Name of the Deployment or StatefulSet, whatever its image is called; absent if it is found by its image, or by the
   * chart's label
   */
  workload?: string
  /** Absolute path of the release's values file, and the keys under which the chart's own values lie in it */
  values?: { file: string; path: readonly string[] }
}
