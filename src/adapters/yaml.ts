import { EVENT_ID, YAMLException, getScalarValue, load, parseEvents } from 'js-yaml'
import type { Event } from 'js-yaml'

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
  let events: Event[]
  let value: unknown
  try {
    events = parseEvents(text, {})
    value = load(text)
  } catch (error) {
    throw yamlError(error, text)
  }
  const offsets = offsetsOf(events, text)
  return {
    value,
    positionOf(path) {
      const offset = offsets.get(keyOf(path))
      return offset === undefined ? null : positionAt(text, offset)
    },
  }
}

function yamlError(error: unknown, text: string): YamlError {
  const options = { cause: error }
  if (!(error instanceof YAMLException))
    return new YamlError(error instanceof Error ? error.message : String(error), 1, 1, options)
  if (error.mark) {
    // what is never closed shows at the end of the text, behind the last line that there is to look at
    const last = text.trimEnd().split('\n')
    const line = Math.min(error.mark.line + 1, last.length)
    return new YamlError(error.reason, line, line === error.mark.line + 1 ? error.mark.column + 1 : last[line - 1]!.length + 1, options)
  }
  // a second document is the one fault without a mark that text with content can have
  const lines = text.split('\n')
  const second = lines.findIndex(
    (line, index) => /^---(\s|$)/.test(line) && lines.slice(0, index).some((above) => /^[^#\s-]/.test(above)),
  )
  return new YamlError(error.reason, Math.max(second + 1, 1), 1, options)
}

function offsetsOf(events: readonly Event[], text: string): Map<string, number> {
  const offsets = new Map<string, number>()
  let next = 0

  const walk = (path: readonly (string | number)[]): void => {
    const event = events[next]
    next += 1
    if (event?.type === EVENT_ID.SEQUENCE) {
      for (let index = 0; next < events.length && events[next]?.type !== EVENT_ID.POP; index += 1) {
        const item = [...path, index]
        offsets.set(keyOf(item), startOf(events[next]))
        walk(item)
      }
      next += 1
    } else if (event?.type === EVENT_ID.MAPPING) {
      while (next < events.length && events[next]?.type !== EVENT_ID.POP) {
        const key = events[next]
        next += 1
        // lists and maps as keys have been refused before
        const name = key?.type === EVENT_ID.SCALAR ? getScalarValue(text, key) : ''
        offsets.set(keyOf([...path, name]), startOf(key))
        walk([...path, name])
      }
      next += 1
    }
  }

  while (next < events.length) {
    const event = events[next]
    if (event?.type === EVENT_ID.DOCUMENT || event?.type === EVENT_ID.POP) next += 1
    else {
      offsets.set(keyOf([]), startOf(event))
      walk([])
    }
  }
  return offsets
}

function startOf(event: Event | undefined): number {
  if (event?.type === EVENT_ID.SCALAR) return event.valueStart
  if (event?.type === EVENT_ID.ALIAS) return event.anchorStart
  return event?.type === EVENT_ID.MAPPING || event?.type === EVENT_ID.SEQUENCE ? event.start : 0
}

function keyOf(path: readonly (string | number)[]): string {
  return JSON.stringify(path.map(String))
}

function positionAt(text: string, offset: number): YamlPosition {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1 }
}
