import type { DoctorReport } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import type { RepairDocument } from '../../core/repair.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import { onDeployment, typed } from '../../core/typed.ts'
import { doctorTable } from '../../output/doctor/table.ts'
import type { ExplainDocument } from '../../output/explain.ts'
import { explainText } from '../../output/explain.ts'
import type { HistoryDocument } from '../../output/history.ts'
import { historyText } from '../../output/history.ts'
import type { PreflightDocument } from '../../output/preflight.ts'
import { preflightText } from '../../output/preflight.ts'
import { repairText } from '../../output/repair.ts'
import type { ScanDocument } from '../../output/scan/document.ts'
import { scanText } from '../../output/scan/text.ts'

/** The arguments of a call, as its tool's schema has them. */
export type ToolArguments = Readonly<Record<string, unknown>>

/** A tool: a command of this program that changes nothing, as a client sees and calls it. */
export interface Tool {
  name: string
  title: string
  description: string
  /** Properties of the arguments, as JSON Schema */
  properties: Readonly<Record<string, object>>
  required?: readonly string[]
  /** How to ask for less */
  less: string
  /** Returns what is run for these arguments. Throws USAGE for arguments that do not belong together */
  call(given: ToolArguments): ToolCall
  /** Returns the text of what the command printed with --json */
  text(document: object, exitCode: number): string
}

/** What is run for a call. */
export interface ToolCall {
  /** Words after the program's name, as a person types them without a deployment */
  words: readonly string[]
  /** Words that keep the command from changing anything */
  dry?: readonly string[]
  /** Text for standard input */
  input?: string
  /** True if no deployment is examined */
  isAlone?: boolean
  /** Words as a person types them, if they differ */
  typed?: readonly string[]
}

/** Arguments that name files: a server reads only those in folders that were allowed when it was started */
export const fileArguments = ['files', 'values', 'compose'] as const

/** Columns of the texts, and no colours */
const screen = { columns: 100, colour: false }

const longestText = 20_000
const shortText = { type: 'string', minLength: 1, maxLength: 200 }
const ids = { type: 'array', items: shortText, maxItems: 100 }
const numbers = { type: 'array', items: { type: 'integer', minimum: 1 }, maxItems: 1000 }
const paths = { type: 'array', items: { type: 'string', minLength: 1, maxLength: 4096 }, minItems: 1, maxItems: 20 }
const time = 'such as 2h (2 hours ago), 30m, 3d, 2026-11-22 or 2026-11-22T10:30'

const deployment = {
  deployment: {
    ...shortText,
    description: 'Name of the deployment. Default: the one that the server was started with.',
  },
}

/** The repairs that are planned, and the arguments that each of them takes beside `deployment`. */
export const planned = {
  'flush-sessions': ['all', 'stale', 'user'],
  'migrate-trees': ['project', 'tree', 'all-projects', 'all-trees', 'concurrency', 'wait'],
  'reset-queues': ['drain', 'discard-messages', 'queue'],
  'service-restart': [],
  'service-start': [],
  'service-stop': [],
  'set-env': ['setting', 'durable-queues', 'token-lifetime', 'integration-debug', 'restart', 'values', 'path', 'apply'],
  'unlock-changelog': ['restart', 'schema'],
  'use-legacy-image': ['build', 'revert', 'values', 'compose', 'path', 'service', 'apply'],
} as const satisfies Readonly<Record<string, readonly string[]>>

type Planned = keyof typeof planned

const on = { type: 'boolean' }

