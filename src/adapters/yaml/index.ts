import type { Schema } from 'js-yaml'
import {
  CORE_SCHEMA,
  defineScalarTag,
  dump,
  load,
  loadAll,
  mapTag,
  seqTag,
  YAML11_SCHEMA,
  YAMLException,
} from 'js-yaml'
import type { YamlNode } from './tree.ts'
import { yamlTrees } from './tree.ts'
import { harmless } from '../../core/harmless.ts'

/**
 * Tags of compose files: a value with one is removed, or replaces what it would be merged with (compose-spec,
 * 13-merge.md).
 */
const composeTags = ['!reset', '!override'].flatMap((tagName) => [
  defineScalarTag(tagName, { resolve: (text) => (tagName === '!reset' ? null : text), identify: () => false }),
  { ...seqTag, tagName, identify: () => false },
  { ...mapTag, tagName, identify: () => false },
])

/** YAML 1.1, as Helm and compose programs read it, with merges. */
export const yaml11: Schema = YAML11_SCHEMA.withTags(composeTags)

/** YAML 1.2. */
export const yaml12: Schema = CORE_SCHEMA.withTags(composeTags)

/** A place in a text; both count from 1. */
interface YamlPosition {
  line: number
  column: number
}

/** Returns the line and the column of an offset. */
function positionAt(text: string, offset: number): YamlPosition {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1 }
}

/** Text that is not one YAML document, with the place of the fault. */
export class YamlError extends Error {
  override readonly name = 'YamlError'

  constructor(
    message: string,
    readonly line: number,
    readonly column: number,
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }
}

/** Runs work on this text. Turns js-yaml's errors into a `YamlError` with the line, in plain words. */
export function reading<T>(text: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw yamlError(error, text)
  }
}

