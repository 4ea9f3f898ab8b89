/** The service under Docker Compose, as the configuration describes it; what is left out is found. */
export interface ComposeSettings {
  project: string | null
  /** absolute, with where the configuration names it */
  file: { path: string; at: string } | null
  /** the service's name in the file */
  service: string | null
  build: string | null
  /** in place of the machine's own /proc/cpuinfo */
  cpuinfo: string | null
  /** absolute: where a compose file is looked for */
  folder: string
}
