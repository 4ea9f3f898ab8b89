import type { ExplainEntry } from '../../knowledge/explain/entry.ts'
import type { ServiceCommands } from '../../core/sources.ts'
import { command, nested, withFilled } from '../../core/shell-command.ts'
import type { ShellCommand, Suggestion } from '../../core/shell-command.ts'
import { markdownBlock, markdownCode, markdownTable, markdownText } from '../markup.ts'
import type { TemplateFacts, TemplateFile } from './facts.ts'

/** Returns a page for each known fault, as `explain` tells of it, and a list of them. */
export async function runbookFiles(facts: TemplateFacts): Promise<TemplateFile[]> {
  const { explainEntries } = await import('../../knowledge/explain/index.ts')
  const faults = explainEntries.filter(({ kind }) => kind === 'fault')
  const pages = new Set(faults.map(({ id }) => id))
  const service = serviceBlock(facts, await facts.commands())
  return [
    { name: 'README.md', content: listOf(faults, facts, service) },
    ...faults.map((fault) => ({ name: `${fault.id}.md`, content: pageOf(fault, pages, facts, service) })),
  ]
}

function listOf(faults: readonly ExplainEntry[], { name, flags, version }: TemplateFacts, service: string): string {
  return page([
    `# Runbooks for ${ownText(name)}`,
    'Begin with a diagnosis, which changes nothing:',
    markdownBlock([
      command`testops-admin doctor ${nested(flags)}`,
      "testops-admin explain 'MESSAGE'   # finds the page for a message",
    ]),
    '## Faults',
    markdownTable(
      ['fault', 'what is wrong'],
      faults.map(({ id, title }) => [`[${id}](${id}.md)`, ownText(title)]),
    ),
    '## The service',
    service,
    `Written by testops-admin ${version}. Render the pages again after an update of testops-admin.`,
  ])
}

function pageOf(fault: ExplainEntry, pages: ReadonlySet<string>, facts: TemplateFacts, service: string): string {
  const { id, title, meaning, causes, verify, remedies, see = [] } = fault
  const blockOf = (commands: readonly Suggestion[]): string[] =>
    commands.length === 0 ? [] : [markdownBlock(commands.map((it) => onThisDeployment(it, facts.flags)))]
  return page([
    `# ${id}: ${ownText(title)}`,
    `Deployment ${markdownCode(facts.name)}. [All runbooks](README.md)`,
    '## What you see',
    ownText(meaning),
    ...section('Why it happens', [causes.map((cause) => `- ${ownText(cause)}`).join('\n')], causes),
    ...section('How to see it', blockOf(verify), verify),
    '## What to do',
    ...remedies.flatMap((remedy) => [ownText(remedy.text), ...blockOf(remedy.commands)]),
    '## The service',
    service,
    ...section('See also', [see.map((it) => `- ${linked(it, pages)}`).join('\n')], see),
  ])
}

/** Returns a text of this program, which may be of any length. */
const ownText = (text: string): string => markdownText(text, Infinity)

function section(title: string, content: readonly string[], of: readonly unknown[]): string[] {
  return of.length === 0 ? [] : [`## ${title}`, ...content]
}

function linked(id: string, pages: ReadonlySet<string>): string {
  return pages.has(id) ? `[${id}](${id}.md)` : markdownCode(command`testops-admin explain ${id}`)
}

/** Returns how to stop, start and look at the service: the platform's own commands, else this program's. */
function serviceBlock({ flags }: TemplateFacts, commands: ServiceCommands | null): string {
  const own = (verb: string): ShellCommand => command`testops-admin service ${verb} ${nested(flags)}`
  const rows: readonly (readonly [keyof ServiceCommands, string, ShellCommand | null])[] = [
    ['status', 'shows its state', own('status')],
    ['stop', 'stops it', own('stop')],
    ['start', 'starts it', own('start')],
    ['restart', 'restarts it', own('restart')],
    ['logs', 'shows its log', null],
    ['edit', 'opens its settings', null],
  ]
  return markdownBlock(
    rows.flatMap(([key, what, otherwise]) => {
      const known = commands?.[key] ?? otherwise
      // a comment stands for what the platform cannot name
      return known === null || known.startsWith('#') ? [] : [known.includes('   # ') ? known : `${known}   # ${what}`]
    }),
  )
}

/** Commands that concern no deployment, or name a file in its place. */
const withoutDeployment =
  /^testops-admin (?:explain|lint-results|checks|lab)\b|\s(?:--values|--compose|--from|--file)\s/

/** The place behind the name of a command: `service stop` is one name */
const behindName = /(?<=^testops-admin (?:service )?[a-z-]{1,30})(?<! service)(?![a-z-])/

/** Returns a command of this program with the deployment's flags behind its name; another as it is. */
function onThisDeployment(text: Suggestion, flags: ShellCommand): Suggestion {
  return withoutDeployment.test(text.split('   # ')[0] ?? '')
    ? text
    : withFilled(text, behindName, () => command` ${nested(flags)}`)
}

const page = (parts: readonly string[]): string => `${parts.join('\n\n')}\n`
