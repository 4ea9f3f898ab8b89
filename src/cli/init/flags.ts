import { Flags } from '@oclif/core'
import type { PlatformName } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import type { Environment } from '../../runtime/index.ts'
import type { Draft, DraftValue, Path } from '../../runtime/init/index.ts'

const secretHelp = 'env:NAME|file:PATH'

export const initFlags = {
  template: Flags.string({
    summary: "Render a template with the deployment's names instead; DESCRIPTION lists the templates",
    helpValue: 'NAME',
  }),
  image: Flags.string({ summary: 'In the CronJob: run this image', helpValue: 'IMAGE', dependsOn: ['template'] }),
  schedule: Flags.string({
    summary: 'Run doctor at these times: for cron in the CronJob, a calendar event in the systemd timer',
    helpValue: 'TIMES',
    dependsOn: ['template'],
  }),
  secret: Flags.string({
    summary: 'In the CronJob: take secrets that are not in the cluster yet from this Secret',
    helpValue: 'NAME',
    dependsOn: ['template'],
  }),
  textfile: Flags.string({
    summary: 'In the systemd service: write metrics for Prometheus to this file',
    helpValue: 'FILE',
    dependsOn: ['template'],
  }),
  results: Flags.string({
    summary: 'In a pipeline: check this results directory',
    helpValue: 'DIR',
    dependsOn: ['template'],
  }),
  platform: Flags.option({
    options: ['kubernetes', 'compose', 'host'] as const,
    summary: 'Choose the platform of the service; by default, `init` finds it',
  })(),
  name: Flags.string({ summary: 'Name the deployment in the configuration', helpValue: 'NAME' }),
  output: Flags.string({
    summary: 'Write the configuration here (default testops-admin.yaml); with --template: the folder for its files',
    helpValue: 'FILE',
  }),
  url: Flags.string({ summary: 'Set the address of the web interface', helpValue: 'URL' }),
  'api-token': Flags.string({ summary: 'Say where the API token is kept', helpValue: secretHelp }),
  unit: Flags.string({ summary: 'Use this systemd unit', helpValue: 'UNIT' }),
  'start-command': Flags.string({
    summary: 'Start the service with this command, if there is no unit',
    helpValue: 'COMMAND',
  }),
  'stop-command': Flags.string({ summary: 'Stop the service with this command', helpValue: 'COMMAND' }),
  'status-command': Flags.string({
    summary: 'Check the service with this command, which exits with 0 if the service is running and with 3 if not',
    helpValue: 'COMMAND',
  }),
  'environment-file': Flags.string({ summary: "Read the service's settings from this file", helpValue: 'FILE' }),
  'log-file': Flags.string({ summary: "Read the service's log from this file", helpValue: 'FILE' }),
  'compose-project': Flags.string({ summary: 'Use this compose project', helpValue: 'NAME' }),
  'compose-file': Flags.string({ summary: 'Use this compose file', helpValue: 'FILE' }),
  'compose-service': Flags.string({ summary: 'Use this service of the compose file', helpValue: 'NAME' }),
  context: Flags.string({ summary: 'Use this context of kubectl', helpValue: 'NAME' }),
  namespace: Flags.string({ summary: 'Use this namespace', helpValue: 'NAME' }),
  release: Flags.string({ summary: 'Use this Helm release', helpValue: 'NAME' }),
  'database-url': Flags.string({ summary: "Set the database's address, without a password", helpValue: 'URL' }),
  'database-password': Flags.string({ summary: "Say where the database's password is kept", helpValue: secretHelp }),
  'broker-url': Flags.string({ summary: "Set the broker's address, without a password", helpValue: 'URL' }),
  'broker-password': Flags.string({ summary: "Say where the broker's password is kept", helpValue: secretHelp }),
  'sessions-url': Flags.string({ summary: "Set the session store's address, without a password", helpValue: 'URL' }),
  'sessions-password': Flags.string({
    summary: "Say where the session store's password is kept",
    helpValue: secretHelp,
  }),
}

export interface InitFlags {
  json: boolean
  timeout?: number | undefined
  platform?: PlatformName | undefined
  name?: string | undefined
  /** Name of one of the deployments found */
  deployment?: string | undefined
  output?: string | undefined
  [flag: string]: string | number | boolean | undefined
}

/** A value of a deployment that a flag gives or a question asks for. */
export interface Field {
  flag: string
  /** Where it goes in the deployment's section */
  path: Path
  /** Omitted if it is never asked for */
  question?: string
}

