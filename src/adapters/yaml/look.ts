import type { ValueLook } from '../../core/sources.ts'
import { isEmptyYaml } from './edit.ts'
import { reading } from './failure.ts'
import { loadYaml } from './index.ts'
import { yaml11 } from './schemas.ts'
import { yamlTrees } from './tree.ts'
import type { YamlNode } from './tree.ts'

/** A text that is one YAML document, as its value and as its parts. */
export interface ParsedYaml {
  text: string
  value: unknown
  tree: YamlNode | null
}

/** As Helm and compose read it, in YAML 1.1. Throws `YamlError`. */
export function parsedYaml(text: string): ParsedYaml {
  if (isEmptyYaml(text)) return { text, value: {}, tree: null }
  // first, since it refuses aliases that stand for too much
  const tree = reading(text, () => yamlTrees(text)[0] ?? null)
  return { text, value: loadYaml(text, yaml11), tree }
}

/** What stands at a path of keys. */
export function lookAt({ text, value: all, tree }: ParsedYaml, path: readonly string[]): ValueLook {
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
    text: isThere ? textOf(value, node) : null,
    isText: isThere && typeof value === 'string',
    line: offset === null ? null : text.slice(0, offset).split('\n').length,
  }
}

/** The keys of the map at that path. */
export function keysAt({ value: all }: ParsedYaml, path: readonly string[]): string[] {
  const value = path.reduce<unknown>((from, key) => (isMap(from) && Object.hasOwn(from, key) ? from[key] : undefined), all)
  return isMap(value) ? Object.keys(value) : []
}

/** As it is written, 5.30 and not 5.3; what comes through an alias or a merge, as it is read. */
function textOf(value: unknown, node: YamlNode | null): string | null {
  if (value === null || value === undefined || typeof value === 'object') return null
  return node?.kind === 'scalar' ? node.value : `${value as string | number | boolean}`
}

/** The node at the end of that path, and where the last key of it stands; what comes by a merge has none. */
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

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}
