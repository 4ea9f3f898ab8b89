import { isDeepStrictEqual } from 'node:util'
import type { Schema } from 'js-yaml'
import { loadYaml, parseYaml, yaml11, yaml12, YamlError } from './index.ts'
import { candidatesFor, scalarText } from './splices.ts'
import type { YamlNode } from './tree.ts'
import { yamlTrees } from './tree.ts'

/** A YAML text that is one value within another one, and what is left of a path below it. */
export interface InnerYaml {
  /** path to it in the outer one */
  at: readonly string[]
  rest: readonly string[]
  text: string
  /** line of the outer one, from 1, on which it starts */
  line: number
  /** offsets of its lines in the outer one */
  start: number
  end: number
  /** blanks before each of its lines */
  indent: string
}

/** Paths to such texts: the values of an Application of Argo CD (argo-cd.readthedocs.io, "Helm", `values`). */
const places: readonly (readonly string[])[] = [['spec', 'source', 'helm', 'values']]

/**
 * Returns the inner text that a path leads into; null if it leads into none, or into one that is not a literal block
 * (`|`).
 */
export function innerAt(text: string, tree: YamlNode | null, path: readonly string[]): InnerYaml | null {
  const at = places.find((it) => path.length > it.length && it.every((key, index) => path[index] === key))
  if (!at || topText(tree, 'kind') !== 'Application' || !topText(tree, 'apiVersion')?.startsWith('argoproj.io/'))
    return null
  const node = at.reduce<YamlNode | null>(
    (from, key) => (from?.kind === 'mapping' ? (from.entries.findLast((it) => it.key === key)?.value ?? null) : null),
    tree,
  )
  if (node?.kind !== 'scalar' || node.style !== 'block') return null
  const header = text.lastIndexOf('|', node.start - 1)
  const start = text.indexOf('\n', header) + 1
  const [, indent = ''] = /^(?:[ \t]*\r?\n)*( +)\S/.exec(text.slice(start, node.end)) ?? []
  if (header < 0 || start === 0 || !/^\|[-+]?[ \t]*(?:#.*)?\r?\n/.test(text.slice(header, start)) || indent === '')
    return null
  return {
    at,
    rest: path.slice(at.length),
    text: node.value,
    line: text.slice(0, start).split('\n').length,
    start,
    end: node.end,
    indent,
  }
}

/**
 * Returns the outer text with another inner one. Lines that both have stay byte for byte. The caller must read the
 * result back.
 */
function withInner(text: string, { text: was, start, end, indent }: InnerYaml, next: string): string {
  const outer = text.slice(start, end).split('\n')
  const [from, to] = [was.split('\n'), next.split('\n')]
  let before = 0
  while (before < Math.min(from.length, to.length) && from[before] === to[before]) before += 1
  let behind = 0
  while (behind < Math.min(from.length, to.length) - before && from.at(-1 - behind) === to.at(-1 - behind)) behind += 1
  const ending = outer[0]?.endsWith('\r') === true ? '\r' : ''
  const made = to.slice(before, to.length - behind).map((line) => (line === '' ? ending : `${indent}${line}${ending}`))
  return (
    text.slice(0, start) +
    [...outer.slice(0, before), ...made, ...outer.slice(from.length - behind)].join('\n') +
    text.slice(end)
  )
}

function topText(tree: YamlNode | null, key: string): string | null {
  const node = tree?.kind === 'mapping' ? tree.entries.findLast((it) => it.key === key)?.value : undefined
  return node?.kind === 'scalar' ? node.value : null
}

/** Sets the text at a path of keys, or removes what is there (null). */
interface YamlEdit {
  path: readonly string[]
  to: string | null
}

/** An edit that would change something else too; `line` counts from 1. */
export class YamlEditError extends Error {
  override readonly name = 'YamlEditError'

  constructor(
    message: string,
    readonly line: number,
  ) {
    super(message)
  }
}

/**
 * Returns the text with the edits made, and all else byte for byte: comments, blank lines, quotes, anchors, line ends
 * and the order of keys. Reads each way to write an edit back. Takes it only if nothing else changed, in YAML 1.1 (as
 * Helm reads it) and in YAML 1.2. Throws `YamlError` if the text is not one YAML document, and `YamlEditError` if no
 * way is found.
 */
export function editYaml(text: string, edits: readonly YamlEdit[]): string {
  return edits.reduce(edited, text)
}

function edited(text: string, { path, to }: YamlEdit): string {
  const document = documentOf(text)
  const inner = innerAt(text, document, path)
  if (inner) return editedWithin(text, inner, to)
  const readings = schemas.map((schema) => ({ schema, wanted: changed(valueOf(text, schema), path, to) }))
  const now = readings.every(({ schema, wanted }) => isDeepStrictEqual(valueOf(text, schema), wanted))
  if (now) return text
  const { splices, obstacle } = candidatesFor(text, document, path, to)
  for (const { start, end, insert } of splices) {
    const next = text.slice(0, start) + insert + text.slice(end)
    if (readings.every(({ schema, wanted }) => isDeepStrictEqual(tried(next, schema), wanted))) return next
  }
  throw new YamlEditError(obstacle.reason, text.slice(0, obstacle.offset).split('\n').length)
}

/** Edits an inner text. Accepts the result only if the outer text has just that inner one, and all else as it was. */
function editedWithin(text: string, inner: InnerYaml, to: string | null): string {
  const { at, rest, line } = inner
  const made = attempted(() => editYaml(inner.text, [{ path: rest, to }]), line)
  const next = withInner(text, inner, made)
  if (schemas.every((schema) => isDeepStrictEqual(tried(next, schema), changed(valueOf(text, schema), at, made))))
    return next
  throw new YamlEditError(`changing ${[...at, ...rest].join('.')} would change other values too`, line)
}

function attempted<T>(work: () => T, line: number): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof YamlEditError || error instanceof YamlError)
      throw new YamlEditError(error.message, line + error.line - 1)
    throw error
  }
}