const fields: readonly Field[] = [
  { flag: 'url', path: ['url'], question: 'Address of the web interface (leave empty to skip):' },
  {
    flag: 'api-token',
    path: ['apiToken'],
    question: 'Where is the API token kept? env:NAME or file:PATH (leave empty if there is no token):',
  },
  { flag: 'unit', path: ['host', 'unit'], question: 'Systemd unit of the service (leave empty if there is no unit):' },
  {
    flag: 'start-command',
    path: ['host', 'commands', 'start'],
    question: 'Command that starts the service (leave empty if there is no command):',
  },
  { flag: 'stop-command', path: ['host', 'commands', 'stop'], question: 'Command that stops the service:' },
  {
    flag: 'status-command',
    path: ['host', 'commands', 'status'],
    question: 'Command that exits with 0 if the service is running and with 3 if not:',
  },
  {
    flag: 'environment-file',
    path: ['host', 'environmentFile'],
    question: "File with the service's settings, in NAME=value lines (leave empty if there is no file):",
  },
  {
    flag: 'log-file',
    path: ['host', 'logs', 'file'],
    question: 'Log file of the service (leave empty if there is no file):',
  },
  {
    flag: 'compose-file',
    path: ['compose', 'file'],
    question: 'Compose file of the service (leave empty to enter the project name instead):',
  },
  {
    flag: 'compose-project',
    path: ['compose', 'project'],
    question: 'Name of the compose project (leave empty to skip):',
  },
  { flag: 'compose-service', path: ['compose', 'service'], question: 'Service name in compose:' },
  {
    flag: 'context',
    path: ['kubernetes', 'context'],
    question: 'kubectl context (leave empty for the current context):',
  },
  {
    flag: 'namespace',
    path: ['kubernetes', 'namespace'],
    question: 'Namespace of the service (leave empty for the namespace of the context):',
  },
  { flag: 'release', path: ['kubernetes', 'release'], question: 'Helm release of the service (leave empty to skip):' },
  {
    flag: 'database-url',
    path: ['database', 'url'],
    question: 'Address of the database, postgresql://user@host/database (leave empty to skip):',
  },
  {
    flag: 'database-password',
    path: ['database', 'password'],
    question: "Where is the database's password kept? env:NAME or file:PATH (leave empty to skip):",
  },
  {
    flag: 'broker-url',
    path: ['broker', 'url'],
    question: 'Address of the broker, amqp://user@host (leave empty to skip):',
  },
  {
    flag: 'broker-password',
    path: ['broker', 'password'],
    question: "Where is the broker's password kept? env:NAME or file:PATH (leave empty to skip):",
  },
  {
    flag: 'sessions-url',
    path: ['sessions', 'url'],
    question: 'Address of the session store, redis://host:6379/0 (leave empty to skip):',
  },
  {
    flag: 'sessions-password',
    path: ['sessions', 'password'],
    question: "Where is the session store's password kept? env:NAME or file:PATH (leave empty to skip):",
  },
]

export function fieldOf(flag: string): Field {
  return fields.find((it) => it.flag === flag)!
}

/** Returns the flag that gave a key its value; undefined if none did. */
export function flagOf(path: readonly string[], flags: InitFlags): string | undefined {
  return fields.find(({ flag, path: own }) => flags[flag] !== undefined && own.every((key, at) => path[at] === key))
    ?.flag
}

/**
 * Lays the flags' values over a draft of what was found, and calls `tell` with any doubt about them. Throws USAGE and
 * CONFIGURATION, naming the flag.
 */
export async function withFlags(
  draft: Draft,
  flags: InitFlags,
  around: { directory: string; environment: Environment; tell: (message: string) => void },
): Promise<Draft> {
  const { together } = await import('../../runtime/index.ts')
  const { judge } = await import('../../runtime/init/index.ts')
  const mistakes: AdminError[] = []
  let all = draft
  for (const { flag, path } of fields) {
    const given = flags[flag]
    if (typeof given !== 'string') continue
    try {
      const { value, doubt } = await judge(path, given, { ...around, subject: `--${flag}` })
      if (doubt !== null) around.tell(`--${flag}: ${doubt}`)
      all = withValue(all, path, value)
    } catch (error) {
      if (!(error instanceof AdminError)) throw error
      mistakes.push(error)
    }
  }
  if (mistakes.length > 0) throw together(mistakes)
  return all
}

const platforms: readonly PlatformName[] = ['kubernetes', 'compose', 'host']

/** True if a flag says where the service runs, so that nothing has to be searched. */
export function namesPlace(flags: InitFlags): boolean {
  return placesIn(flags).length > 0
}

/** Returns the platform that --platform or another flag names. Throws USAGE if flags name two. */
export function platformIn(flags: InitFlags): PlatformName | undefined {
  const [first, ...others] = [
    ...(flags.platform === undefined ? [] : [{ flag: `platform ${flags.platform}`, platform: flags.platform }]),
    ...placesIn(flags),
  ]
  const other = others.find(({ platform }) => platform !== first?.platform)
  if (first && other)
    throw new AdminError(
      'USAGE',
      `--${other.flag} is for platform \`${other.platform}\`, but --${first.flag} is for ` +
        `\`${first.platform}\`: choose one platform`,
      ['testops-admin init --help'],
    )
  return first?.platform
}

function placesIn(flags: InitFlags): { flag: string; platform: PlatformName }[] {
  return fields.flatMap(({ flag, path: [section] }) =>
    platforms.filter((it) => it === section && flags[flag] !== undefined).map((platform) => ({ flag, platform })),
  )
}

export function withValue(draft: Draft, [key, ...rest]: Path, value: DraftValue): Draft {
  const [next, ...further] = rest
  if (next === undefined) return { ...draft, [key]: value }
  return { ...draft, [key]: withValue(sectionOf(draft[key]), [next, ...further], value) }
}

/** Returns a draft's value at a key; undefined if it has none. */
export function valueAt(draft: Draft, path: Path): DraftValue | undefined {
  return path.reduce<DraftValue | undefined>((value, key) => sectionOf(value)[key], draft)
}

function sectionOf(value: DraftValue | undefined): Draft {
  return isSection(value) ? value : {}
}

function isSection(value: DraftValue | undefined): value is Draft {
  return typeof value === 'object' && !Array.isArray(value)
}

/** Lays one draft over another, section by section. */
export function merged(under: Draft, over: Draft): Draft {
  const shared = Object.keys(over).filter((key) => isSection(under[key]) && isSection(over[key]))
  return {
    ...under,
    ...over,
    ...Object.fromEntries(shared.map((key) => [key, merged(sectionOf(under[key]), sectionOf(over[key]))])),
  }
}
