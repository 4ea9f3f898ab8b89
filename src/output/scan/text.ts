import { bytes as size, span } from '../../core/figures.ts'
import { grouped } from '../../core/grouped.ts'
import { badge } from '../doctor/status.ts'
import { paintFor } from '../paint.ts'
import type { Paint } from '../paint.ts'
import type { Screen } from '../screen.ts'
import { countOf, hang, printable } from '../text.ts'
import { scanSummary } from './document.ts'
import type { ScanDocument, ScanMatch } from './document.ts'
import { at, counts, period } from './words.ts'

export interface ScanView {
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
    ...say(`${title}: ${counts(match)}, ${period(match)}${over(match)}`),
    ...chart(match, document, screen),
    ...[...details(match), ...where(match, document)].flatMap(say),
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

function details({ hosts, conflicts, agents, check }: ScanMatch): string[] {
  const named = Object.entries(hosts ?? {}).map(([name, records]) => `${name} ${grouped(records)}`)
  return [
    ...(named.length === 0 ? [] : [`hosts: ${some(named, most.hosts)}`]),
    ...(conflicts ?? [])
      .slice(0, most.conflicts)
      .map(
        (it) =>
          `${it.kind} ${it.name} in vhost ${it.vhost}: ${it.argument} was requested as ${it.wanted}, but is ${it.current}`,
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
function where({ signature }: ScanMatch, { files }: ScanDocument): string[] {
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
    unknown > 0 ? 'not everything could be determined' : '',
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
