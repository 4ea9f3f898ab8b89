import { YAMLException } from 'js-yaml'
import { positionAt } from './position.ts'
import type { YamlNode } from './tree.ts'
import { yamlTrees } from './tree.ts'

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
      'a map or a list is where a key is expected (a template that is not filled in?)',
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
    return 'YAML 1.1 reads this key as a date: put it in quotes'
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
      ? `the key \`${key}\` is there twice`
      : `in YAML 1.1, the key \`${key}\` is the same as one above: put it in quotes`
  }
  return first(yamlTrees(text).map((it) => () => lines(it))) ?? 'a key is there twice'
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
