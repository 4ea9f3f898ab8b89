/** The service under Docker Compose, as the configuration describes it. What is left out is searched for. */
export interface ComposeSettings {
  project: string | null
  /** Absolute path, and where the configuration names it */
  file: { path: string; at: string } | null
  /** Name of the service in the file */
  service: string | null
  build: string | null
  /** File to read in place of the machine's own /proc/cpuinfo */
  cpuinfo: string | null
  /** Absolute path of the folder in which to look for a compose file */
  folder: string
}
