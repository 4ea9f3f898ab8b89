import type { Holder } from '../lock.ts'
import type { Secret } from '../secret.ts'
import type { Suggestion } from '../shell-command.ts'
import type { ValueEdit } from './files.ts'

/** The platform's view of the service. */
export interface ServiceSource {
  status(): Promise<ServiceStatus>
  /** Returns the service's environment variables by name */
  environment(): Promise<ReadonlyMap<string, string | Secret>>
  image(): Promise<ServiceImage>
  /** Returns the machines that the service runs on or could be started on */
  machines(): Promise<readonly Machine[]>
  /** Returns whether the name resolves where the service runs; null: that cannot be asked */
  resolve(host: string): Promise<boolean | null>
  /**
   * Returns where its instances connect to other servers from, as those see it; null: that cannot be seen. Throws as
   * `status`
   */
  origins(): Promise<readonly ServiceOrigin[] | null>
  /**
   * Returns true if a container or pod of the service's own had that host name and runs no more; false: no, or unknown.
   * Throws as `status`
   */
  hasEnded(host: string): Promise<boolean>
  /** Returns how its processes, containers or pods fare. Throws NOT_CONFIGURED if nothing tells that */
  health(): Promise<ServiceHealth>
  /** Returns the newest output of an instance's last run that has ended; null: the log holds it among the rest */
  lastWords(instance: string): Promise<LastWords | null>
  /**
   * Returns the settings whose written value differs from the one the service runs with. Throws NOT_CONFIGURED if
   * nothing says what is meant, or nothing runs; FORBIDDEN, and as its files and its platform do
   */
  drift(): Promise<SettingsDrift>
  /** Returns the proxies before the service on its platform, as far as that says what they let through */
  proxies(): Promise<readonly ProxySettings[]>
  /** Returns what watches over the service, and may restart it or set it back during a repair (DESIGN.md 6.8) */
  controllers(): Promise<readonly Controller[]>
  /**
   * Returns what keeps its instances from coming back once they are gone, as far as that shows before. Throws as
   * `status`
   */
  startObstacles(): Promise<readonly StartObstacle[]>
  /**
   * Returns what serving instances lack of the declaration: its image, and the changed settings that `settings` names.
   * Throws as `status`. Absent: an instance has what it was started with
   */
  lacks?: (settings: readonly string[]) => Promise<readonly Lack[]>
  /**
   * Returns who repairs the deployment, by a lock that the platform keeps; null: nobody. Takes no lock; throws as
   * `status`. Absent: the platform keeps none
   */
  operator?: () => Promise<Holder | null>
  /**
   * Returns the service's image by the compose program, with its files as they are and with these edits of one. Throws
   * NOT_CONFIGURED if they are not on this machine, UNAVAILABLE, UNEXPECTED_ANSWER if they are invalid, REFUSED if the
   * edits would make them so. Absent: no compose program starts it
   */
  composed?: (edited: EditedFile | null) => Promise<ComposedImage>
  /**
   * Returns true if an image is ready where the service is started, for a platform that runs there. Throws as `status`.
   * Absent: the platform fetches images by itself
   */
  hasImage?: (wanted: WantedImage) => Promise<boolean>
  /**
   * Returns what ends an instance that takes long to start, as far as its declaration says; null: nothing does. Throws
   * as `status`. Absent: the platform has no such thing
   */
  startLimit?: () => Promise<StartLimit | null>
  /**
   * Returns what changed about the service and the servers beside it, as far as the platform still knows. Throws as
   * `status`. Absent: the platform knows nothing of it
   */
  changes?: () => Promise<PlatformChanges>
  /**
   * Returns what declares and shows it on its platform: objects, files, units. Throws as `status`. Absent: nothing does
   */
  definitions?: () => Promise<readonly Definition[]>
  /** What the operator would type on this platform */
  readonly commands: ServiceCommands
  /** The files in which its settings are written; null: none */
  readonly settingsFiles: readonly string[] | null
}

