import type { AdminError } from '../../core/error.ts'
import { grouped, moment } from '../../core/format.ts'
import { withoutSecretsIn } from '../../core/redaction/document.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { command } from '../../core/shell-command.ts'
import { signatures } from '../../knowledge/signatures.ts'
import type { ScanDocument, ScanMatch, ScanNote } from '../../output/scan/document.ts'
import type { ScannedCause, ScanResult } from '../../runtime/scan/index.ts'

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
  if (since && to && to < since)
    note('empty', `no records in the requested time range: the newest record is from ${moment(to)}`)
  if (until && from && from >= until)
    note('empty', `no records in the requested time range: the oldest record is from ${moment(from)}`)
  const binary = parts.filter((it) => it.isBinary)
  if (binary.length > 0)
    note('binary', `${named(binary.map(({ name }) => name))}: binary, not text; searched anyway, as \`grep -a\` does`)
  const undated = parts.filter(({ tally }) => tally.datesUnknown)
  if (undated.length > 0) {
    const all = isBounded ? '; all records are counted, including those outside the requested time range' : ''
    note(
      'dates',
      `${named(undated.map(({ name }) => name))}: unknown date format, so the times of the records are unknown${all}`,
      isBounded,
    )
  }
  if (backward.steps > 0)
    note(
      'clock',
      `the times in the log jump back ${backward.steps === 1 ? 'once' : `${grouped(backward.steps)} times`}: ` +
        '"first" and "last" are the earliest and the latest time in the log',
    )
  if (isBounded && assumedFrom !== null && undated.length < parts.length)
    note(
      'time-zone',
      `times without an offset are read as ${timeZone}, ${assumedFrom}; to change the zone, use --time-zone`,
    )
  return notes
}

function named(names: readonly string[]): string {
  const more = names.length - mostNames
  return more > 0 ? `${names.slice(0, mostNames).join(', ')} and ${grouped(more)} more` : names.join(', ')
}

/** What is known about the log besides its content. */
export interface About extends Asked {
  /** Omitted for files and standard input */
  deployment?: string
  /** Returns a command as it is typed for this deployment */
  typed: (asked: Suggestion) => Suggestion
  /** Removes secrets from what is shown */
  hide: (text: string) => string
}

const order = ['error', 'warning', 'info'] as const

/** Returns the findings as they are printed, without secrets. `isCut` is true if the scan was interrupted. */
export function scanDocument(result: ScanResult, about: About, isCut = false): ScanDocument {
  const whole = wholeDocument(result, about, isCut)
  // left as they are: thousands of times and numbers of this program's own
  const matches = whole.matches.map(({ rate, ...match }) => ({ ...withoutSecretsIn(match), rate }))
  return { ...withoutSecretsIn({ ...whole, matches: [] }), matches }
}

function wholeDocument(result: ScanResult, about: About, isCut: boolean): ScanDocument {
  const matches = result.causes.map((it) => matchOf(it, about))
  const timed = result.causes.flatMap(({ id, first }) => (first ? [{ at: first, signature: id }] : []))
  return {
    schemaVersion: 1,
    ...(about.deployment !== undefined && { deployment: about.deployment }),
    timeZone: about.timeZone,
    ...times({ since: about.since, until: about.until }),
    lines: result.lines,
    bytes: result.bytes,
    ...times(result),
    matches: matches.sort(
      (one, other) => order.indexOf(one.severity) - order.indexOf(other.severity) || other.count - one.count,
    ),
    timeline: timed
      .sort((one, other) => one.at.getTime() - other.at.getTime())
      .map(({ at, signature }) => ({ at: at.toISOString(), signature })),
    files: result.parts.map(({ name, tally }) => ({
      name,
      lines: tally.lines,
      bytes: tally.bytes,
      ...times(tally),
      counts: Object.fromEntries(tally.causes.map(({ id, count }) => [id, count])),
    })),
    unread: result.unread.map(({ name, error }) => ({ name, ...shown(error, about) })),
    notes: notesOn(result, about, isCut),
  }
}

function matchOf(cause: ScannedCause, { typed, hide }: About): ScanMatch {
  const {
    id,
    severity,
    count,
    records,
    untimed,
    first,
    last,
    overBy,
    partOf,
    samples,
    hosts,
    conflicts,
    agents,
    rate,
  } = cause
  const known = signatures.find((it) => it.id === id)!
  const { title, check, remedy, explain } = partOf === undefined ? known : { ...known, ...beside[partOf] }
  return {
    signature: id,
    title,
    check,
    severity,
    count,
    records,
    untimed,
    ...times({ first, last, overBy: overBy ?? null }),
    samples,
    ...(hosts.size > 0 && { hosts: shownHosts(hosts, hide) }),
    ...(conflicts.length > 0 && { conflicts }),
    ...(agents.length > 0 && { agents }),
    rate: {
      seconds: rate.width / 1000,
      counts: Array.from(rate.starts, (at, index) => ({ at: new Date(at).toISOString(), lines: rate.counts[index]! })),
    },
    remedy: remedy === null || severity === 'info' ? null : typed(remedy),
    explain: command`testops-admin explain ${explain}`,
  }
}

/** Texts for a signature that is part of another fault than it is alone. */
const beside = {
  'lock-stolen': {
    title:
      'the service gave up waiting for the change-log lock and released it: ' +
      'the process that took the lock may still be running',
    remedy: null,
    explain: 'lock-stolen',
  },
} as const

/**
 * Counts hosts, the most frequent first. Text in place of a host may be a secret; several may look alike once hidden,
 * and are added up.
 */
function shownHosts(hosts: ReadonlyMap<string, number>, hide: About['hide']): Record<string, number> {
  const counts = new Map<string, number>()
  for (const [name, times] of hosts) {
    const host = hide(name)
    counts.set(host, (counts.get(host) ?? 0) + times)
  }
  return Object.fromEntries([...counts].sort(([, one], [, other]) => other - one))
}

function shown(
  { code, message, suggestions }: AdminError,
  { hide, typed }: About,
): Omit<ScanDocument['unread'][number], 'name'> {
  return { code, message: hide(message), suggestions: suggestions.map(typed) }
}

type TimeName = 'from' | 'to' | 'first' | 'last' | 'overBy' | 'since' | 'until'

/** Returns those times that are known. */
function times<T extends Partial<Record<TimeName, unknown>>>(all: T): Partial<Record<keyof T & TimeName, string>> {
  const names: readonly TimeName[] = ['from', 'to', 'first', 'last', 'overBy', 'since', 'until']
  return Object.fromEntries(
    names.flatMap((name) => (all[name] instanceof Date ? [[name, all[name].toISOString()]] : [])),
  ) as Partial<Record<keyof T & TimeName, string>>
}
