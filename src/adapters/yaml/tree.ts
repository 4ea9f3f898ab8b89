import {
  EVENT_ID,
  SCALAR_STYLE_DOUBLE_QUOTED,
  SCALAR_STYLE_FOLDED_BLOCK,
  SCALAR_STYLE_LITERAL_BLOCK,
  SCALAR_STYLE_SINGLE_QUOTED,
} from 'js-yaml'
import { COLLECTION_STYLE_FLOW, getScalarValue, parseEvents } from 'js-yaml'
import type { Event, MappingEvent, ScalarEvent, SequenceEvent } from 'js-yaml'
import { refuseSwelling } from './aliases.ts'

/** Offsets into the text; `end` is after the last character. */
interface Span {
  start: number
  end: number
}

export interface ScalarNode extends Span {
  kind: 'scalar'
  /** without its quotes, escapes resolved */
  value: string
  style: 'plain' | 'single' | 'double' | 'block' | 'empty'
}

interface AliasNode extends Span {
  kind: 'alias'
  name: string
}

export interface MappingNode extends Span {
  kind: 'mapping'
  isFlow: boolean
  entries: readonly Entry[]
}

interface SequenceNode extends Span {
  kind: 'sequence'
  isFlow: boolean
  items: readonly YamlNode[]
}

/** A value with its offsets. It starts after its anchor and its tag. */
export type YamlNode = ScalarNode | AliasNode | MappingNode | SequenceNode

export interface Entry {
  /** null if the key is a list, a map or an alias */
  key: string | null
  keySpan: Span
  value: YamlNode
}

/**
 * Parses the documents of a YAML text, each as nodes with their offsets; null for an empty one. Throws js-yaml's
 * `YAMLException`, also for aliases that stand for too much.
 */
export function yamlTrees(text: string): (YamlNode | null)[] {
  const events = parseEvents(text, {})
  refuseSwelling(text, events)
  const documents: (YamlNode | null)[] = []
  let next = 0

  const node = (from: number): YamlNode => {
    const event = events[next]!
    next += 1
    if (event.type === EVENT_ID.MAPPING) return mapping(event)
    if (event.type === EVENT_ID.SEQUENCE) return sequence(event)
    if (event.type === EVENT_ID.SCALAR) return scalar(text, event, from)
    if (event.type === EVENT_ID.ALIAS)
      return {
        kind: 'alias',
        name: text.slice(event.anchorStart, event.anchorEnd),
        start: event.anchorStart - 1,
        end: event.anchorEnd,
      }
    throw new Error(`an event of type ${String(event.type)} where a value starts`)
  }

  const mapping = (event: MappingEvent): MappingNode => {
    const entries: Entry[] = []
    let end = event.start
    while (!isPop(events[next])) {
      const key = node(end)
      const colon = behindColon(text, key.end)
      const value = node(colon)
      entries.push({
        key: key.kind === 'scalar' ? key.value : null,
        keySpan: { start: key.start, end: key.end },
        value,
      })
      end = Math.max(value.end, key.end)
    }
    next += 1
    const isFlow = event.style === COLLECTION_STYLE_FLOW
    return {
      kind: 'mapping',
      isFlow,
      entries,
      start: event.start,
      end: isFlow ? behindBracket(text, Math.max(end, event.start + 1)) : end,
    }
  }

  const sequence = (event: SequenceEvent): SequenceNode => {
    const items: YamlNode[] = []
    let end = event.start
    while (!isPop(events[next])) {
      const item = node(end)
      items.push(item)
      end = Math.max(item.end, end)
    }
    next += 1
    const isFlow = event.style === COLLECTION_STYLE_FLOW
    return {
      kind: 'sequence',
      isFlow,
      items,
      start: event.start,
      end: isFlow ? behindBracket(text, Math.max(end, event.start + 1)) : end,
    }
  }

  while (next < events.length) {
    next += 1 // the document's own event
    const first = events[next]
    const isEmpty = isPop(first) || (first?.type === EVENT_ID.SCALAR && first.valueStart < 0)
    documents.push(isPop(first) ? null : node(0))
    if (isEmpty) documents[documents.length - 1] = null
    next += 1
  }
  return documents
}

function isPop(event: Event | undefined): boolean {
  return event === undefined || event.type === EVENT_ID.POP
}

const styles: ReadonlyMap<number, ScalarNode['style']> = new Map([
  [SCALAR_STYLE_SINGLE_QUOTED, 'single'],
  [SCALAR_STYLE_DOUBLE_QUOTED, 'double'],
  [SCALAR_STYLE_LITERAL_BLOCK, 'block'],
  [SCALAR_STYLE_FOLDED_BLOCK, 'block'],
])

function scalar(text: string, event: ScalarEvent, from: number): ScalarNode {
  if (event.valueStart < 0) {
    const start = Math.max(from, event.anchorEnd, event.tagEnd)
    return { kind: 'scalar', value: '', style: 'empty', start, end: start }
  }
  const style = styles.get(event.style) ?? 'plain'
  const quote = style === 'single' || style === 'double' ? 1 : 0
  return {
    kind: 'scalar',
    value: getScalarValue(text, event),
    style,
    start: event.valueStart - quote,
    end: event.valueEnd + quote,
  }
}

/** Returns where a key's value may start; the key's own end if it has no colon, as in `{a, b}`. */
function behindColon(text: string, from: number): number {
  const at = passOver(text, from)
  return text[at] === ':' ? at + 1 : from
}

function behindBracket(text: string, from: number): number {
  let at = passOver(text, from)
  while (text[at] === ',') at = passOver(text, at + 1)
  return at + 1
}

/** Returns the offset of the next character that is neither blank nor part of a comment. */
function passOver(text: string, from: number): number {
  let at = from
  for (;;) {
    while (at < text.length && /\s/.test(text[at]!)) at += 1
    if (text[at] !== '#') return at
    const line = text.indexOf('\n', at)
    at = line < 0 ? text.length : line + 1
  }
}
