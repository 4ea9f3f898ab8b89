import type { ValueLook } from '../../core/sources.ts'
import { innerAt, isEmptyYaml, isMap } from './edit.ts'
import { loadYaml, reading, yaml11, YamlError } from './index.ts'
import type { InnerYaml } from './edit.ts'
import { yamlTrees } from './tree.ts'
import type { YamlNode } from './tree.ts'

/** A text that is one YAML document, as its value and as its parts. */
export interface ParsedYaml {
  text: string
  value: unknown
  tree: YamlNode | null
}

/** Parses a text as Helm and compose read it, in YAML 1.1. Throws `YamlError`. */
export function parsedYaml(text: string): ParsedYaml {
  if (isEmptyYaml(text)) return { text, value: {}, tree: null }
  // first, since it refuses aliases that stand for too much
  const tree = reading(text, () => yamlTrees(text)[0] ?? null)
  return { text, value: loadYaml(text, yaml11), tree }
}

/** Returns what is at a path of keys. Throws `YamlError` if it leads into an inner text that is not YAML. */
export function lookAt({ text, value: all, tree }: ParsedYaml, path: readonly string[]): ValueLook {
  const inner = innerAt(text, tree, path)
  if (inner) {
    const look = lookAt(parsedInner(inner), inner.rest)
    return { ...look, found: inner.at.length + look.found, line: inner.line - 1 + (look.line ?? 0) }
  }
  const values = [all]
  for (const key of path) {
    const last = values.at(-1)
    if (!isMap(last) || !Object.hasOwn(last, key)) break
    values.push(last[key])
  }
  const found = values.length - 1
  const isThere = found === path.length
  const value = values.at(-1)
  const { node, offset } = nodeAt(tree, path.slice(0, found))
  return {
    found,
    isOpen: isThere || isMap(value),
    kind: kindOf(value),
    text: isThere ? textOf(value, node) : null,
    isText: isThere && typeof value === 'string',
    line: offset === null ? null : text.slice(0, offset).split('\n').length,
  }
}

/** Returns the keys of the map at that path; none if there is no map. */
export function keysAt(parsed: ParsedYaml, path: readonly string[]): string[] {
  const value = valueAt(parsed, path)
  return isMap(value) ? Object.keys(value) : []
}

/** Returns the value at that path; undefined if it leads nowhere. */
export function valueAt({ text, value: all, tree }: ParsedYaml, path: readonly string[]): unknown {
  // with a key added, the path leads into an inner text that is at its end
  const inner = innerAt(text, tree, [...path, ''])
  if (inner) return valueAt(parsedInner(inner), inner.rest.slice(0, -1))
  return path.reduce<unknown>((from, key) => (isMap(from) && Object.hasOwn(from, key) ? from[key] : undefined), all)
}

/** Lists the maps below `at` that hold one of these paths of keys, by their own paths, the outermost first. */
export function placesIn(
  parsed: ParsedYaml,
  at: readonly string[],
  signs: readonly (readonly string[])[],
): (readonly string[])[] {
  const found: (readonly string[])[] = []
  const level = [at]
  for (let next = level.shift(); next !== undefined && found.length < mostPlaces; next = level.shift()) {
    const path = next
    if (signs.some((sign) => valueAt(parsed, [...path, ...sign]) !== undefined)) found.push(path)
    if (path.length - at.length < deepest) level.push(...keysAt(parsed, path).map((key) => [...path, key]))
  }
  return found
}

/** most places to propose */
const mostPlaces = 20
/** levels to search: for umbrellas of umbrellas, and a manifest around them */
const deepest = 8

function parsedInner({ text, line }: InnerYaml): ParsedYaml {
  try {
    return parsedYaml(text)
  } catch (error) {
    if (error instanceof YamlError)
      throw new YamlError(error.message, line + error.line - 1, error.column, { cause: error })
    throw error
  }
}

function kindOf(value: unknown): ValueLook['kind'] {
  if (value === null || value === undefined) return 'empty'
  return isMap(value) ? 'map' : Array.isArray(value) ? 'list' : 'single'
}

/** Returns a value as written, 5.30 and not 5.3; a value from an alias or a merge, as it is read. */
function textOf(value: unknown, node: YamlNode | null): string | null {
  if (value === null || value === undefined || typeof value === 'object') return null
  return node?.kind === 'scalar' ? node.value : `${value as string | number | boolean}`
}

/** Returns the node at the end of that path, and the offset of its last key. What comes by a merge has no node. */
function nodeAt(document: YamlNode | null, path: readonly string[]): { node: YamlNode | null; offset: number | null } {
  let node = document
  let offset: number | null = null
  for (const key of path) {
    const entry = node?.kind === 'mapping' ? node.entries.findLast((it) => it.key === key) : undefined
    if (!entry) return { node: null, offset }
    node = entry.value
    offset = entry.keySpan.start
  }
  return { node, offset }
}
