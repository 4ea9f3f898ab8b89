import { isUtf8 } from 'node:buffer'
import { grouped } from '../../core/format.ts'
import { limits } from '../../knowledge/limits.ts'
import type { RuleId } from '../../knowledge/result-rules.ts'
import { parseTree } from 'jsonc-parser'
import type { Node } from 'jsonc-parser'
import type { ResultContent } from '../result-file.ts'
import { attachmentsOf } from '../rules/attachments.ts'
import { shapeFaults } from '../rules/bad-shape.ts'
import { longField } from '../rules/sizes.ts'
import { isSecretParameter } from '../rules/said.ts'

/** An attachment's new `source`, the reason why it stays unchanged, or null if it is already right. */
export type Moved = { to: string } | { why: string } | null

export interface Mending {
  /** null: sources stay unchanged */
  move: ((source: string) => Moved) | null
  /** makes a name for a new text attachment; null: long texts stay unchanged */
  newName: (() => string) | null
}

/** A place that stays unchanged, and why. */
export interface Left {
  rule: RuleId
  place: string
  message: string
}

export interface Mended {
  /** the file's new bytes; null: it stays unchanged */
  bytes: Buffer | null
  /** files to write beside it */
  attachments: readonly { name: string; text: string }[]
  /** number of texts that were cut */
  cut: number
  left: readonly Left[]
}

const unchanged: Mended = { bytes: null, attachments: [], cut: 0, left: [] }
const byteOrderMark = '\ufeff'

/**
 * Mends a result, a container or the globals. A file that is not JSON in UTF-8 stays unchanged. `isResult`: true for a
 * result; only results have texts that are cut.
 */
export function mendedFile(bytes: Buffer, isResult: boolean, { move, newName }: Mending): Mended {
  const text = isUtf8(bytes) ? bytes.toString('utf8') : ''
  const mark = text.startsWith(byteOrderMark) ? byteOrderMark : ''
  const json = text.slice(mark.length)
  const value = parsed(json)
  if (!isObject(value)) return unchanged
  const left: Left[] = []
  const replacements: Replacement[] = []
  for (const { place, text: source } of move ? sourcesOf(value) : []) {
    const moved = move!(source)
    if (moved === null) continue
    if ('to' in moved) replacements.push({ place, value: moved.to })
    else left.push({ rule: 'nested-attachment', place, message: moved.why })
  }
  const texts = isResult && newName ? longTexts(value, newName, left) : { replacements: [], attachments: [] }
  if (replacements.length + texts.replacements.length + texts.attachments.length === 0) return { ...unchanged, left }
  const edited = editedJson(
    json,
    [...replacements, ...texts.replacements],
    texts.attachments.map(({ name, title }) => ({ name: title, source: name, type: 'text/plain' })),
  )
  const after = edited === null ? null : Buffer.from(mark + edited)
  if (after === null || (after.length > limits.resultFileBytes && bytes.length <= limits.resultFileBytes)) {
    const why =
      after === null
        ? 'the JSON in the file is nested too deeply to be changed'
        : `the corrected file would be larger than the limit of ${grouped(limits.resultFileBytes)} bytes`
    return {
      ...unchanged,
      left: [
        ...replacements.map(({ place }) => ({ rule: 'nested-attachment' as const, place, message: why })),
        ...texts.attachments.map(({ place }) => ({ rule: 'long-field' as const, place, message: why })),
      ],
    }
  }
  return { bytes: after, attachments: texts.attachments, cut: texts.replacements.length, left }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // V8 recurses for each level if a reviver makes an object, or if its own stack is short
    if (error instanceof SyntaxError || error instanceof RangeError) return null
    throw error
  }
}

interface Texts {
  replacements: Replacement[]
  attachments: { name: string; text: string; title: string; place: string }[]
}

/** Keeps each long text whole in an attachment, and cuts those that do not tell results apart. */
function longTexts(value: Record<string, unknown>, newName: () => string, left: Left[]): Texts {
  const texts: Texts = { replacements: [], attachments: [] }
  const known = new Set(
    (Array.isArray(value.attachments) ? (value.attachments as unknown[]) : []).map((it) =>
      isObject(it) ? it.name : null,
    ),
  )
  for (const long of longTextsOf(value)) {
    const { place } = long
    const title = `${place} (whole)`
    const why = reasonToStay(long)
    if (why !== null) left.push({ rule: 'long-field', place, message: why })
    if (long.isSecret || known.has(title)) continue
    texts.attachments.push({ name: newName(), text: long.text, title, place })
    if (long.mayBeCut) texts.replacements.push({ place, value: cut(long.text) })
  }
  return texts
}

