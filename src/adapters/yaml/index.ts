import { load, loadAll } from 'js-yaml'
import type { Schema } from 'js-yaml'
import { reading } from './failure.ts'
import { positionAt } from './position.ts'
import type { YamlPosition } from './position.ts'
import { yaml11, yaml12 } from './schemas.ts'
import { yamlTrees } from './tree.ts'
import type { YamlNode } from './tree.ts'

export { YamlError } from './failure.ts'

export interface YamlDocument {
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
