import type { Event, MappingEvent, ScalarEvent, SequenceEvent } from 'js-yaml'
import {
  COLLECTION_STYLE_FLOW,
  EVENT_ID,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE_DOUBLE_QUOTED,
  SCALAR_STYLE_FOLDED_BLOCK,
  SCALAR_STYLE_LITERAL_BLOCK,
  SCALAR_STYLE_SINGLE_QUOTED,
  YAMLException,
} from 'js-yaml'

/**
 * Most values that aliases may repeat. People repeat few, but a file in which each of a few lines doubles the one above
 * fills the memory.
 */
const mostRepeated = 100_000
/** most levels; js-yaml allows as many, but does not count what aliases stand for */
const mostLevels = 100

/** The number of values with aliases written out, and of levels. */
interface Extent {
  values: number
  levels: number
}

/**
 * Refuses a text whose aliases stand for too much, too deep, or for themselves, so that a walk through its values would
 * take too long. Throws js-yaml's `YAMLException` with the place of the alias.
 */
function refuseSwelling(text: string, events: readonly Event[]): void {
  let anchors = new Map<string, Extent | null>()
  let repeated = 0
  const open: { own: Extent; anchor: string | null }[] = []
  const close = (done: Extent, anchor: string | null): void => {
    if (anchor !== null) anchors.set(anchor, done)
    const above = open.at(-1)
    if (!above) return
    above.own.values += done.values
    above.own.levels = Math.max(above.own.levels, done.levels + 1)
  }
  const named = ({ anchorStart, anchorEnd }: { anchorStart: number; anchorEnd: number }): string | null =>
    anchorStart < 0 ? null : text.slice(anchorStart, anchorEnd)

  for (const event of events) {
    if (event.type === EVENT_ID.DOCUMENT) {
      anchors = new Map()
      repeated = 0
      open.push({ own: { values: 0, levels: 0 }, anchor: null })
    } else if (event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE) {
      const anchor = named(event)
      if (anchor !== null) anchors.set(anchor, null)
      open.push({ own: { values: 1, levels: 0 }, anchor })
    } else if (event.type === EVENT_ID.SCALAR) {
      close({ values: 1, levels: 0 }, named(event))
    } else if (event.type === EVENT_ID.ALIAS) {
      const name = text.slice(event.anchorStart, event.anchorEnd)
      const meant = anchors.get(name)
      if (meant === null) YAMLException.throwAt(text, event.anchorStart, `the alias *${name} is inside its own value`)
      // js-yaml itself reports an alias that names nothing
      if (!meant) continue
      repeated += meant.values
      if (repeated > mostRepeated)
        YAMLException.throwAt(
          text,
          event.anchorStart,
          `the file has more than ${mostRepeated} values if its aliases are expanded`,
        )
      if (open.length + meant.levels > mostLevels)
        YAMLException.throwAt(
          text,
          event.anchorStart,
          `the file is more than ${mostLevels} levels deep if its aliases are expanded`,
        )
      close(meant, null)
    } else {
      const done = open.pop()
      if (done) close(done.own, done.anchor)
    }
  }
}

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
    throw new Error(`unexpected event of type ${String(event.type)} where a value should start`)
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
