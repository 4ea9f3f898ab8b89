import { checks } from './checks/index.ts'
import { exitCodes } from './core/error.ts'
import { commandOf } from './core/plan.ts'
import type { ExplainText } from './knowledge/explain/entry.ts'
import { resolved } from './knowledge/explain/entry.ts'
import { explainEntries, explainTexts } from './knowledge/explain/index.ts'
import { resultRules, ruleIds } from './knowledge/result-rules.ts'
import type { ResultRule } from './knowledge/result-rules.ts'
import { faultRows } from './lab/fault-list.ts'
import type { FaultRow } from './lab/fault-list.ts'
import { linkedSource, markdownTable } from './output/markup.ts'
import { rightsOnRequest, rightsToRead, rightsToRepair, roleText } from './platforms/kubernetes/rights.ts'
import { repairs } from './repairs/index.ts'
import { configurationKeys } from './runtime/configuration/template.ts'
import { command } from './core/shell-command.ts'

export { withGenerated } from './output/markup.ts'

/** One measured figure beside its peer's, as `npm run bench` writes it. Times in milliseconds. */
export interface Measurement {
  what: string
  /** Another figure of the same runs, for people */
  detail?: string
  ours: number
  peer: string
  theirs: number
  ratio: number
  goal: number
}

/** A command as oclif's manifest lists it. */
export interface DocumentedCommand {
  id: string
  summary?: string
  args: Readonly<Record<string, { name: string; required?: boolean; description?: string; hidden?: boolean }>>
  flags: Readonly<Record<string, DocumentedFlag>>
}

interface DocumentedFlag {
  name: string
  char?: string
  summary?: string
  helpGroup?: string
  helpValue?: string
  env?: string
  default?: string | number | boolean | readonly string[]
  options?: readonly string[]
  multiple?: boolean
  allowNo?: boolean
  hidden?: boolean
}

/** Returns the generated parts of the documents by name, made from the program's own data. `schemas`: file names. */
export function generatedTables(
  commands: readonly DocumentedCommand[],
  measured: readonly Measurement[],
  schemas: readonly string[],
): Record<string, string> {
  return {
    commands: markdownTable(
      ['command', 'does'],
      commands.map(({ id, summary }) => [code(id.replaceAll(':', ' ')), summary ?? '']),
    ),
    'command-reference': commandReference(commands),
    schemas: markdownTable(
      ['document of', 'schema'],
      schemas.map((file) => [code(file.replace('.schema.json', '')), code(file)]),
    ),
    'exit-codes': exitCodeTable(),
    checks: checkTable(),
    rules: markdownTable(
      ['rule', 'what is expected', 'a problem is', 'what the service does', 'how to fix it', 'source'],
      ruleIds.map((id) => ruleCells(id, resultRules[id])),
    ),
    'known-faults': knownFaultsTable(explainTexts, [
      ...Object.values(repairs).map(({ id }) => commandOf(id)),
      'resume',
    ]),
    faults: markdownTable(
      ['fault', 'how the lab makes it', '`doctor` says', 'exit', 'repaired by'],
      faultRows().map(faultCells),
    ),
    configuration: markdownTable(
      ['key', 'form', 'meaning'],
      configurationKeys().map(({ key, form, about }) => [code(key), form, about]),
    ),
    speed: markdownTable(
      ['what', 'time', 'compared with', 'its time', 'ratio', 'goal'],
      measured.map(({ what, detail, ours, peer, theirs, ratio, goal }) => [
        detail === undefined ? what : `${what} (${detail})`,
        duration(ours),
        peer,
        duration(theirs),
        String(ratio),
        `at most ${goal}`,
      ]),
    ),
  }
}

