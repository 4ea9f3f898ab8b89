import { counted, grouped, bytes as size } from '../../core/format.ts'
import { inEnglish } from '../../core/translation.ts'
import { blockOf, commands, htmlPage, listOf, rowsOf, some, statusBadge, timesIn } from '../html/page.ts'
import type { Section } from '../html/page.ts'
import { timeLine } from '../html/time-line.ts'
import { html } from '../markup.ts'
import type { Html } from '../markup.ts'
import type { StatusWord } from '../paint.ts'
import { countOf } from '../text.ts'
import { scanSummary } from './document.ts'
import type { ScanDocument, ScanMatch } from './document.ts'
import { matchCounts, matchDetails, matchPlaces } from './text.ts'

/** What the parts of a page share. */
interface View {
  times: (iso: string) => Html
  command: (typed: string) => Html
}

/** Maximum number of files that are listed; the others are counted */
const mostFiles = 300

/** Returns the findings as one HTML page, for a ticket or a mail: it loads nothing, and needs no script to be read. */
export function scanHtml(document: ScanDocument, exitCode: number): string {
  const view = { times: timesIn(document.timeZone), command: commands(inEnglish) }
  const faults = document.matches.filter(({ severity }) => severity !== 'info')
  return htmlPage({
    kind: 'Known faults in a log',
    name: nameOf(document),
    status: statusOf(document),
    headline: headlineOf(document),
    verdict: verdictOf(document, faults),
    facts: factsOf(document, exitCode, view),
    sections: [
      faultsOf(faults, document, view),
      timeLineOf(document),
      calmOf(document, view),
      readOf(document, view),
      unreadOf(document, view),
      notesOf(document),
    ].flatMap((it) => it ?? []),
  })
}

function nameOf({ deployment, files }: ScanDocument): string {
  return deployment ?? (files.length === 1 ? files[0]!.name : countOf(files.length, 'log'))
}

function statusOf(document: ScanDocument): StatusWord {
  const { error, warning, unknown } = scanSummary(document)
  if (error > 0) return 'error'
  if (warning > 0) return 'warning'
  return unknown > 0 ? 'unknown' : 'ok'
}

function headlineOf(document: ScanDocument): string {
  const { error, warning, unknown } = scanSummary(document)
  const found = [error > 0 ? countOf(error, 'problem') : '', warning > 0 ? countOf(warning, 'warning') : ''].filter(
    Boolean,
  )
  if (found.length > 0) return found.join(', ')
  const none = document.matches.length === 0 ? 'No known fault found' : 'No problem found'
  return unknown > 0 ? `${none}, but not everything could be read` : none
}

function verdictOf(document: ScanDocument, faults: readonly ScanMatch[]): Html {
  const links = faults.map(({ signature }, at) => html`<a href="#fault-${at + 1}">${signature}</a>`)
  const { unknown } = scanSummary(document)
  const parts = [...links, ...(unknown > 0 ? [html`something could not be determined`] : [])]
  return html`${parts.map((it, at) => (at === 0 ? it : html`, ${it}`))}`
}

type Fact = readonly [name: string, value: Html | string]

function factsOf(document: ScanDocument, exitCode: number, { times }: View): Fact[] {
  const { files, lines, bytes, from, to, since, until, timeZone } = document
  const time = (name: string, iso: string | undefined): Fact[] => (iso === undefined ? [] : [[name, times(iso)]])
  return [
    ['Read', `${countOf(files.length, 'log')}, ${grouped(lines)} line${lines === 1 ? '' : 's'}, ${size(bytes)}`],
    ...time('First record', from),
    ...time('Last record', to),
    ...time('Asked for records since', since),
    ...time('Asked for records until', until),
    ['Assumed time zone', timeZone],
    ['Exit code of scan-logs', String(exitCode)],
  ]
}

function faultsOf(faults: readonly ScanMatch[], document: ScanDocument, view: View): Section | null {
  if (faults.length === 0) return null
  const content = html`${faults.map((it, at) => faultOf(it, at + 1, document, view))}`
  return { id: 'faults', title: 'What was found', count: faults.length, content }
}

