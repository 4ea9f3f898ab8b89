import { isDeepStrictEqual } from 'node:util'
import type { Schema } from 'js-yaml'
import { loadYaml, parseYaml, YamlError } from './index.ts'
import { innerAt, withInner } from './inner.ts'
import type { InnerYaml } from './inner.ts'
import { yaml11, yaml12 } from './schemas.ts'
import { candidatesFor } from './splices.ts'
import type { YamlNode } from './tree.ts'
import { yamlTrees } from './tree.ts'

/** Sets the text at a path of keys, or removes what is there (null). */
export interface YamlEdit {
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
  throw new YamlEditError(`${[...at, ...rest].join('.')} cannot be changed without changing something else`, line)
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

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}