/** What a platform knows of the past; in no order. */
export interface PlatformChanges {
  changes: readonly PlatformChange[]
  /** What could not be asked, and why, as sentences without their period */
  unseen: readonly string[]
}

/** Something that changed on a platform. Its message holds names, and no values but those of images. */
export interface PlatformChange {
  kind: 'rollout' | 'image' | 'setting' | 'restart' | 'node' | 'clock' | 'disk'
  at: Date
  /** For people, without its time */
  message: string
  /** What shows it */
  proof: Suggestion
}

/** A document of the platform about the service. May hold secrets. */
export interface Definition {
  /** `deployments/testops`, or a path */
  name: string
  content: string | Readonly<Record<string, unknown>>
}

/** An image for a container engine to fetch. */
export interface WantedImage {
  /** `registry/repository/name:tag` */
  image: string
  /** `linux/amd64`; null: the engine's own */
  platform: string | null
}

/** A file with edits that are not made yet; absolute, links followed. */
export interface EditedFile {
  file: string
  edits: readonly ValueEdit[]
}

/** The image of a service of a compose project, with its variables filled in. Null: it has none. */
export interface ComposedImage {
  now: string | null
  /** The image with the edits; undefined if the file can only be tried in its place */
  then: string | null | undefined
  /** The platform that its files ask for; null: none */
  platform: string | null
  /** True if the service's image is built on this machine */
  isBuilt: boolean
  /** What else would change, as paths of keys */
  others: readonly string[]
}

export interface ServiceCommands {
  start: Suggestion
  stop: Suggestion
  restart: Suggestion
  status: Suggestion
  logs: Suggestion
  /** The processes that run where the service runs */
  processes: Suggestion
  /** Where settings are changed by hand */
  settings: Suggestion
  /** What opens those settings */
  edit: Suggestion
  /** What shows the values of its Helm release; absent: it has none */
  values?: Suggestion
}

export interface Controller {
  /** 'Argo CD (Application `testops`)' */
  name: string
  /** True if it leaves the service alone at the moment; null: that cannot be seen */
  paused: boolean | null
  /** How to pause it: commands to type, or a sentence */
  pause: readonly Suggestion[]
}

export interface StartObstacle {
  /**
   * unready: instances of an older declaration serve, and newer ones do not come up; image: an image is unavailable;
   * lasting: nothing that this program changes removes the obstacle
   */
  kind: 'unready' | 'image' | 'lasting'
  message: string
  /** What shows or removes it */
  proof: readonly Suggestion[]
}

/** What ends an instance that takes long to start. */
export interface StartLimit {
  /** For people: 'startup probe' */
  by: string
  /** Milliseconds from the start on */
  afterMs: number
  /** What shows it */
  proof: Suggestion
}

/** Something declared that a serving instance lacks. */
export interface Lack {
  message: string
  /** What shows it */
  proof: readonly Suggestion[]
}

export interface ServiceStatus {
  state: 'running' | 'stopped' | 'failed'
  /** In the platform's own words */
  detail: string
  instances: readonly ServiceInstance[]
  /** What a person can check it by, besides the platform's own command */
  evidence?: readonly string[]
  /** Set if it has failed, and what watches over it is about to restart it */
  startsAgain?: true
  /** Set if instances are being replaced by those of a newer declaration, or are not ready yet */
  isRollingOut?: true
  /** Owners of instances other than those that this program stops and starts */
  ownedByOthers?: readonly InstanceOwner[]
  /** Number of replicas before this program stopped it, as it noted on the workload itself */
  formerReplicas?: number
}

/** What owns instances of the service that this program neither stops nor starts. */
export interface InstanceOwner {
  /** 'Rollout `testops`' */
  name: string
  /** Names of those instances, including ones that are starting or failing */
  instances: readonly string[]
  /** What shows it */
  proof: readonly Suggestion[]
}

