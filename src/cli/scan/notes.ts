import { moment } from '../../core/figures.ts'
import { grouped } from '../../core/grouped.ts'
import type { ScanNote } from '../../output/scan/document.ts'
import type { ScanResult } from '../../runtime/scan/index.ts'

/** The time zone and the period that were asked for. */
export interface Asked {
  timeZone: string
  /** Why this time zone is assumed; null if it was given */
  assumedFrom: string | null
  since?: Date | undefined
  until?: Date | undefined
}

/** Maximum number of names in a note */
const mostNames = 3

/** Returns what about the log itself limits the findings. */
export function notesOn(
  { parts, unread, bytes, backward, from, to }: ScanResult,
  { since, until, timeZone, assumedFrom }: Asked,
  isCut: boolean,
): ScanNote[] {
  const notes: ScanNote[] = []
  const isBounded = since !== undefined || until !== undefined
  const note = (kind: ScanNote['kind'], message: string, isGap = false): void =>
    void notes.push({ kind, message, isGap })
  if (isCut) note('interrupted', 'interrupted: these are the findings so far', true)
  if (bytes === 0 && unread.length === 0 && !isCut)
    note(
      'empty',
      parts.length === 0 ? 'there is no log to read' : `nothing to read in ${named(parts.map(({ name }) => name))}`,
      true,
    )
  if (since && to && to < since) note('empty', `no records in the requested time: the newest one is from ${moment(to)}`)
  if (until && from && from >= until)
    note('empty', `no records in the requested time: the oldest one is from ${moment(from)}`)
  const binary = parts.filter((it) => it.isBinary)
  if (binary.length > 0)
    note('binary', `${named(binary.map(({ name }) => name))}: binary, not text; searched anyway, as \`grep -a\` does`)
  const undated = parts.filter(({ tally }) => tally.datesUnknown)
  if (undated.length > 0) {
    const all = isBounded ? '; all of them are counted, in the requested time or not' : ''
    note(
      'dates',
      `${named(undated.map(({ name }) => name))}: unknown date format, so the times of its records are unknown${all}`,
      isBounded,
    )
  }
  if (backward.steps > 0)
    note(
      'clock',
      `the log goes back in time ${backward.steps === 1 ? 'once' : `${grouped(backward.steps)} times`}: first and last are its earliest and latest times, wherever they are`,
    )
  if (isBounded && assumedFrom !== null && undated.length < parts.length)
    note('time-zone', `times without an offset are read as ${timeZone}, ${assumedFrom}: use --time-zone to change that`)
  return notes
}

function named(names: readonly string[]): string {
  const more = names.length - mostNames
  return more > 0 ? `${names.slice(0, mostNames).join(', ')} and ${grouped(more)} more` : names.join(', ')
}
