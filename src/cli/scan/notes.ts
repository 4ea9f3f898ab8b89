import { moment } from '../../core/figures.ts'
import { grouped } from '../../core/grouped.ts'
import type { ScanNote } from '../../output/scan/document.ts'
import type { ScanResult } from '../../runtime/scan/index.ts'

/** What was asked for. */
export interface Asked {
  timeZone: string
  /** why it is this one, where nobody has said so; null: somebody has */
  assumedFrom: string | null
  since?: Date | undefined
  until?: Date | undefined
}

/** so many names are told */
const mostNames = 3

/** What about the log itself limits what can be told of it. */
export function notesOn(
  { parts, unread, bytes, backward, from, to }: ScanResult,
  { since, until, timeZone, assumedFrom }: Asked,
  isCut: boolean,
): ScanNote[] {
  const notes: ScanNote[] = []
  const isBounded = since !== undefined || until !== undefined
  const note = (kind: ScanNote['kind'], message: string, isGap = false): void =>
    void notes.push({ kind, message, isGap })
  if (isCut) note('interrupted', 'interrupted: this is what was found until then', true)
  if (bytes === 0 && unread.length === 0 && !isCut)
    note(
      'empty',
      parts.length === 0 ? 'there is no log to look at' : `${named(parts.map(({ name }) => name))} held nothing at all`,
      true,
    )
  if (since && to && to < since)
    note('empty', `the newest record is of ${moment(to)}: there is nothing of the time that was asked for`)
  if (until && from && from >= until)
    note('empty', `the oldest record is of ${moment(from)}: there is nothing of the time that was asked for`)
  const binary = parts.filter((it) => it.isBinary)
  if (binary.length > 0)
    note(
      'binary',
      `${named(binary.map(({ name }) => name))}: no text, but bytes: searched through all the same, as \`grep -a\` does`,
    )
  const undated = parts.filter(({ tally }) => tally.datesUnknown)
  if (undated.length > 0) {
    const all = isBounded
      ? '; whether they are of the time that was asked for is not known, and all of them are counted'
      : ''
    note(
      'dates',
      `${named(undated.map(({ name }) => name))}: no date in a form that is known: the times of its records are not known${all}`,
      isBounded,
    )
  }
  if (backward.steps > 0)
    note(
      'clock',
      `the clock of the log runs backwards ${backward.steps === 1 ? 'once' : `${grouped(backward.steps)} times`}: first and last are the earliest and the latest time, wherever they stand`,
    )
  if (isBounded && assumedFrom !== null && undated.length < parts.length)
    note('time-zone', `times without an offset are read as ${timeZone}, ${assumedFrom}: --time-zone says otherwise`)
  return notes
}

function named(names: readonly string[]): string {
  const more = names.length - mostNames
  return more > 0 ? `${names.slice(0, mostNames).join(', ')} and ${grouped(more)} more` : names.join(', ')
}