/** The settings of a proxy. Null: not set there, so that its own default counts. */
export interface ProxySettings {
  /** For people: 'Ingress `testops`' */
  name: string
  /** The largest request that it lets through, in bytes; Infinity: any */
  maxBodyBytes: number | null
  /** How long it waits for an answer, in milliseconds */
  readTimeoutMs: number | null
  /** The command that shows these, then what it says of them */
  evidence: readonly string[]
  /** What to type to change one of them */
  change: { maxBody: Suggestion | null; readTimeout: Suggestion | null }
}

export interface SettingsDrift {
  /** Where the settings are written down, for people */
  declaredIn: string
  /** What shows the settings that the service runs with */
  shown: Suggestion
  settings: readonly DriftingSetting[]
}

/** A setting that differs. Null: absent. */
export interface DriftingSetting {
  name: string
  declared: string | Secret | null
  runs: string | Secret | null
}

export interface ServiceHealth {
  /** Number of instances that should be ready; null: nothing there asks whether they are */
  wanted: number | null
  /** Without those that were told to end */
  instances: readonly InstanceHealth[]
  /** The platform's own account of what is wrong with them, after the command that shows it */
  said: readonly string[]
}

export interface InstanceHealth {
  /** Name of the process, container or pod */
  name: string
  /** True if it runs at this instant */
  isUp: boolean
  /** Null: nothing asks whether it is */
  isReady: boolean | null
  /** When the present run began; null: it does not run, or that is not known */
  startedAt: Date | null
  /** Why it cannot start, in the platform's words; null: nothing keeps it from starting */
  waits: string | null
  /** How its last run ended without an order; null: none did */
  ended: InstanceEnd | null
  /** Number of times it was restarted by itself */
  restarts: number
}

export interface InstanceEnd {
  /** In the platform's words: `OOMKilled`, `exit-code`; empty: it has none */
  reason: string
  exitCode: number | null
  /** Null: not known */
  startedAt: Date | null
  at: Date | null
}

export interface LastWords {
  /** What shows them */
  command: Suggestion
  text: string
}

export interface ServiceInstance {
  /** Name of process, container or pod */
  name: string
  /** The host name that this instance sees as its own, as Liquibase writes it into `lockedby` */
  host: string
  pid: number | null
  startedAt: Date | null
}

/**
 * Where connections of an instance come from, as the server at the other end sees them if nothing translates addresses.
 */
export interface ServiceOrigin {
  /** Name of the instance */
  instance: string
  /** IPv4 or IPv6 address, in lower case; never a loopback address without a port */
  address: string
  /** Port of the one connection; null: every connection of the instance has that address */
  port: number | null
  /** Port that it leads to; null: any */
  to: number | null
  /** Set if another program in its container or pod comes from there too, and has the same host name */
  shared?: true
}

/** What the deployment is declared to run. Null: not declared. */
export interface ServiceImage {
  /** Last part of the image's name, without registry and tag: `testops` or `testops-legacy` (SPEC.md 1) */
  name: string | null
  /** What stands before that name, `registry/repository/`; absent: not known */
  registry?: string
  /** The image's tag */
  tag: string | null
  /** The build that the deployment is declared to run */
  build: string | null
  /** Where the three come from, for people */
  declaredIn: string
  /** Compose files that start it, absolute, links followed; absent: none is known */
  files?: readonly string[]
  /** Its name in these */
  service?: string
}

export interface Machine {
  name: string
  /** As `uname -m` writes it; null where unknown */
  architecture: string | null
  /** One list of flags per processor, names as in /proc/cpuinfo; several equal ones may be given once */
  processors: readonly (readonly string[])[]
  /** The hypervisor of its virtual machine, by its firmware; null: not known, or not a virtual one */
  hypervisor: string | null
  /**
   * If the flags themselves are not known: which of x86-64-v3 it is shown to lack, and by what. None of them: that
   * level is likely, but not certain. Absent: nothing speaks of its processors
   */
  told?: { lacks: readonly string[]; by: string }
  /** Why its flags could not be read, one line for each way that was tried */
  unproven?: string
}