const planProperties = {
  repair: { type: 'string', enum: Object.keys(planned), description: 'The repair to plan.' },
  ...deployment,
  all: { ...on, description: 'flush-sessions: empty the whole Redis database if it contains only sessions.' },
  stale: { ...on, description: 'flush-sessions: remove only invalid sessions.' },
  user: { ...shortText, description: 'flush-sessions: remove only the sessions of this user.' },
  project: { ...numbers, description: 'migrate-trees: reload all trees of these projects.' },
  tree: { ...ids, description: 'migrate-trees: reload these trees, each as PROJECT/TREE.' },
  'all-projects': { ...on, description: 'migrate-trees: reload every project.' },
  'all-trees': { ...on, description: 'migrate-trees: reload every tree, with one call for each.' },
  concurrency: {
    type: 'integer',
    minimum: 1,
    maximum: 64,
    description: 'migrate-trees: make at most this many calls at a time.',
  },
  wait: { ...on, description: 'migrate-trees: wait until the jobs have finished.' },
  drain: {
    type: 'integer',
    minimum: 0,
    maximum: 86_400,
    description: 'reset-queues: first let the service empty its queues, for up to this many seconds.',
  },
  'discard-messages': { ...on, description: 'reset-queues: delete the messages instead of keeping them.' },
  queue: { ...ids, description: 'reset-queues: convert only these queues. * and ? are wildcards.' },
  setting: {
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: 4000 },
    maxItems: 50,
    description: 'set-env: settings of the service. NAME=VALUE sets one, NAME- removes one. Never give a secret.',
  },
  'durable-queues': {
    type: 'string',
    enum: ['true', 'false'],
    description: 'set-env: have the service declare durable queues.',
  },
  'token-lifetime': {
    type: 'integer',
    minimum: 1,
    maximum: 999_999_999,
    description: 'set-env: lifetime of Bearer tokens, in seconds.',
  },
  'integration-debug': {
    type: 'string',
    enum: ['on', 'off'],
    description: 'set-env: log debug output of integrations.',
  },
  restart: {
    ...on,
    description: 'set-env, unlock-changelog: restart the service. Default: true.',
  },
  schema: { ...shortText, description: 'unlock-changelog: the schema, if several have the lock table.' },
  build: { ...shortText, description: 'use-legacy-image: also set the version to this build.' },
  revert: { ...on, description: 'use-legacy-image: go back to the standard image.' },
  values: { ...paths, description: 'set-env, use-legacy-image: Helm values files to edit, the last one counts most.' },
  compose: { ...shortText, maxLength: 4096, description: 'use-legacy-image: the compose file to edit.' },
  path: { ...shortText, description: 'set-env, use-legacy-image: where an umbrella chart has the values: KEY.PATH.' },
  service: { ...shortText, description: 'use-legacy-image: the service in the compose file.' },
  apply: { ...on, description: 'set-env, use-legacy-image: edit the file and also upgrade the Helm release.' },
}

/** The tools, in the order in which a client lists them. */
export const tools: readonly Tool[] = [
  {
    name: 'doctor',
    title: 'Find what is wrong with a deployment',
    description:
      'Runs all checks of a TestOps deployment at once: service, database, broker, session store, API. Separates ' +
      'causes from consequences. Shows the evidence and the command that repairs each cause. Changes nothing. Also ' +
      'runs the check files that the configuration names; what they do is up to their authors.',
    properties: {
      ...deployment,
      only: { ...ids, description: 'Run only these checks. A group such as `broker` means all its checks.' },
      skip: { ...ids, description: 'Skip these checks.' },
    },
    less: 'To get the rest, ask for fewer checks with `only`.',
    call: (given) => ({ words: ['doctor', ...flags(given, ['only', 'skip'])] }),
    text: (document, exitCode) => doctorTable(document as DoctorReport, { screen, exitCode, verbose: false }),
  },
  {
    name: 'explain',
    title: 'Explain a fault, a check or a message',
    description:
      'Takes the id of a fault or a check, a message from a log or the web interface, or a few words in English or ' +
      'Russian. Returns the cause, what to do and the command. Without `query`, lists everything. Needs no deployment.',
    properties: {
      query: { type: 'string', minLength: 1, maxLength: longestText, description: 'An id, a message, or words.' },
    },
    less: 'To get the rest, ask for one id.',
    // on standard input, where it is no flag, and no other program of this machine sees it
    call: ({ query }) =>
      query === undefined
        ? { words: ['explain'], isAlone: true }
        : { words: ['explain', '-'], input: query as string, isAlone: true, ...typedQuery(query as string) },
    text: (document) => explainText(document as ExplainDocument, screen),
  },
  {
    name: 'scan_logs',
    title: 'Find known faults in logs',
    description:
      "Reads the deployment's log, or log files. Shows how often each known fault occurred, when it first and last " +
      'occurred, sample lines and what to do. Changes nothing.',
    properties: {
      ...deployment,
      files: { ...paths, description: 'Read these files instead. The server must have been started with --files.' },
      since: { ...shortText, description: `Skip log records before this time, ${time}.` },
      until: { ...shortText, description: 'Skip log records at or after this time.' },
      'time-zone': { ...shortText, description: 'Time zone of times without an offset, such as Europe/Moscow.' },
    },
    less: 'To get the rest, ask for a shorter time with `since` and `until`.',
    call(given) {
      const { files = [], deployment: name } = given as { files?: readonly string[]; deployment?: string }
      if (files.length > 0 && name !== undefined)
        throw new AdminError('USAGE', 'give `files` or `deployment`, not both')
      return {
        words: ['scan-logs', ...files, ...flags(given, ['since', 'until', 'time-zone'])],
        isAlone: files.length > 0,
      }
    },
    text: (document, exitCode) => scanText(document as ScanDocument, { screen, exitCode }),
  },
  {
    name: 'preflight',
    title: 'Find what stands in the way of an upgrade',
    description:
      'Checks whether a deployment is ready for another version of the service, and of RabbitMQ. Returns a verdict ' +
      'and the steps in their order, with their commands. Changes nothing.',
    properties: {
      ...deployment,
      to: { ...shortText, description: 'Build or version of the service to upgrade to, such as 527u01 or 5.27.' },
      broker: { ...shortText, description: 'Version of RabbitMQ to upgrade to, such as 4.3.0.' },
      'backup-taken': { ...shortText, description: `When the last backup of the database was made, ${time}.` },
      'database-free': { ...shortText, description: "How much is free on the database's disk, such as 20GB." },
    },
    required: ['to'],
    less: 'The command of this answer prints the rest on a terminal.',
    call: (given) => ({ words: ['preflight', ...flags(given, ['to', 'broker', 'backup-taken', 'database-free'])] }),
    text: (document, exitCode) => preflightText(document as PreflightDocument, { screen, exitCode, verbose: false }),
  },
  {
    name: 'history',
    title: 'List the repairs of a deployment',
    description:
      'Lists repairs that were started on this machine, and unfinished repairs from other machines: by whom, how far ' +
      'each got, and how to resume or undo it. Changes nothing.',
    properties: deployment,
    less: 'The command of this answer prints the rest on a terminal.',
    call: () => ({ words: ['history'] }),
    text: (document) => historyText(document as HistoryDocument, screen),
  },
  {
    name: 'plan',
    title: 'Plan a repair, without carrying it out',
    description:
      'Returns the plan of a repair: its steps, what it loses, how long it interrupts users, its risks, its hash, ' +
      'and the command that a person types to carry it out. Carries nothing out: there is no tool for that. Each ' +
      'argument names the repairs that take it.',
    properties: planProperties,
    required: ['repair'],
    less: 'The command of this answer, with --dry-run, prints the rest on a terminal.',
    call(given) {
      const { repair, deployment: name, apply } = given as { repair: Planned; deployment?: string; apply?: boolean }
      const isOfFile = given['values'] !== undefined || given['compose'] !== undefined
      return {
        words: planWords(repair, given),
        dry: ['--dry-run'],
        isAlone: isOfFile && apply !== true && name === undefined,
      }
    },
    text(document) {
      const { hash } = document as RepairDocument
      return `${repairText(document as RepairDocument, screen)}Hash: ${hash}\n`
    },
  },
]

