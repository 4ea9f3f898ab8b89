import { grouped, moment, bytes as size, span } from '../../core/format.ts'
import { own } from '../../core/lookup.ts'
import { badge, paintFor } from '../paint.ts'
import type { Paint, Screen } from '../paint.ts'
import { clip, countOf, hang, pad, printable } from '../text.ts'
import type { ScanDocument, ScanMatch } from './document.ts'
import { scanSummary } from './document.ts'

/** Returns a time as `2026-11-21 02:12:44Z`. */
function at(iso: string): string {
  return moment(iso)
}

/** Returns counts such as `1 line` or `1,284 lines in 96 records`. */
export function matchCounts({ count, records }: Pick<ScanMatch, 'count' | 'records'>): string {
  const lines = `${grouped(count)} line${count === 1 ? '' : 's'}`
  return records === count ? lines : `${lines} in ${grouped(records)} record${records === 1 ? '' : 's'}`
}

/** Returns the first and last time, as far as the records have times. */
function period({ first, last, untimed, count }: Pick<ScanMatch, 'first' | 'last' | 'untimed' | 'count'>): string {
  if (first === undefined || last === undefined) return 'times unknown'
  const unknown = untimed === 0 ? '' : `, ${grouped(untimed)} of ${grouped(count)} lines without a time`
  return `${first === last ? at(first) : `first ${at(first)}, last ${at(last)}`}${unknown}`
}

interface ScanView {
  screen: Screen
  exitCode: number
}

/** Maximum number of each kind that is named; the others are counted */
const most = { hosts: 10, conflicts: 5, agents: 5, files: 5, timeline: 16 } as const
const widestChart = 48

/**
 * Returns the findings for people: each cause with its figures and what to do, what came first, what limits the
 * findings, and the verdict.
 */
