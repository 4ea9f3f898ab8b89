import { EVENT_ID, YAMLException } from 'js-yaml'
import type { Event } from 'js-yaml'

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
export function refuseSwelling(text: string, events: readonly Event[]): void {
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
      if (meant === null)
        YAMLException.throwAt(text, event.anchorStart, `the alias *${name} is inside the value that it names`)
      // js-yaml itself reports an alias that names nothing
      if (!meant) continue
      repeated += meant.values
      if (repeated > mostRepeated)
        YAMLException.throwAt(
          text,
          event.anchorStart,
          `with its aliases written out, the file holds more than ${mostRepeated} values`,
        )
      if (open.length + meant.levels > mostLevels)
        YAMLException.throwAt(
          text,
          event.anchorStart,
          `with its aliases written out, the file is more than ${mostLevels} levels deep`,
        )
      close(meant, null)
    } else {
      const done = open.pop()
      if (done) close(done.own, done.anchor)
    }
  }
}