/** Returns the words for a query that fits on a command line; none for any other. */
function typedQuery(query: string): Pick<ToolCall, 'typed'> {
  return query.length <= 200 && /^[^-\p{C}][^\p{C}]*$/u.test(query) ? { typed: ['explain', query] } : {}
}

function planWords(repair: Planned, given: ToolArguments): string[] {
  const taken: readonly string[] = planned[repair]
  const strange = Object.keys(given).filter((it) => it !== 'repair' && it !== 'deployment' && !taken.includes(it))
  if (strange.length > 0)
    throw new AdminError(
      'USAGE',
      `${repair} does not take ${strange.map((it) => `\`${it}\``).join(', ')}; ` +
        (taken.length === 0 ? 'it takes only `deployment`' : `it takes ${taken.map((it) => `\`${it}\``).join(', ')}`),
    )
  const { setting = [] } = given as { setting?: readonly string[] }
  const name = repair.startsWith('service-') ? repair.split('-') : [repair]
  return [...name, ...setting.map(settingWord), ...flags(given, taken)]
}

/** Returns a setting as the command takes it. Throws USAGE if it is no setting, or reads a file. */
function settingWord(setting: string): string {
  const [, name, rest] = /^([A-Za-z_][\w.-]*?)(-|=.*)$/s.exec(setting) ?? []
  if (name === undefined || rest === undefined)
    throw new AdminError('USAGE', `invalid setting \`${setting}\`: write NAME=VALUE, or NAME- to remove it`)
  if (rest.startsWith('=@'))
    throw new AdminError('USAGE', `the value of ${name} is read from a file, which only a person may do`, [
      command`testops-admin set-env ${`${name}=@FILE`}`,
    ])
  return setting
}

/** Returns arguments as the flags of the same names. A value cannot become a flag of its own. */
function flags(given: ToolArguments, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const value = given[name]
    if (name === 'setting' || value === undefined) return []
    if (name === 'restart') return value === false ? ['--no-restart'] : []
    if (typeof value === 'boolean') return value ? [`--${name}`] : []
    return ([value].flat() as (string | number)[]).map((it) => `--${name}=${it}`)
  })
}

/** Returns the command that a person types for a call, on the deployment that was examined. */
export function typedCommand(
  { words, isAlone = false, typed: shorter }: ToolCall,
  { deployment: name, config }: { deployment?: string | undefined; config?: string | undefined },
): ShellCommand {
  const shown = typed(['testops-admin', ...(shorter ?? words)])
  if (isAlone) return shown
  if (name !== undefined) return command`${nested(shown)} ${nested(onDeployment(name, config))}`
  return config === undefined ? shown : command`${nested(shown)} ${nested(typed(['--config', config]))}`
}
