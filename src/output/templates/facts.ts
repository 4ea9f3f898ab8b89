import type { PlatformName } from '../../core/deployment.ts'
import type { ServiceCommands } from '../../core/sources.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

/** A file to write: its text, or the YAML documents that it consists of. */
export interface TemplateFile {
  /** Name in the output folder */
  name: string
  content: string | readonly YamlPart[]
}

/** A YAML document, and the lines of the comment above it. */
export interface YamlPart {
  about: readonly string[]
  value: unknown
}

/** A file of `templates/` as the package ships it: the comment at its top, and its documents. */
interface TemplateSource {
  about: readonly string[]
  documents: readonly unknown[]
}

/** Where a secret of a configuration is kept. */
type SecretPlace =
  | { form: 'env'; variable: string }
  | { form: 'file'; path: string }
  | { form: 'command'; command: readonly string[] }
  | { form: 'kubernetesSecret'; name: string }

/** How a deployment's configuration is written for another place. */
interface MovingRules {
  /** Returns what is written for a secret; `key` names it: `api-token`, `database-password` */
  secret: (key: string, place: SecretPlace) => object
  /** Returns the path of a file in that place; null if the key must be left out */
  file: (key: string, path: string) => string | null
  /** Keys that have no meaning in that place: `kubernetes.context` */
  omitted: readonly string[]
}

/** A configuration for another place, and the keys that it lacks. */
interface MovedConfiguration {
  settings: Record<string, unknown>
  omitted: readonly string[]
}

/** What templates are filled with. */
export interface TemplateFacts {
  /** Name of the deployment; empty if the template needs none */
  name: string
  /** `-d prod`, with the absolute path of the configuration file if a flag named one */
  flags: ShellCommand
  platform: PlatformName
  /** Groups of this machine whose members may look at the service */
  groups: readonly string[]
  /** Namespace of the service; empty if the template needs none */
  namespace: string
  /** Version of this program */
  version: string
  /** Words that run this program on this machine, the first an absolute path */
  program: readonly [string, ...string[]]
  options: Readonly<Partial<Record<TemplateOption, string>>>
  /** Returns the deployment's configuration for another place. Throws REFUSED if it holds a literal secret */
  moved: (rules: MovingRules) => MovedConfiguration
  /** Returns the certificates of a PEM file, and nothing else that is in it. Throws CONFIGURATION */
  certificates: (path: string) => Promise<string>
  /** Returns whether systemd takes these times as a calendar event; null if this machine has no systemd to ask */
  isCalendarEvent: (times: string) => Promise<boolean | null>
  /** Returns how the platform starts, stops and shows the service; null if that is unknown */
  commands: () => Promise<ServiceCommands | null>
  /** Returns a value as YAML */
  yaml: (value: unknown) => string
  /** Returns a file of `templates/` */
  source: (path: string) => Promise<TemplateSource>
  /** Returns its text */
  text: (path: string) => string
}

/** Names of the templates of `init --template`. */
export const templateNames = [
  'cronjob',
  'roles',
  'systemd',
  'github-actions',
  'gitlab-ci',
  'alerts',
  'grafana',
  'check',
  'configuration',
  'runbooks',
] as const
export type TemplateName = (typeof templateNames)[number]

/** A flag of `init` that fills a template. */
export const templateOptions = ['image', 'schedule', 'secret', 'textfile', 'results'] as const
export type TemplateOption = (typeof templateOptions)[number]
