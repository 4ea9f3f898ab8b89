import type { Holder } from '../lock.ts'
import type { Secret } from '../secret.ts'
import type { Suggestion } from '../shell-command.ts'
import type { ValueEdit } from './files.ts'

/** The platform's view of the service. */
export interface ServiceSource {
  status(): Promise<ServiceStatus>
  /** the service's environment variables by name */
  environment(): Promise<ReadonlyMap<string, string | Secret>>
  image(): Promise<ServiceImage>
  /** machines that the service runs on or could be started on */
  machines(): Promise<readonly Machine[]>
  /** whether the name resolves where the service runs; null where that cannot be asked */
  resolve(host: string): Promise<boolean | null>
  /**
   * from where its instances connect to other servers, as those see it; null: that cannot be seen. Throws as `status`
   */
  origins(): Promise<readonly ServiceOrigin[] | null>
  /**
   * whether a container or pod of the service's own bore that host name, and nothing runs in it any more; false: no, or
   * that cannot be told. Throws as `status`
   */
  hasEnded(host: string): Promise<boolean>
  /** how its processes, containers or pods fare. Throws NOT_CONFIGURED where nothing tells that */
  health(): Promise<ServiceHealth>
  /** the newest of what the last run of one of them printed that has ended; null: the log holds it among the rest */
  lastWords(instance: string): Promise<LastWords | null>
  /**
   * the settings in which what is written down differs from what it runs with. Throws NOT_CONFIGURED where nothing says
   * what is meant, or nothing runs; FORBIDDEN, and as its files and its platform do
   */
  drift(): Promise<SettingsDrift>
  /** what stands before the service on its platform, as far as that says what it lets through */
  proxies(): Promise<readonly ProxySettings[]>
  /** what watches over the service, and may start it again or set it back while it is worked on (DESIGN.md 6.8) */
  controllers(): Promise<readonly Controller[]>
  /**
   * what keeps its instances from coming back once they are gone, as far as that shows beforehand. Throws as `status`
   */
  startObstacles(): Promise<readonly StartObstacle[]>
  /**
   * what instances that serve lack of what is declared: its image, and those of `settings`, names of such that were
   * changed. Throws as `status`. Absent: an instance has what it was started with
   */
  lacks?: (settings: readonly string[]) => Promise<readonly Lack[]>
  /**
   * who repairs the deployment, as a lock that the platform keeps tells; null: nobody. Takes none; throws as `status`.
   * Absent: it keeps none
   */
  operator?: () => Promise<Holder | null>
  /**
   * what the compose program makes of the service's image, as its files are and as they would be with these edits of
   * one of them. Throws NOT_CONFIGURED where they are not on this machine, UNAVAILABLE, UNEXPECTED_ANSWER where they
   * are not valid, REFUSED where they would not be. Absent: no compose program starts it
   */
  composed?: (edited: EditedFile | null) => Promise<ComposedImage>
  /**
   * whether an image lies ready where the service is started, of a platform that runs there. Throws as `status`.
   * Absent: the platform fetches images by itself
   */
  hasImage?: (wanted: WantedImage) => Promise<boolean>
  /** what the operator would type on this platform */
  readonly commands: ServiceCommands
  /** the files in which its settings are written; null: they are in none */
  readonly settingsFiles: readonly string[] | null
}

/** An image as an engine of containers is told to fetch it. */
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

/** The image of a service of a compose project, its variables filled in. Null: it has none. */
export interface ComposedImage {
  now: string | null
  /** with the edits; where the file can only be tried in its place, undefined */
  then: string | null | undefined
  /** that its files ask for; null: none */
  platform: string | null
  /** the service's image is built on this machine */
  isBuilt: boolean
  /** what else would change, as paths of keys */
  others: readonly string[]
}

export interface ServiceCommands {
  start: Suggestion
  stop: Suggestion
  restart: Suggestion
  status: Suggestion
  logs: Suggestion
  /** the processes that run where the service runs */
  processes: Suggestion
  /** where settings are changed by hand */
  settings: Suggestion
  /** what opens them there */
  edit: Suggestion
  /** what shows the values of its Helm release; absent: it is of none */
  values?: Suggestion
}

export interface Controller {
  /** 'Argo CD (Application `testops`)' */
  name: string
  /** whether it leaves the service alone at the moment; null: that cannot be seen */
  paused: boolean | null
  /** how it is kept from its work: commands to type, or a sentence */
  pause: readonly Suggestion[]
}

export interface StartObstacle {
  /**
   * unready: instances of a former declaration serve, and newer ones do not come up; image: an image cannot be had;
   * lasting: nothing that this program changes removes it
   */
  kind: 'unready' | 'image' | 'lasting'
  message: string
  /** what shows or removes it */
  proof: readonly Suggestion[]
}

/** That an instance serves without something that is declared. */
export interface Lack {
  message: string
  /** what shows it */
  proof: readonly Suggestion[]
}

