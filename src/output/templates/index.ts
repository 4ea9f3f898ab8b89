import type { PlatformName } from '../../core/deployment.ts'
import type { ServiceCommands } from '../../core/sources.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import { cronjobFiles, roleFiles } from './kubernetes.ts'
import { alertFiles, dashboardFiles, pipelineFiles } from './monitoring.ts'
import { runbookFiles } from './runbooks.ts'
import { systemdFiles } from './systemd.ts'

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
export interface TemplateSource {
  about: readonly string[]
  documents: readonly unknown[]
}

/** Where a secret of a configuration is kept. */
export type SecretPlace =
  | { form: 'env'; variable: string }
  | { form: 'file'; path: string }
  | { form: 'command'; command: readonly string[] }
  | { form: 'kubernetesSecret'; name: string }

/** How a deployment's configuration is written for another place. */
export interface MovingRules {
  /** Returns what is written for a secret; `key` names it: `api-token`, `database-password` */
  secret: (key: string, place: SecretPlace) => object
  /** Returns the path of a file in that place; null if the key must be left out */
  file: (key: string, path: string) => string | null
  /** Keys that have no meaning in that place: `kubernetes.context` */
  omitted: readonly string[]
}

/** A configuration for another place, and the keys that it lacks. */
export interface MovedConfiguration {
  settings: Record<string, unknown>
  omitted: readonly string[]
}

/** What templates are filled with. */
export interface TemplateFacts {
  /** Name of the deployment; empty if the template needs none */
  name: string
  /** `-d prod`, with the configuration file if a flag named one */
  flags: ShellCommand
  platform: PlatformName
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
  /** Returns how the platform starts, stops and shows the service; null if that is unknown */
  commands: () => Promise<ServiceCommands | null>
  /** Returns a value as YAML */
  yaml: (value: unknown) => string
  /** Returns a file of `templates/` */
  source: (path: string) => Promise<TemplateSource>
}

/** A flag of `init` that fills a template. */
export const templateOptions = ['image', 'schedule', 'secret', 'textfile', 'results'] as const
export type TemplateOption = (typeof templateOptions)[number]

interface Template {
  /** What it is, for the help */
  about: string
  /** `settings`: the configuration of a deployment; `name`: its name alone */
  needs: 'settings' | 'name' | 'nothing'
  /** Platforms that it is for; omitted: all */
  platforms?: readonly PlatformName[]
  needsNamespace?: true
  options?: readonly TemplateOption[]
  files: (facts: TemplateFacts) => Promise<readonly TemplateFile[]>
}

/** All templates of `init --template`, by name. */
export const templates: Readonly<Record<string, Template>> = {
  cronjob: {
    about: 'Kubernetes CronJob that runs doctor, with the least rights',
    needs: 'settings',
    platforms: ['kubernetes'],
    needsNamespace: true,
    options: ['image', 'schedule', 'secret'],
    files: cronjobFiles,
  },
  roles: {
    about: 'Kubernetes Roles for diagnosis, for repairs, and on request',
    needs: 'settings',
    platforms: ['kubernetes'],
    needsNamespace: true,
    files: roleFiles,
  },
  systemd: {
    about: 'systemd service and timer that run doctor on this machine',
    needs: 'settings',
    platforms: ['host', 'compose'],
    options: ['schedule', 'textfile'],
    files: systemdFiles,
  },
  'github-actions': {
    about: 'GitHub workflow that checks test results',
    needs: 'nothing',
    options: ['results'],
    files: async (facts) => pipelineFiles('github-actions', facts),
  },
  'gitlab-ci': {
    about: 'GitLab job that checks test results',
    needs: 'nothing',
    options: ['results'],
    files: async (facts) => pipelineFiles('gitlab-ci', facts),
  },
  alerts: { about: 'Prometheus alert rules, and their tests', needs: 'name', files: alertFiles },
  grafana: { about: 'Grafana dashboard', needs: 'name', files: dashboardFiles },
  runbooks: { about: 'a Markdown page for each fault', needs: 'settings', files: runbookFiles },
}
