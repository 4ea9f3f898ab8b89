// Reads YAML that people write, with the place of whatever is wrong in it.
import { CORE_SCHEMA, EVENT_ID, SCALAR_STYLE, constructFromEvents, getScalarValue, parseEvents } from 'js-yaml'

/** A fault in a text, with its line and column; both count from 1. */
export class YamlProblem extends Error {
  constructor(text, { line, column } = { line: 1, column: 1 }) {
    super(text)
    this.line = line
    this.column = column
  }
}

/**
 * Returns the one document of a text as plain data, and `placeOf`: the place of the key or list item at the end of a
 * path. Throws `YamlProblem`, even for what means something else than it seems: tags, anchors, and text that is lost as
 * a comment.
 */
export function locatedYaml(text) {
  const { events, documents } = read(text)
  if (documents.length === 0) throw new YamlProblem('is empty')
  if (documents.length > 1) throw new YamlProblem('holds more than one document')
  const offsets = offsetsOf(events, text)
  return { value: documents[0], placeOf: (path) => placeAt(text, offsets.get(keyOf(path)) ?? 0) }
}

function read(text) {
  try {
    const events = parseEvents(text, { maxDepth: 20 })
    return { events, documents: constructFromEvents(events, { source: text, schema: CORE_SCHEMA }) }
  } catch (error) {
    if (error.name !== 'YAMLException') throw error
    const { line = 0, column = 0 } = error.mark ?? {}
    throw new YamlProblem(plainly[error.reason] ?? error.reason, { line: line + 1, column: column + 1 })
  }
}

const plainly = {
  'bad indentation of a mapping entry':
    'is indented wrongly, or holds a colon with a blank behind it: put it in quotes',
}

function offsetsOf(events, text) {
  const offsets = new Map()
  let at = 0
  let end = 0
  const next = () => {
    const event = events[at++]
    if (event.anchorStart >= 0) throw new YamlProblem('has an anchor', placeAt(text, event.anchorStart - 1))
    if (event.tagStart >= 0) throw new YamlProblem('has a tag', placeAt(text, event.tagStart))
    if (event.type === EVENT_ID.SCALAR) end = Math.max(end, event.valueEnd)
    return event
  }
  const walk = (path) => {
    const event = next()
    if (event.type === EVENT_ID.SCALAR) return refuseLost(event, text)
    for (let index = 0; events[at].type !== EVENT_ID.POP; index++) {
      const isItem = event.type === EVENT_ID.SEQUENCE
      const first = isItem ? events[at] : next()
      const inner = [...path, isItem ? index : getScalarValue(text, first)]
      // an empty item has no place of its own
      const start =
        [first.start, first.valueStart].find((it) => it >= 0) ?? end + /^\s*/.exec(text.slice(end))[0].length
      offsets.set(keyOf(inner), start)
      walk(inner)
    }
    at++
  }
  // skips the beginning of the document
  at++
  walk([])
  return offsets
}

function refuseLost({ style, valueEnd }, text) {
  const comment = style === SCALAR_STYLE.PLAIN && valueEnd >= 0 && /^[ \t]+#/.exec(text.slice(valueEnd))
  if (comment)
    throw new YamlProblem(
      'what follows # here is a comment: put the text in quotes, or the comment above',
      placeAt(text, valueEnd + comment[0].length - 1),
    )
}

function keyOf(path) {
  return JSON.stringify(path.map(String))
}

function placeAt(text, offset) {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}