export interface ServiceStatus {
  state: 'running' | 'stopped' | 'failed'
  /** in the platform's own words */
  detail: string
  instances: readonly ServiceInstance[]
  /** what a person can check it by, beside the platform's own command */
  evidence?: readonly string[]
  /** it has failed, and is about to be started again by whatever watches over it */
  startsAgain?: true
  /** instances are being replaced by those of a newer declaration, or are not ready yet */
  isRollingOut?: true
  /** what runs instances beside those that this program stops and starts */
  ownedByOthers?: readonly InstanceOwner[]
  /** how many replicas it had before this program stopped it, as it noted on the workload itself */
  formerReplicas?: number
}

/** What owns instances of the service that this program neither stops nor starts. */
export interface InstanceOwner {
  /** 'Rollout `testops`' */
  name: string
  /** names of those instances, also of such that are starting or failing */
  instances: readonly string[]
  /** what shows it */
  proof: readonly Suggestion[]
}

/** Of a proxy; null: it is not said there, so that its own default counts. */
export interface ProxySettings {
  /** for people: 'Ingress `testops`' */
  name: string
  /** the largest request that it lets through; Infinity: any */
  maxBodyBytes: number | null
  /** how long it waits for an answer */
  readTimeoutMs: number | null
  /** what shows that: the command, then what it says of these */
  evidence: readonly string[]
  /** what is typed to change one of them */
  change: { maxBody: Suggestion | null; readTimeout: Suggestion | null }
}

export interface SettingsDrift {
  /** where it is written down, for people */
  declaredIn: string
  /** what shows what it runs with */
  shown: Suggestion
  settings: readonly DriftingSetting[]
}

/** Null: absent. */
export interface DriftingSetting {
  name: string
  declared: string | Secret | null
  runs: string | Secret | null
}

export interface ServiceHealth {
  /** how many are to be ready; null: nothing there asks whether they are */
  wanted: number | null
  /** those that were told to end left out */
  instances: readonly InstanceHealth[]
  /** the platform's own account of what is wrong with them, the command that shows it first */
  said: readonly string[]
}

export interface InstanceHealth {
  /** of process, container or pod */
  name: string
  /** it runs at this instant */
  isUp: boolean
  /** null: nothing asks whether it is */
  isReady: boolean | null
  /** the present run began; null: it does not run, or that is not known */
  startedAt: Date | null
  /** why it cannot begin, in the platform's words; null: nothing keeps it */
  waits: string | null
  /** how its last run came to an end that nobody ordered; null: none did */
  ended: InstanceEnd | null
  /** how often it was started again by itself */
  restarts: number
}

export interface InstanceEnd {
  /** in the platform's words: `OOMKilled`, `exit-code`; empty: it has none */
  reason: string
  exitCode: number | null
  /** null: not known */
  startedAt: Date | null
  at: Date | null
}

export interface LastWords {
  /** what shows them */
  command: Suggestion
  text: string
}

export interface ServiceInstance {
  /** name of process, container or pod */
  name: string
  /** the host name that this instance sees as its own, as Liquibase writes it into `lockedby` */
  host: string
  pid: number | null
  startedAt: Date | null
}

/**
 * Where connections of an instance come from, as the server at the other end sees them, without any translation of
 * addresses.
 */
export interface ServiceOrigin {
  /** name of the instance */
  instance: string
  /** of IPv4 or IPv6, in lower case; never a loopback address without a port */
  address: string
  /** of the one connection; null: every connection of the instance has that address */
  port: number | null
  /** the port that it leads to; null: any */
  to: number | null
  /** another program beside the service, in its container or pod, comes from there too, and has the same host name */
  shared?: true
}

/** What the deployment is declared to run. Null: not declared. */
export interface ServiceImage {
  /** last part of the image's name, without registry and tag: `testops` or `testops-legacy` (SPEC.md 1) */
  name: string | null
  /** what stands before that name, `registry/repository/`; left out: it is not known */
  registry?: string
  /** the image's tag */
  tag: string | null
  /** the build that the deployment is declared to run */
  build: string | null
  /** where the three come from, for people */
  declaredIn: string
  /** compose files by which it is started, absolute, links followed; left out: none is known */
  files?: readonly string[]
  /** its name in these */
  service?: string
}

export interface Machine {
  name: string
  /** as `uname -m` writes it; null where unknown */
  architecture: string | null
  /** one list of flags for each processor, names as in /proc/cpuinfo; several that are equal may be given once */
  processors: readonly (readonly string[])[]
  /** whose virtual machine it is, as its firmware says; null: not known, or not a virtual one */
  hypervisor: string | null
  /**
   * where the flags themselves are not known: which of x86-64-v3 it is shown to lack, and by what. None of them: that
   * level is likely, and no more than that. Left out: nothing speaks of its processors
   */
  told?: { lacks: readonly string[]; by: string }
  /** its flags were to be read, and this is why they could not be, a line for each way that was tried */
  unproven?: string
}