function reasonToStay({ mayBeCut, isSecret }: LongText): string | null {
  if (isSecret) return 'the value is hidden or secret, so it was neither attached nor cut. Shorten it in the test code'
  return mayBeCut
    ? null
    : 'the whole text is in an attachment, but the field was not cut, because it identifies results or is part of ' +
        'a link. Shorten it in the test code'
}

/** Cuts a text as the service does, but never through a character of two code units. */
function cut(text: string): string {
  const end = limits.fieldCharacters
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(end - 1)) && /[\udc00-\udfff]/.test(text.charAt(end))
  return text.slice(0, isHalf ? end - 1 : end)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A new value, and the place where it belongs. */
interface Replacement {
  place: string
  value: string
}

interface Edit {
  offset: number
  length: number
  text: string
}

/**
 * Replaces some values of a JSON text and adds attachments to its root's; keeps everything else, even blanks. Returns
 * null if a place does not exist, or the text is nested too deep to be parsed.
 */
export function editedJson(
  text: string,
  replacements: readonly Replacement[],
  attachments: readonly object[],
): string | null {
  const root = treeOf(text)
  if (root?.type !== 'object') return null
  const edits: Edit[] = []
  for (const { place, value } of replacements) {
    const node = nodeAt(root, pathOf(place))
    if (!node) return null
    edits.push({ offset: node.offset, length: node.length, text: JSON.stringify(value) })
  }
  if (attachments.length > 0) edits.push(addition(root, attachments.map((it) => JSON.stringify(it)).join(',')))
  return applied(text, edits)
}

function treeOf(text: string): Node | undefined {
  try {
    return parseTree(text)
  } catch (error) {
    // the parser recurses for each level
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function nodeAt(root: Node, path: Path): Node | undefined {
  return path.reduce<Node | undefined>(
    (node, key) => (typeof key === 'number' ? node?.children?.[key] : member(node, key)),
    root,
  )
}

/** Returns a member's value. If a key occurs twice, the last one counts, as with JSON.parse. */
function member(node: Node | undefined, key: string): Node | undefined {
  return node?.children?.findLast((it) => it.children?.[0]?.value === key)?.children?.[1]
}

function addition(root: Node, items: string): Edit {
  const list = member(root, 'attachments')
  if (list?.type === 'array') {
    const last = list.children?.at(-1)
    return last
      ? { offset: last.offset + last.length, length: 0, text: `,${items}` }
      : { offset: list.offset, length: list.length, text: `[${items}]` }
  }
  if (list) return { offset: list.offset, length: list.length, text: `[${items}]` }
  return { offset: root.offset + 1, length: 0, text: `"attachments":[${items}]${root.children?.length ? ',' : ''}` }
}

function applied(text: string, edits: readonly Edit[]): string {
  const pieces: string[] = []
  let from = 0
  for (const { offset, length, text: put } of [...edits].sort((one, other) => one.offset - other.offset)) {
    pieces.push(text.slice(from, offset), put)
    from = offset + length
  }
  return pieces.join('') + text.slice(from)
}

/** The path of a JSON value, from the root. */
type Path = readonly (string | number)[]

/** A text and its place: `labels[3].value`. */
interface Spot {
  place: string
  text: string
}

interface LongText extends Spot {
  /** true if a cut neither matches the result to another test nor makes a link lead elsewhere */
  mayBeCut: boolean
  /** true if its value must not be shown */
  isSecret: boolean
}

const identifiers = new Set(['as_id', 'allure_id', 'vendor_id'])

/**
 * Lists the `source` of every attachment in a result, a container or the globals of a run, with those of their steps
 * and fixtures.
 */
function sourcesOf(value: unknown): Spot[] {
  return attachmentsOf(value).map(({ place, source }) => ({ place, text: source }))
}

/** Lists the texts of a result that are longer than the service keeps; none if the value is no valid result. */
function longTextsOf(value: object): LongText[] {
  if (shapeFaults(value).length > 0) return []
  const content = value as ResultContent
  const found = longField.judge({ directory: '', file: '', bytes: 0, content }, new Set())
  return found.flatMap(({ place = '' }) => {
    const [list, index, field] = pathOf(place)
    const text = pathOf(place).reduce<unknown>((from, key) => (from as Record<string | number, unknown>)[key], value)
    if (typeof text !== 'string') return []
    const label = list === 'labels' ? content.labels?.[Number(index)]?.name : null
    const parameter = list === 'parameters' ? content.parameters?.[Number(index)] : null
    const mayBeCut =
      place === 'name' ||
      (list === 'links' && field === 'name') ||
      (list === 'labels' && field === 'value' && !identifiers.has(label?.toLowerCase() ?? ''))
    return [{ place, text, mayBeCut, isSecret: field === 'value' && parameter != null && isSecretParameter(parameter) }]
  })
}

function pathOf(place: string): Path {
  return (place.match(/[^.[\]]+/g) ?? []).map((key) => (/^\d+$/.test(key) ? Number(key) : key))
}