export function scanText(document: ScanDocument, { screen, exitCode }: ScanView): string {
  const paint = paintFor(screen)
  const blocks = [
    heading(document, screen, paint),
    ...document.matches.map((it) => causeLines(it, document, screen, paint)),
    timeline(document, paint),
    ...document.unread.map((it) => [
      ...hang('', `Not read completely: ${printable(it.name)}: ${printable(it.message)}`, screen.columns),
      ...it.suggestions.map((line) => `      ${printable(line)}`),
    ]),
    document.notes.flatMap(({ message }) => hang('- ', printable(message), screen.columns)),
    verdict(document, exitCode, screen),
  ]
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

function heading(
  { deployment, files, lines, bytes, from, to }: ScanDocument,
  { columns }: Screen,
  paint: Paint,
): string[] {
  const name = printable(deployment ?? (files.length === 1 ? files[0]!.name : ''))
  const logs = name === '' || deployment !== undefined ? `${countOf(files.length, 'log')}, ` : ''
  const times =
    from === undefined || to === undefined ? '' : `, ${at(from)}${at(from) === at(to) ? '' : ` to ${at(to)}`}`
  const [line = '', ...more] = hang(
    '',
    `${name === '' ? '' : `${name}: `}${logs}${grouped(lines)} line${lines === 1 ? '' : 's'}, ${size(bytes)}${times}`,
    columns,
  )
  return [line.startsWith(name) ? paint.strong(name) + line.slice(name.length) : line, ...more]
}

function causeLines(match: ScanMatch, document: ScanDocument, screen: Screen, paint: Paint): string[] {
  const { signature, severity, title, samples, remedy, explain } = match
  const sign = severity === 'info' ? paint.good('· info') : badge(severity, paint)
  const say = (text: string): string[] => hang('  ', printable(text), screen.columns)
  const isCalm = severity === 'info'
  return [
    `${sign}  ${paint.strong(signature)}`,
    ...say(`${title}: ${matchCounts(match)}, ${period(match)}${over(match)}`),
    ...chart(match, document, screen),
    ...[...matchDetails(match), ...matchPlaces(match, document)].flatMap(say),
    ...(isCalm ? [] : samples.map((line) => `      ${printable(line)}`)),
    ...(isCalm
      ? []
      : remedy === null
        ? [`  by hand: ${printable(explain)}`]
        : [`  repair: ${printable(remedy)}`, `  more: ${printable(explain)}`]),
  ]
}

function over({ overBy }: ScanMatch): string {
  return overBy === undefined ? '' : `; no problem: the service got the lock at ${at(overBy)}`
}

/** Draws a chart over the requested time of the log, which is the same for all causes. */
function chart(match: ScanMatch, { from, to, since = '', until = '9' }: ScanDocument, { columns }: Screen): string[] {
  const bars =
    from === undefined || to === undefined
      ? null
      : barsOf(match, from > since ? from : since, to < until ? to : until, Math.min(widestChart, columns - 32))
  return bars === null ? [] : [`  |${bars.text}| at most ${grouped(bars.most)} in ${span(bars.width)}`]
}

/** Returns what else is known of a fault: hosts, conflicts, counts of agents, its check. */
export function matchDetails({ hosts, conflicts, agents, check }: ScanMatch): string[] {
  const named = Object.entries(hosts ?? {}).map(([name, records]) => `${name} ${grouped(records)}`)
  return [
    ...(named.length === 0 ? [] : [`hosts: ${some(named, most.hosts)}`]),
    ...(conflicts ?? [])
      .slice(0, most.conflicts)
      .map(
        (it) =>
          `${it.kind} ${it.name} in vhost ${it.vhost}: the service requested ${it.argument} ${it.wanted}, but ` +
          `the ${it.kind} has ${it.current}`,
      ),
    ...(agents ?? [])
      .slice(0, most.agents)
      .map(
        ({ indexed, processed, errors }) =>
          `indexed ${indexed}, processed ${processed}${errors === null ? '' : `, errors ${errors}`}`,
      ),
    ...(check === null ? [] : [`check: ${check}`]),
  ]
}

/** Returns which of several files have it. */
export function matchPlaces({ signature }: ScanMatch, { files }: ScanDocument): string[] {
  if (files.length < 2) return []
  const having = files.filter(({ counts: { [signature]: lines = 0 } }) => lines > 0)
  return [
    `in: ${some(
      having.map(({ name, counts: { [signature]: lines = 0 } }) =>
        having.length === 1 ? name : `${name} ${grouped(lines)}`,
      ),
      most.files,
    )}`,
  ]
}

function timeline({ timeline: all }: ScanDocument, paint: Paint): string[] {
  if (all.length < 2) return []
  return [
    paint.strong('What came first'),
    ...all.slice(0, most.timeline).map((it) => `  ${at(it.at)}  ${printable(it.signature)}`),
  ]
}

function verdict(document: ScanDocument, exitCode: number, screen: Screen): string[] {
  const { matches } = document
  const { error, warning, unknown } = scanSummary(document)
  const of = (severity: string): string =>
    matches
      .filter((it) => it.severity === severity)
      .map(({ signature }) => signature)
      .join(', ')
  const parts = [
    error > 0 ? `${countOf(error, 'problem')}: ${of('error')}` : '',
    warning > 0 ? `${countOf(warning, 'warning')}: ${of('warning')}` : '',
    unknown > 0 ? 'something could not be determined' : '',
  ].filter(Boolean)
  const said =
    error + warning > 0
      ? parts.join('; ')
      : [matches.length === 0 ? 'No known fault found' : 'No problem found', ...parts].join('; ')
  const worst = matches.find((it) => it.severity !== 'info')
  return [
    ...hang('', `${said}. Exit code ${exitCode}.`, screen.columns),
    ...(worst ? [`Next: ${printable(worst.remedy ?? worst.explain)}`] : []),
  ]
}

function some(names: readonly string[], limit: number): string {
  return names.length <= limit
    ? names.join(', ')
    : `${names.slice(0, limit).join(', ')} and ${grouped(names.length - limit)} more`
}

const heights = ['▁', '▂', '▃', '▅', '▇']

/** A small chart of lines over time. */
interface Bars {
  text: string
  /** The most lines in one bar */
  most: number
  /** Milliseconds per bar */
  width: number
}

/** Lines below which a chart says no more than the words beside it */
const least = 3

/** Draws a chart from one moment to another, in at most `columns` columns; null if there is too little to show. */
export function barsOf(
  { rate, count, untimed }: Pick<ScanMatch, 'rate' | 'count' | 'untimed'>,
  from: string,
  to: string,
  columns: number,
): Bars | null {
  const [start, end] = [Date.parse(from), Date.parse(to)]
  if (count - untimed < least || !(end > start)) return null
  const step = Math.max(rate.seconds * 1000, Math.ceil((end - start + 1) / columns))
  const bars = Array.from({ length: Math.ceil((end - start + 1) / step) }, () => 0)
  for (const { at, lines } of rate.counts) {
    // an interval of the rate may begin before the first of its lines
    const index = Math.min(bars.length - 1, Math.max(0, Math.floor((Date.parse(at) - start) / step)))
    bars[index]! += lines
  }
  const most = Math.max(...bars)
  if (bars.filter((lines) => lines > 0).length < 2) return null
  return {
    text: bars.map((lines) => (lines === 0 ? ' ' : heights[Math.ceil((lines / most) * heights.length) - 1]!)).join(''),
    most,
    width: step,
  }
}

/** Returns what is new since an earlier document, a line for each signature: for a log that somebody reads later. */
export function scanChanges(document: ScanDocument, before: ScanDocument | null): string[] {
  return document.matches.flatMap((match) => {
    const known = before?.matches.find(({ signature }) => signature === match.signature)
    if (known?.count === match.count) return []
    const more = match.count - (known?.count ?? 0)
    const count = known === undefined ? grouped(match.count) : `${grouped(match.count)} (+${grouped(more)})`
    const newHosts = Object.keys(match.hosts ?? {}).filter((name) => own(known?.hosts, name) === undefined)
    const shown =
      newHosts.length > 0 ? newHosts.slice(0, 3).join(', ') : known === undefined ? (match.samples[0] ?? '') : ''
    return [
      `${match.last === undefined ? 'time unknown' : at(match.last)}  ` +
        `${printable(`${match.severity} ${match.signature}`)} ` +
        `${count}${shown === '' ? '' : `  ${printable(shown)}`}`,
    ]
  })
}

/** Returns the findings so far for a terminal of `rows` rows; each line takes one row. */
export function scanRows(document: ScanDocument, screen: Screen, rows: number): string[] {
  const paint = paintFor({ ...screen, colour: false })
  const width = Math.max(0, ...document.matches.map(({ signature }) => signature.length))
  const lines = document.matches.map(
    (it) =>
      `${pad(signOf(it), 9)}  ${pad(it.signature, width)}  ` +
      `${grouped(it.count)}${it.last === undefined ? '' : `, last ${at(it.last)}`}${hostsOf(it)}`,
  )
  const room = Math.max(1, rows - 3)
  const left = lines.length > room ? [`… and ${lines.length - room} more`] : []
  const state =
    `… ${grouped(document.lines)} line${document.lines === 1 ? '' : 's'} so ` +
    `far${lines.length === 0 ? ', no known fault' : ''}; press Ctrl-C for the summary`
  return [...lines.slice(0, room), ...left, state].map((line) => clip(line, screen.columns - 1))

  function signOf({ severity }: ScanMatch): string {
    return severity === 'info' ? '· info' : badge(severity, paint)
  }
}

function hostsOf({ hosts }: ScanMatch): string {
  const names = Object.keys(hosts ?? {})
  return names.length === 0 ? '' : `: ${printable(names.slice(0, 3).join(', '))}`
}
