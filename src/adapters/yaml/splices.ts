import { CORE_SCHEMA, load, YAML11_SCHEMA } from 'js-yaml'
import type { Entry, MappingNode, ScalarNode, YamlNode } from './tree.ts'

/**
 * Writes a text as a scalar that every reader takes as that text. Leaves it bare only if neither YAML 1.1 nor 1.2 reads
 * something else (a number, a date, yes and no). Otherwise uses the requested quotes.
 */
export function scalarText(value: string, style: 'plain' | 'single' | 'double' = 'plain'): string {
  if (style === 'single' && !/[^\x20-\x7e\u00a0-\ud7ff]/.test(value)) return `'${value.replaceAll("'", "''")}'`
  if (style === 'plain' && /^[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(value) && isTextBare(value)) return value
  return JSON.stringify(value)
}

function isTextBare(value: string): boolean {
  // digits with one letter among them (527u01) are a text; 52e7, 0x1f, 1_000 and 1:30 are not, to some reader
  if (/^[0-9]/.test(value) && !/[A-Za-df-z]/.test(value.replace(/^0[xob]/, ''))) return false
  return (
    [CORE_SCHEMA, YAML11_SCHEMA].every((schema) => load(value, { schema }) === value) &&
    !/^(?:y|n|yes|no|on|off|true|false|null)$/i.test(value)
  )
}

/** Writes keys below each other, each level indented further, with the value after the last. */
function block(path: readonly string[], value: string, column: number, step: number): string[] {
  return path.map((key, depth) => {
    const last = depth === path.length - 1
    return `${' '.repeat(column + depth * step)}${scalarText(key)}:${last ? ` ${scalarText(value)}` : ''}`
  })
}

/** Writes nested keys and a value on one line, without the outer braces. */
function flow(path: readonly string[], value: string): string {
  const [key = '', ...rest] = path
  return `${scalarText(key)}: ${rest.length === 0 ? scalarText(value) : `{${flow(rest, value)}}`}`
}

/** Returns the blanks per level in this file: as the first line below a bare key shows, else 2. */
function indentStep(text: string): number {
  // indent of the last bare key; null if another line came since
  let above: number | null = null
  for (const line of text.split('\n')) {
    const [, blanks = '', sign] = /^( *)([^\s#-])?/.exec(line)!
    if (sign !== undefined && above !== null && blanks.length > above) return blanks.length - above
    if (!/^[ \t]*(?:#.*)?\r?$/.test(line))
      above = sign !== undefined && line.trimEnd().endsWith(':') ? blanks.length : null
  }
  return 2
}

/** A part of the text, and what replaces it. */
interface Splice {
  start: number
  end: number
  insert: string
}

interface Obstacle {
  reason: string
  offset: number
}

/** Ways to write an edit, the most natural first, and the error if none of them has the wanted result. */
interface Candidates {
  splices: readonly Splice[]
  obstacle: Obstacle
}

/**
 * How far a path leads into the tree: the last node, the entry and the map that hold it, the keys on the way, and the
 * keys that are left.
 */
interface Place {
  node: YamlNode
  entry: Entry | null
  parent: MappingNode | null
  trail: readonly string[]
  rest: readonly string[]
}

export function candidatesFor(
  text: string,
  document: YamlNode | null,
  path: readonly string[],
  to: string | null,
): Candidates {
  const shown = path.join('.')
  if (document === null)
    return { splices: [atEnd(text, path, to ?? '')], obstacle: { reason: `${shown} cannot be added`, offset: 0 } }
  const place = placeOf(document, path)
  const obstacle = obstacleAt(text, document, place, shown)
  if (to === null)
    return {
      splices: place.rest.length === 0 && place.entry && place.parent ? removals(text, place.entry, place.parent) : [],
      obstacle,
    }
  return { splices: settings(text, place, to), obstacle }
}

function placeOf(document: YamlNode, path: readonly string[]): Place {
  let place: Place = { node: document, entry: null, parent: null, trail: [], rest: path }
  for (;;) {
    const { node, rest, trail } = place
    const [key] = rest
    const entry = node.kind === 'mapping' ? node.entries.findLast((it) => it.key === key) : undefined
    if (key === undefined || !entry || node.kind !== 'mapping') return place
    place = { node: entry.value, entry, parent: node, trail: [...trail, key], rest: rest.slice(1) }
  }
}

function obstacleAt(text: string, document: YamlNode, { node, trail, rest }: Place, shown: string): Obstacle {
  const offset = node.start
  const at = trail.join('.') || 'the file'
  if (node.kind === 'alias')
    return { reason: `${at} is the alias *${node.name}, whose value is also used elsewhere`, offset }
  if (node.kind === 'sequence') return { reason: `${at} is a list`, offset }
  if (node.kind === 'mapping' && rest.length === 0) return { reason: `${at} is a map`, offset }
  if (node.kind === 'scalar' && rest.length > 0 && !isNull(node))
    return { reason: `${at} is a single value, not a map`, offset }
  const used = aliasesIn(document)
  if (used.length > 0) {
    return {
      reason: `other parts of the file reuse ${shown} through aliases: ${used.map((it) => `*${it}`).join(', ')}`,
      offset,
    }
  }
  return { reason: `changing ${shown} would change other values too`, offset }
}

function aliasesIn(node: YamlNode): string[] {
  if (node.kind === 'alias') return [node.name]
  const inner =
    node.kind === 'mapping' ? node.entries.map(({ value }) => value) : node.kind === 'sequence' ? node.items : []
  return [...new Set(inner.flatMap(aliasesIn))]
}

function isNull({ style, value }: ScalarNode): boolean {
  return style === 'empty' || (style === 'plain' && /^(?:~|null|Null|NULL)$/.test(value))
}

function settings(text: string, { node, entry, rest }: Place, to: string): Splice[] {
  if (node.kind === 'alias')
    return rest.length === 0 ? [{ start: node.start, end: node.end, insert: scalarText(to) }] : []
  if (node.kind === 'mapping') return rest.length > 0 ? additions(text, node, rest, to) : []
  if (node.kind === 'sequence') return []
  if (rest.length === 0) return replacements(text, node, to)
  return isNull(node) && entry ? fillings(text, node, entry, rest, to) : []
}

function replacements(text: string, node: ScalarNode, to: string): Splice[] {
  const { start, end, style } = node
  if (style === 'empty')
    return [
      { start, end, insert: ` ${scalarText(to)}` },
      { start, end, insert: `: ${scalarText(to)}` },
    ]
  // an image needs no quotes for its slashes and variables, as reading it back confirms
  if (style === 'plain' && to.indexOf('/') > 0 && /^[\w$][\w${}.:/@+-]*$/.test(to))
    return [
      { start, end, insert: to },
      { start, end, insert: scalarText(to, 'double') },
    ]
  if (style !== 'block')
    return [
      { start, end, insert: scalarText(to, style) },
      { start, end, insert: scalarText(to, 'double') },
    ]
  // keeps the comment after the sign, and the blank lines below
  const header = Math.max(text.lastIndexOf('|', start), text.lastIndexOf('>', start))
  const [, sign = ''] = /^([|>][-+0-9]*)/.exec(text.slice(header)) ?? []
  const remark = text.slice(header + sign.length, text.indexOf('\n', header) + 1)
  const [tail = ''] = /(?<![ \t\r\n])[ \t\r\n]*$/.exec(text.slice(start, end)) ?? []
  const blanks = tail.endsWith('\n') ? tail.slice(tail.indexOf('\n') + 1) : ''
  return [{ start: header, end, insert: scalarText(to) + remark + blanks }]
}

/** Returns ways to add a key to a map: after the last of the others, else before the first. */
function additions(text: string, node: MappingNode, path: readonly string[], to: string): Splice[] {
  if (node.isFlow)
    return [
      { start: node.start + 1, end: node.start + 1, insert: flow(path, to) + (node.entries.length > 0 ? ', ' : '') },
    ]
  const newline = newlineOf(text)
  const lines = block(path, to, columnOf(text, node.start), indentStep(text)).join(newline)
  const end = lineEnd(text, node.end)
  const indent = ' '.repeat(columnOf(text, node.start))
  return [
    {
      start: end,
      end,
      insert: (isLineStart(text, end) ? '' : newline) + lines + (isLineStart(text, end) ? newline : ''),
    },
    { start: node.start, end: node.start, insert: lines.trimStart() + newline + indent },
  ]
}

/** Returns ways to turn a key's null into a map. */
function fillings(text: string, node: ScalarNode, entry: Entry, path: readonly string[], to: string): Splice[] {
  const inline = `{${flow(path, to)}}`
  const newline = newlineOf(text)
  const column = columnOf(text, entry.keySpan.start)
  const lines = block(path, to, column + indentStep(text), indentStep(text)).join(newline)
  const end = lineEnd(text, node.end)
  // removes what stood for null, with the blank before it
  const start =
    node.style === 'empty'
      ? node.start
      : node.start - (/(?<![ \t])[ \t]*$/.exec(text.slice(0, node.start))?.[0].length ?? 0)
  const behind = text.slice(node.end, end)
  const below = isLineStart(text, end) ? behind + lines + newline : behind + newline + lines
  return [
    { start, end, insert: below },
    { start: node.start, end: node.end, insert: node.style === 'empty' ? ` ${inline}` : inline },
  ]
}

/** Returns ways to remove an entry: with its line, else alone. Removing the last one leaves an empty map. */
function removals(text: string, entry: Entry, parent: MappingNode): Splice[] {
  const index = parent.entries.indexOf(entry)
  const next = parent.entries[index + 1]
  const previous = parent.entries[index - 1]
  if (!next && !previous) {
    if (parent.isFlow) return [{ start: parent.start + 1, end: parent.end - 1, insert: '' }]
    const before = parent.start - text.slice(0, parent.start).trimEnd().length
    return [
      { start: parent.start - before, end: parent.end, insert: ' {}' },
      { start: parent.start, end: parent.end, insert: '{}' },
    ]
  }
  const line = text.lastIndexOf('\n', entry.keySpan.start - 1) + 1
  const end = lineEnd(text, entry.value.end)
  const whole = parent.isFlow ? [] : [{ start: line, end, insert: '' }]
  return [
    ...whole,
    ...(next ? [{ start: entry.keySpan.start, end: next.keySpan.start, insert: '' }] : []),
    ...(previous ? [{ start: previous.value.end, end: entry.value.end, insert: '' }] : []),
  ]
}

function atEnd(text: string, path: readonly string[], to: string): Splice {
  const newline = newlineOf(text)
  const lines = block(path, to, 0, indentStep(text)).join(newline)
  const gap = text === '' || isLineStart(text, text.length) ? '' : newline
  return { start: text.length, end: text.length, insert: gap + lines + (text === '' || gap === '' ? newline : '') }
}

/** Returns the offset after the end of the line, and so after a comment on it. */
function lineEnd(text: string, from: number): number {
  if (from > 0 && text[from - 1] === '\n') return from
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end + 1
}

function isLineStart(text: string, at: number): boolean {
  return at === 0 || text[at - 1] === '\n'
}

function columnOf(text: string, at: number): number {
  return (
    at - (text.lastIndexOf('\n', at - 1) + 1) - (text.startsWith('\uFEFF') && !text.slice(0, at).includes('\n') ? 1 : 0)
  )
}

function newlineOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n'
}
