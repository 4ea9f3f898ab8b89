/** The service on this machine, as the configuration or the lab describes it. Files are absolute. */
export interface HostSettings {
  /** Systemd unit; overrides `commands` */
  unit: string | null
  commands: { start: Command; stop: Command; status: Command } | null
  logs: { file: string } | { command: Command } | null
  /** `at`: where the configuration names it */
  environmentFile: { path: string; at: string } | null
  /** `registry/repository/name:tag` */
  image: string | null
  build: string | null
  /** File to read processors from; null for /proc/cpuinfo */
  cpuinfo: string | null
  /** Where image and build are declared, for people */
  declaredIn: string
}

/** A program and its arguments; run without a shell. */
export type Command = readonly [string, ...string[]]