/** Returns the files of `templates/` by path, made from what checks and repairs declare. */
export function generatedFiles(): Record<string, string> {
  const ofChecks = checks.flatMap(({ reads, wants = [] }) => [...reads, ...wants])
  const ofRepairs = Object.values(repairs).flatMap(({ reads, wants }) => [...reads, ...wants])
  const apply = (file: string): string =>
    command`kubectl apply -n NAMESPACE -f ${file}, after you replace NAMESPACE in the last object of this file.`
  return {
    'templates/kubernetes/diagnose.yaml': `${roleText(
      'testops-admin-diagnose',
      [
        'The minimum rights that testops-admin needs to diagnose a deployment on Kubernetes. Diagnosis changes ' +
          'nothing.',
        apply('diagnose.yaml'),
      ],
      rightsToRead(ofChecks),
    )}\n`,
    'templates/kubernetes/repair.yaml': `${roleText(
      'testops-admin-repair',
      ['The minimum rights that testops-admin needs to repair a deployment on Kubernetes.', apply('repair.yaml')],
      rightsToRepair([...ofChecks, ...ofRepairs]),
    )}\n`,
    'templates/kubernetes/on-request.yaml': `${roleText(
      'testops-admin-on-request',
      [
        'The minimum rights that testops-admin needs to run programs in pods and to create short-lived pods. Use ' +
          'this role in addition to the role for diagnosis or repairs.',
        "It is needed for --relay, for check-cpu --prove, to resolve names in the service's pods, and to run " +
          "rabbitmqctl in the broker's pod.",
        "Bind this role only while you need it: anyone who can run programs in a pod can read that pod's secrets.",
        apply('on-request.yaml'),
      ],
      rightsOnRequest(),
    )}\n`,
  }
}

/** Returns the command reference. Flags that every command has appear once, before all commands. */
function commandReference(commands: readonly DocumentedCommand[]): string {
  const isCommon = ({ helpGroup }: DocumentedFlag): boolean => helpGroup === 'COMMON'
  const shown = (flags: readonly DocumentedFlag[]): string => markdownTable(['flag', 'meaning'], flags.map(flagCells))
  const common = new Map(
    commands.flatMap(({ flags }) =>
      Object.values(flags)
        .filter(isCommon)
        .map((it) => [it.name, it] as const),
    ),
  )
  const sections = commands.map(({ id, summary = '', args, flags }) => {
    const own = Object.values(flags).filter((it) => !isCommon(it) && it.hidden !== true)
    const words = Object.values(args)
      .filter(({ hidden }) => hidden !== true)
      .map(({ name, required }) => (required === true ? name.toUpperCase() : `[${name.toUpperCase()}]`))
    const lacking = [...common.keys()].filter((name) => !(name in flags))
    const without = lacking.length === 0 ? '' : `Without ${lacking.map((name) => code(`--${name}`)).join(', ')}.`
    const usage =
      `\`\`\`sh\n` +
      `${['testops-admin', id.replaceAll(':', ' '), ...words, ...(own.length > 0 ? ['[flags]'] : [])].join(' ')}` +
      `\n\`\`\``
    return [`## ${id.replaceAll(':', ' ')}`, summary, usage, own.length > 0 ? shown(own) : '', without]
      .filter(Boolean)
      .join('\n\n')
  })
  return ['## Flags of every command', shown([...common.values()]), ...sections].join('\n\n')
}

function flagCells({
  name,
  char,
  summary = '',
  helpValue,
  env,
  default: usual,
  options,
  multiple,
  allowNo,
}: DocumentedFlag): string[] {
  const value = options ? options.join('|') : (helpValue ?? '')
  const flag =
    `${char === undefined ? '' : `-${char}, `}--${allowNo === true ? '[no-]' : ''}${name}` +
    `${value === '' ? '' : ` ${value}`}${multiple === true ? '…' : ''}`
  const more = [
    ...(usual === undefined || usual === false || (Array.isArray(usual) && usual.length === 0)
      ? []
      : [`default ${String(usual)}`]),
    ...(env === undefined ? [] : [code(env)]),
  ]
  return [code(flag), `${summary}${more.length > 0 ? ` (${more.join(', ')})` : ''}`]
}

function ruleCells(id: string, { title, severity, effect, remedy, source }: ResultRule): string[] {
  return [code(id), title, severity, effect, remedy, linkedSource(source)]
}