function yamlError(error: unknown, text: string): YamlError {
  const options = { cause: error }
  if (!(error instanceof YAMLException))
    return new YamlError(error instanceof Error ? error.message : String(error), 1, 1, options)
  const odd = oddKey(text)
  if (odd !== null) {
    const { line, column } = positionAt(text, odd)
    return new YamlError(
      'expected a key, but found a map or a list (perhaps an unrendered template)',
      line,
      column,
      options,
    )
  }
  if (error.mark) {
    const reason = reasonOf(error.reason, text, error.mark.position)
    // something unclosed shows at the end of the text, after the last line with content
    const last = text.trimEnd().split('\n')
    const line = Math.min(error.mark.line + 1, last.length)
    return new YamlError(
      reason,
      line,
      line === error.mark.line + 1 ? error.mark.column + 1 : last[line - 1]!.length + 1,
      options,
    )
  }
  // the only other fault without a mark in a text with content is a second document
  const lines = text.split('\n')
  const content = lines.findIndex((line) => /^[^#\s-]/.test(line))
  const second = content < 0 ? -1 : lines.findIndex((line, index) => index > content && /^---(\s|$)/.test(line))
  return new YamlError(error.reason, Math.max(second + 1, 1), 1, options)
}

/** Returns plain words for errors about the library's internals. */
function reasonOf(reason: string, text: string, offset: number): string {
  if (reason === 'duplicated mapping key') return twice(text, offset)
  if (reason.startsWith('cannot merge mappings')) return '`<<` merges something that is not a map'
  if (reason === 'object-based map does not support complex keys')
    return 'YAML 1.1 reads this key as a date: put the key in quotes'
  const tag = /!<([^<>]{1,200})>/.exec(reason)?.[1]?.replace('tag:yaml.org,2002:', '!!')
  if (tag === undefined) return reason
  return reason.startsWith('unknown') ? `the tag \`${tag}\` is unknown` : `the value does not fit its tag \`${tag}\``
}

/** Says that the key at that place is there twice, or that YAML 1.1 reads it as another, as `on` and `true`. */
function twice(text: string, offset: number): string {
  const lines = (node: YamlNode | null): string | null => {
    if (node?.kind === 'sequence') return first(node.items.map((it) => () => lines(it)))
    if (node?.kind !== 'mapping') return null
    const at = node.entries.findIndex(({ keySpan }) => keySpan.start <= offset && offset <= keySpan.end)
    if (at < 0)
      return first(
        node.entries.map(
          ({ value }) =>
            () =>
              lines(value),
        ),
      )
    const { key } = node.entries[at]!
    const isThere = node.entries.slice(0, at).some((it) => it.key === key)
    return isThere
      ? `the key \`${key}\` appears twice`
      : `in YAML 1.1, the key \`${key}\` is the same as an earlier key: put the key in quotes`
  }
  return first(yamlTrees(text).map((it) => () => lines(it))) ?? 'a key appears twice'
}

/** Finds a map or a list that is a key, as `{{ … }}` reads; null if there is none, or the text cannot be parsed. */
function oddKey(text: string): number | null {
  const within = (node: YamlNode): number | null => {
    if (node.kind === 'sequence') return first(node.items.map((it) => () => within(it)))
    if (node.kind !== 'mapping') return null
    return first(
      node.entries.map(
        ({ key, keySpan, value }) =>
          () =>
            key === null ? keySpan.start : within(value),
      ),
    )
  }
  try {
    return first(yamlTrees(text).map((it) => () => it && within(it)))
  } catch {
    return null
  }
}

function first<T>(looks: readonly (() => T | null)[]): T | null {
  for (const look of looks) {
    const found = look()
    if (found !== null) return found
  }
  return null
}

interface YamlDocument {
  /** plain data */
  value: unknown
  /** Returns where the key (in a list, the item) at the end of this path is; null if the path leads nowhere */
  positionOf: (path: readonly (string | number)[]) => YamlPosition | null
}

/**
 * Parses one YAML document as plain data, in YAML 1.2, with positions. Throws `YamlError` for duplicate keys, a second
 * document, and what YAML 1.1 refuses: it reads `on:` and `true:` as one key, and `<<:` takes only maps.
 */
export function parseYaml(text: string): YamlDocument {
  const { document, value } = reading(text, () => {
    const document = yamlTrees(text)[0] ?? null
    const value = load(text, { schema: yaml12 })
    load(text, { schema: yaml11 })
    return { document, value }
  })
  const offsets = offsetsOf(document)
  return {
    value,
    positionOf(path) {
      const offset = offsets.get(keyOf(path))
      return offset === undefined ? null : positionAt(text, offset)
    },
  }
}

/** Returns the value of a text in one of YAML's versions: one may refuse what another accepts. Throws `YamlError`. */
export function loadYaml(text: string, schema: Schema): unknown {
  return reading(text, () => load(text, { schema }))
}

/** Returns the values of all documents of a text, in YAML 1.1. Throws `YamlError`. */
export function yamlDocuments(text: string): unknown[] {
  return reading(text, () => {
    // refuses aliases that stand for too much
    yamlTrees(text)
    return loadAll(text, { schema: yaml11 })
  })
}

/** Returns a text's documents, in YAML 1.2, and the lines of the comment at its top. Throws `YamlError`. */
export function yamlParts(text: string): { about: string[]; documents: unknown[] } {
  const comment = /^(?:#.*\n)*/.exec(text)?.[0] ?? ''
  return {
    about: comment
      .split('\n')
      .filter(Boolean)
      .map((line) => line.replace(/^# ?/, '')),
    documents: reading(text, () => loadAll(text, { schema: yaml12 })),
  }
}

/** Lists of objects stand on a line each from this depth on, as in a Role */
const flowLevel = 2

/** Returns a value as YAML that all versions read alike, below a comment of these lines. */
export function yamlText(value: unknown, about: readonly string[] = []): string {
  const isRole = typeof value === 'object' && value !== null && 'rules' in value && 'metadata' in value
  const text = dump(value, { lineWidth: -1, noRefs: true, ...(isRole && { flowLevel }) })
  return `${about.map((line) => `# ${harmless(line)}\n`).join('')}${text}`
}

function offsetsOf(document: YamlNode | null): Map<string, number> {
  const offsets = new Map<string, number>()
  const walk = (node: YamlNode, path: readonly (string | number)[]): void => {
    if (node.kind === 'sequence') {
      for (const [index, item] of node.items.entries()) {
        offsets.set(keyOf([...path, index]), item.start)
        walk(item, [...path, index])
      }
    } else if (node.kind === 'mapping') {
      for (const { key, keySpan, value } of node.entries) {
        if (key === null) continue
        offsets.set(keyOf([...path, key]), keySpan.start)
        walk(value, [...path, key])
      }
    }
  }
  if (document) {
    offsets.set(keyOf([]), document.start)
    walk(document, [])
  }
  return offsets
}

function keyOf(path: readonly (string | number)[]): string {
  return JSON.stringify(path.map(String))
}
