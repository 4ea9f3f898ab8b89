import { YAMLException, load } from 'js-yaml'
import type { Schema } from 'js-yaml'
import { yaml12 } from './schemas.ts'
import { yamlTrees } from './tree.ts'
import type { YamlNode } from './tree.ts'

/** Both count from 1. */
interface YamlPosition {
  line: number
  column: number
}

/** Text that is not one YAML document, with the place where that shows. */
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

export interface YamlDocument {
  /** plain data */
  value: unknown
  /** where the key (in a list: the item) at the end of this path stands; null where the path leads nowhere */
  positionOf: (path: readonly (string | number)[]) => YamlPosition | null
}

/** One YAML document as plain data with positions. Throws `YamlError`, for duplicate keys and for a second document too. */
export function parseYaml(text: string): YamlDocument {
  let document: YamlNode | null
  let value: unknown
  try {
    document = yamlTrees(text)[0] ?? null
    value = load(text, { schema: yaml12 })
  } catch (error) {
    throw yamlError(error, text)
  }
  const offsets = offsetsOf(document)
  return {
    value,
    positionOf(path) {
      const offset = offsets.get(keyOf(path))
      return offset === undefined ? null : positionAt(text, offset)
    },
  }
}

/** The value of a text in one of YAML's versions: what one takes another may refuse. Throws `YamlError`. */
export function loadYaml(text: string, schema: Schema): unknown {
  try {
    return load(text, { schema })
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
    return new YamlError('a map or a list stands where the name of a key is expected (a template that is not filled in?)', line, column, options)
  }
  if (error.mark) {
    // what is never closed shows at the end of the text, behind the last line that there is to look at
    const last = text.trimEnd().split('\n')
    const line = Math.min(error.mark.line + 1, last.length)
    return new YamlError(error.reason, line, line === error.mark.line + 1 ? error.mark.column + 1 : last[line - 1]!.length + 1, options)
  }
  // a second document is the one other fault without a mark that text with content can have
  const lines = text.split('\n')
  const content = lines.findIndex((line) => /^[^#\s-]/.test(line))
  const second = content < 0 ? -1 : lines.findIndex((line, index) => index > content && /^---(\s|$)/.test(line))
  return new YamlError(error.reason, Math.max(second + 1, 1), 1, options)
}

/** Where a map or a list is a key, as `{{ … }}` reads; null: nowhere, or the text cannot be taken apart. */
function oddKey(text: string): number | null {
  const within = (node: YamlNode): number | null => {
    if (node.kind === 'sequence') return first(node.items.map((it) => () => within(it)))
    if (node.kind !== 'mapping') return null
    return first(node.entries.map(({ key, keySpan, value }) => () => (key === null ? keySpan.start : within(value))))
  }
  try {
    return first(yamlTrees(text).map((it) => () => it && within(it)))
  } catch {
    return null
  }
}

function first(looks: readonly (() => number | null)[]): number | null {
  for (const look of looks) {
    const found = look()
    if (found !== null) return found
  }
  return null
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

function positionAt(text: string, offset: number): YamlPosition {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1 }
}