function checkTable(): string {
  const severities = new Map(explainEntries.map(({ id, severities }) => [id, severities.join(' or ')]))
  return markdownTable(
    ['check', 'healthy', 'a problem is', 'reads'],
    checks.map(({ id, title, reads, wants = [] }) => [
      code(id),
      title,
      severities.get(id) ?? '',
      [...reads, ...wants].join(', '),
    ]),
  )
}

const meanings: Readonly<Record<number, string>> = {
  0: 'healthy, done, or nothing to do',
  1: 'a problem of severity `error`, or a failed repair',
  2: 'warnings only',
  3: 'no problem found, but something could not be determined; or `explain` found nothing',
  4: 'refused: not confirmed, unsafe, or the plan is out of date',
  5: 'another operator is working on this deployment',
  6: 'interrupted, or not finished',
  64: 'wrong usage or configuration',
  69: 'the command cannot reach or use a server, file or program that it needs',
  70: 'a bug in testops-admin; the program prints a stack trace',
}

function exitCodeTable(): string {
  const named = (exitCode: number): string =>
    Object.entries(exitCodes)
      .filter(([, value]) => value === exitCode)
      .map(([name]) => code(name))
      .join(', ')
  return markdownTable(
    ['code', 'meaning', '`error.code` under `--json`'],
    Object.entries(meanings).map(([exitCode, meaning]) => [
      exitCode,
      meaning,
      exitCode === '70' ? code('BUG') : named(Number(exitCode)),
    ]),
  )
}

function faultCells({ name, fault, kind, made, expected, repair }: FaultRow): string[] {
  const problems = expected.problems.map(({ check, severity }) => `${severity} ${code(check)}`)
  const isExplained = kind === 'fault' && explainEntries.some(({ id }) => id === fault)
  const silence = isExplained ? `nothing; see ${code(`explain ${fault}`)}` : 'nothing: it only looks like a fault'
  return [code(name), made, problems.join(', ') || silence, String(expected.exitCode), repair]
}

function code(text: string): string {
  return `\`${text}\``
}

function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${Number((milliseconds / 1000).toPrecision(3))} s`
}

/**
 * Returns the table of known faults in docs/reference/faults.md: what one sees of each, what finds it, what repairs it.
 * `repairs` are the names of the commands that repair.
 */
function knownFaultsTable(texts: readonly ExplainText[], repairs: readonly string[]): string {
  const entries = new Map(resolved(texts).map((entry) => [entry.id, entry]))
  const rows = texts
    .filter(({ kind }) => kind === 'fault')
    .map((text) => {
      const { id, title, remedies, source } = entries.get(text.id)!
      const commands = remedies
        .flatMap((remedy) => remedy.commands)
        .filter((command) => !/--(accept-risk|dry-run)/.test(command))
      const repair = commands.find((command) => repairs.some((words) => command.startsWith(`testops-admin ${words}`)))
      return [
        code(id),
        title,
        firstSentence(text.meaning),
        finderOf(text),
        repair === undefined ? remedies[0]!.text : code(repair),
        linkedSource(source),
      ]
    })
  return markdownTable(['fault', 'what is wrong', 'what you see', 'found by', 'repaired by', 'source'], rows)
}

function finderOf(text: ExplainText): string {
  if ('of' in text) return `\`doctor\`: ${code(text.of)}`
  const isRule = (ruleIds as readonly string[]).includes(text.id)
  if (isRule)
    return text.signatures !== undefined || text.reader !== undefined
      ? `${code('lint-results')}, ${code('scan-logs')}`
      : code('lint-results')
  const command = text.verify.find((it) => /^testops-admin (?!doctor)/.test(it))
  if (text.signatures !== undefined || text.reader !== undefined) return code('scan-logs')
  return command === undefined ? 'by hand' : code(command.split(' ')[1]!)
}

function firstSentence(text: string): string {
  return /^.*?[.!](?= [A-Z`]|$)/.exec(text)?.[0] ?? text
}