const schemas = [yaml11, yaml12]

/** Returns the tree of a document; null for an empty file, which has no values, as for Helm. */
function documentOf(text: string): YamlNode | null {
  if (isEmptyYaml(text)) return null
  parseYaml(text)
  return yamlTrees(text)[0] ?? null
}

function valueOf(text: string, schema: Schema): unknown {
  return isEmptyYaml(text) ? {} : (loadYaml(text, schema) ?? {})
}

/** True if a text holds only comments, blank lines and at most one `---`. */
export function isEmptyYaml(text: string): boolean {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => !/^[ \t]*(?:#.*)?$/.test(line))
  return lines.length === 0 || (lines.length === 1 && /^---[ \t]*(?:#.*)?$/.test(lines[0]!))
}

function tried(text: string, schema: Schema): unknown {
  try {
    return valueOf(text, schema)
  } catch {
    return undefined
  }
}

/** Returns a copy that is changed at the path, so that a value shared through an alias stays the same elsewhere. */
function changed(value: unknown, [key, ...rest]: readonly string[], to: string | null): unknown {
  if (key === undefined) return to
  const from = isMap(value) ? value : {}
  const isThere = Object.hasOwn(from, key)
  if (to === null && (!isThere || (rest.length > 0 && !isMap(from[key])))) return value
  if (to === null && rest.length === 0) return Object.fromEntries(Object.entries(from).filter(([name]) => name !== key))
  return { ...from, [key]: changed(isThere ? from[key] : undefined, rest, to) }
}

/** True if a value that YAML was read as is a map. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

interface ItemEdit {
  /** Beginning of the item, or the whole item (`bare`); the last match counts */
  prefix: string
  bare: string
  /** New text; null to remove the item */
  to: string | null
}

/**
 * Returns the text with one text item of the list at a path of keys set or removed. Adds a missing item after the last.
 * All else stays byte for byte. Throws `YamlEditError` if the path does not lead to a list of texts. The caller must
 * read the result back.
 */
export function editListItem(text: string, path: readonly string[], { prefix, bare, to }: ItemEdit): string {
  const list = listAt(text, path)
  const item = list.items.findLast((it) => it.kind === 'scalar' && (it.value === bare || it.value.startsWith(prefix)))
  if (item?.kind === 'scalar' && item.style !== 'block' && item.style !== 'empty') {
    return to === null ? withoutItem(text, list, item) : spliced(text, item.start, item.end, scalarText(to, item.style))
  }
  const last = list.items.at(-1)
  if (item || !last)
    throw new YamlEditError(
      `cannot write this value to the list ${path.join('.')}: the list is empty, or the item is a block of text`,
      lineAt(text, list.start),
    )
  if (to === null) return text
  if (list.isFlow) return spliced(text, last.end, last.end, `, ${scalarText(to)}`)
  const end = endOfLine(text, last.end)
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const [dash] = /(?<![ \t])[ \t]*-[ \t]+$/.exec(text.slice(0, last.start)) ?? ['- ']
  return spliced(
    text,
    end,
    end,
    text[end - 1] === '\n' ? `${dash}${scalarText(to)}${newline}` : `${newline}${dash}${scalarText(to)}`,
  )
}

type List = Extract<YamlNode, { kind: 'sequence' }>

function listAt(text: string, path: readonly string[]): List {
  let node = yamlTrees(text)[0] ?? null
  for (const key of path) {
    const from: YamlNode | null = node
    node = (from?.kind === 'mapping' ? from.entries.findLast((it) => it.key === key)?.value : null) ?? null
    if (node?.kind === 'alias')
      throw new YamlEditError(
        `the path ${path.join('.')} leads through the alias *${node.name}, whose value is also used elsewhere`,
        lineAt(text, node.start),
      )
  }
  if (node?.kind === 'sequence') return node
  throw new YamlEditError(`${path.join('.')} is not a list`, 1)
}

function withoutItem(text: string, list: List, item: YamlNode): string {
  const index = list.items.indexOf(item)
  if (!list.isFlow && list.items.length > 1)
    return spliced(text, text.lastIndexOf('\n', item.start) + 1, endOfLine(text, item.end), '')
  const [before, after] = [list.items[index - 1], list.items[index + 1]]
  if (list.isFlow && after) return spliced(text, item.start, after.start, '')
  if (list.isFlow && before) return spliced(text, before.end, item.end, '')
  if (list.isFlow) return spliced(text, item.start, item.end, '')
  throw new YamlEditError(
    'this line is the only item in its list, and a YAML list in block style cannot be empty',
    lineAt(text, item.start),
  )
}

function spliced(text: string, start: number, end: number, insert: string): string {
  return text.slice(0, start) + insert + text.slice(end)
}

function endOfLine(text: string, from: number): number {
  const at = text.indexOf('\n', from)
  return at < 0 ? text.length : at + 1
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}