function faultOf(match: ScanMatch, number: number, document: ScanDocument, { times, command }: View): Html {
  const { signature, severity, title, samples, remedy, explain } = match
  const id = html`fault-${number}`
  const quoted = samples.length === 0 ? html`` : html`<h4>From the log</h4>\n${blockOf(samples, inEnglish)}\n`
  const repair =
    remedy === null
      ? html`<p>Repair it by hand. This shows the steps:</p>\n`
      : html`${command(remedy)}<p>This says more about it:</p>\n`
  const details = [...matchDetails(match), ...matchPlaces(match, document)].map((it) => html`${it}`)
  return html`<article class="cause ${severity}" aria-labelledby="${id}">
<h3 id="${id}" tabindex="-1">${statusBadge(severity, inEnglish)} <code>${signature}</code></h3>
<p class="said">${sentence(title)}</p>
<h4>How often, and when</h4>
<p>${matchCounts(match)}, ${periodOf(match, times)}</p>
${listOf(details, inEnglish)}${quoted}<h4>What to do</h4>
${repair}${command(explain)}</article>
`
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}

function periodOf({ first, last, untimed, count }: ScanMatch, times: View['times']): Html {
  const unknown =
    untimed === 0 || first === undefined
      ? html``
      : html`; ${grouped(untimed)} of ${grouped(count)} lines without a time`
  if (first === undefined || last === undefined) return html`times unknown`
  return first === last ? html`${times(first)}${unknown}` : html`first ${times(first)}, last ${times(last)}${unknown}`
}

function timeLineOf({ matches, from, to, since = '', until = '9', timeZone }: ScanDocument): Section | null {
  if (from === undefined || to === undefined) return null
  const lanes = matches.flatMap(({ signature, rate: { counts } }) =>
    counts.length === 0
      ? []
      : [
          {
            name: signature,
            counts: 'line' as const,
            shape: 'circle' as const,
            items: counts.map(({ at, lines }) => ({ at, count: lines, message: signature })),
          },
        ],
  )
  const drawn =
    lanes.length === 0
      ? null
      : timeLine({ from: from > since ? from : since, to: to < until ? to : until, timeZone, lanes, say: inEnglish })
  return drawn === null ? null : { id: 'time', title: 'When it happened', content: drawn }
}

function calmOf({ matches }: ScanDocument, { times }: View): Section | null {
  const calm = matches.filter(({ severity }) => severity === 'info')
  if (calm.length === 0) return null
  const items = calm.map((match) => {
    const { signature, title, overBy } = match
    const over = overBy === undefined ? html`` : html` The service got the lock at ${times(overBy)}.`
    return html`<p>${statusBadge('info', inEnglish)} <code>${signature}</code></p>
<p>${sentence(title)} ${matchCounts(match)}, ${periodOf(match, times)}.${over}</p>
${listOf(
  matchDetails(match).map((it) => html`${it}`),
  inEnglish,
)}`
  })
  return { id: 'calm', title: 'Also found', count: calm.length, content: rowsOf(items, inEnglish, mostFiles) }
}

function readOf({ files }: ScanDocument, { times }: View): Section | null {
  if (files.length === 0) return null
  return {
    id: 'read',
    title: 'What was read',
    count: files.length,
    content: html`<table>
<thead><tr>
<th scope="col">Log</th><th scope="col" class="number">Lines</th>
<th scope="col" class="number">Size</th><th scope="col">Records</th>
</tr></thead>
<tbody>
${some(
  files,
  mostFiles,
  ({ name, lines, bytes, from, to }) => {
    const period = from === undefined || to === undefined ? html`&ndash;` : html`${times(from)} to ${times(to)}`
    const amount = html`<td class="number">${grouped(lines)}</td><td class="number">${size(bytes)}</td>`
    return html`<tr><th scope="row">${name}</th>${amount}<td>${period}</td></tr>\n`
  },
  (left) => html`<tr><td colspan="4" class="soft">${counted(left, 'more log')}</td></tr>\n`,
)}</tbody>
</table>`,
  }
}

function unreadOf({ unread }: ScanDocument, { command }: View): Section | null {
  if (unread.length === 0) return null
  const items = unread.map(
    ({ name, message, suggestions }) =>
      html`<p><strong>${name}</strong></p>\n<p>${message}</p>\n${suggestions.slice(0, 20).map((it) => command(it))}`,
  )
  return {
    id: 'unread',
    title: 'Not read completely',
    count: unread.length,
    content: rowsOf(items, inEnglish, mostFiles),
  }
}

function notesOf({ notes }: ScanDocument): Section | null {
  if (notes.length === 0) return null
  return {
    id: 'notes',
    title: 'Notes',
    content: listOf(
      notes.map(({ message }) => html`${sentence(message)}`),
      inEnglish,
    ),
  }
}
