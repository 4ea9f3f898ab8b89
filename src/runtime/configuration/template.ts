import type { Node, Section } from './nodes.ts'
import { schema } from './schema.ts'
import { secretForms } from './validate.ts'

/** Keys of the template that are not commented out: the least that a deployment on this machine needs. */
const active = new Set(['current', 'deployments', 'prod', 'platform', 'host', 'host.unit'])

const head = [
  '# Configuration of testops-admin. It is read from testops-admin.yaml in this folder or a parent folder, or from',
  "# $XDG_CONFIG_HOME/testops-admin/config.yaml. If you leave out a key, its value comes from the service's settings",
  '# (its environment file), if this user can read them. Paths are relative to this file.',
  '# Never write a secret here. Instead, say where the secret is kept:',
  `#   ${secretForms}`,
  '',
].join('\n')

/** Returns a configuration with every key, commented out except the few that the simplest deployment needs. */
export function configurationTemplate(): string {
  return `${head}\n${linesOf(schema, { path: [], indent: '', comment: null }).map(aligned).join('\n')}\n`
}

/** A section to be written; a secret is written as `{form: place}`, a command as its words. */
export interface DraftSection {
  readonly [key: string]: DraftValue | undefined
}
export type DraftValue = string | readonly string[] | DraftSection

/** Returns a configuration with these keys only, each with its meaning. */
export function configurationOf(name: string, draft: DraftSection): string {
  const deployment = schema.keys.deployments.of
  const lines = [
    { text: `current: ${scalar(name)}`, about: schema.keys.current.about },
    { text: 'deployments:', about: schema.keys.deployments.about },
    { text: `  ${scalar(name)}:`, about: '' },
    ...writtenLines(deployment, draft, '    '),
  ]
  return (
    `${head}# For all other keys, with examples, see the template that comes with ` +
    `testops-admin.\n\n${lines.map(aligned).join('\n')}\n`
  )
}

/** Returns lines in the order of the schema; unknown keys come last, for validation to report. */
function writtenLines({ keys }: Section, draft: DraftSection, indent: string): Line[] {
  const names = [...Object.keys(keys), ...Object.keys(draft).filter((key) => !Object.hasOwn(keys, key))]
  return names.flatMap((key) => {
    const [node, value] = [keys[key], draft[key]]
    if (value === undefined) return []
    const about = node === undefined ? '' : aboutOf(node)
    if (typeof value === 'string') return [{ text: `${indent}${key}: ${scalar(value)}`, about }]
    if (isWords(value)) return [{ text: `${indent}${key}: [${value.map(scalar).join(', ')}]`, about }]
    const section = node?.kind === 'list' ? node.of : node
    if (section?.kind === 'section')
      return [{ text: `${indent}${key}:`, about }, ...writtenLines(section, value, `${indent}  `)]
    const inner = Object.entries(value).map(
      ([form, place]) => `${form}: ${scalar(typeof place === 'string' ? place : '')}`,
    )
    return [{ text: `${indent}${key}: {${inner.join(', ')}}`, about }]
  })
}

function isWords(value: DraftValue): value is readonly string[] {
  return Array.isArray(value)
}

/** Puts text in quotes if a reader might take it for something else. */
function scalar(text: string): string {
  const isPlain = /^[A-Za-z/][A-Za-z0-9_./-]*$/.test(text) && !/^(?:y|n|yes|no|on|off|true|false|null)$/i.test(text)
  return isPlain ? text : JSON.stringify(text)
}

interface Around {
  path: readonly string[]
  indent: string
  /** Indentation at which the comment around this section begins; null if the section is active */
  comment: string | null
}

type Line = { text: string; about: string }

function linesOf(section: Section, around: Around): Line[] {
  const { exclusive = [] } = section
  return Object.entries(section.keys).flatMap(([key, node]) => {
    const path = [...around.path, key]
    const isAlternative = exclusive.indexOf(key) > 0
    const lines = linesOfKey(key, node, { ...around, path })
    if (around.comment !== null) return isAlternative ? lines.map((line) => commented(line, around.indent)) : lines
    return active.has(path.join('.')) ? lines : lines.map((line) => commented(line, around.indent))
  })
}

function linesOfKey(key: string, node: Node, { path, indent, comment }: Around): Line[] {
  const inner = (of: Section, deeper = '  '): Line[] =>
    linesOf(of, {
      path,
      indent: `${indent}${deeper}`,
      comment: comment ?? (active.has(path.join('.')) ? null : indent),
    })
  const opening = { text: `${indent}${key}:`, about: node.about }
  if (node.kind === 'section') return [opening, ...inner(node)]
  if (node.kind === 'named' && node.of.kind === 'section') {
    return [
      opening,
      { text: `${indent}  ${node.example}:`, about: '' },
      ...linesOf(node.of, { path: [], indent: `${indent}    `, comment: null }),
    ]
  }
  if (node.kind === 'list' && node.of.kind === 'section') {
    if (node.orOne) return [opening, ...inner(node.of)]
    const [first, ...others] = inner(node.of, '    ')
    return first ? [opening, { ...first, text: first.text.replace(/ {2}(?=\S)/, '- ') }, ...others] : [opening]
  }
  return [{ text: `${indent}${key}: ${'example' in node ? node.example : ''}`, about: aboutOf(node) }]
}

function commented(line: Line, indent: string): Line {
  return { ...line, text: `${indent}# ${line.text.slice(indent.length)}` }
}

function aligned({ text, about }: Line): string {
  return about ? `${text.padEnd(64)}  # ${about}` : text
}

/** One row of the table of keys. */
export interface ConfigurationKey {
  /** `database.url`, as it stands under a deployment; `current` and `deployments` stand at the top */
  key: string
  form: string
  about: string
}

/** Returns every key with its form and its meaning, in the template's order. */
export function configurationKeys(): ConfigurationKey[] {
  return keysOf(schema, '')
}

function keysOf(node: Node, prefix: string): ConfigurationKey[] {
  if (node.kind === 'list') return keysOf(node.of, prefix)
  if (node.kind === 'named') return keysOf(node.of, '')
  if (node.kind !== 'section') return []
  return Object.entries(node.keys).flatMap(([key, value]) => {
    const row = { key: `${prefix}${key}`, form: formOf(value), about: aboutOf(value) }
    return [row, ...keysOf(value, `${prefix}${key}.`)]
  })
}

function aboutOf(node: Node): string {
  return node.kind === 'choice' ? `${node.about}: ${node.values.join(', ')}` : node.about
}

function formOf(node: Node): string {
  if (node.kind === 'named') return 'sections by name'
  if (node.kind === 'list') return node.orOne ? `${formOf(node.of)}, or a list` : `list of ${formOf(node.of)}s`
  return node.kind
}
