import { counted, grouped, moment, momentIn, span } from '../../core/format.ts'
import type { Say } from '../../core/translation.ts'
import { html } from '../markup.ts'
import type { Html } from '../markup.ts'
import { clip, countOf } from '../text.ts'
import { shortened, some, timeText, timesIn, zoneBeside } from './page.ts'

/** Something that happened, at a time. */
interface Happening {
  /** ISO 8601 */
  at: string
  /** What happened, for people */
  message: string
  proof?: string
}

/** A row of the picture: marks for things that happened, or bars for how often something did. */
export interface Lane {
  name: string
  /** What is counted, in the singular; absent for marks */
  counts?: 'record' | 'line'
  shape: keyof typeof marks
  items: readonly (Happening & { count?: number })[]
}

interface TimeLine {
  /** ISO 8601 */
  from: string
  to: string
  timeZone: string | undefined
  lanes: readonly Lane[]
  say: Say
}

/** Shapes of marks around their middle, within 12 pixels */
const marks = {
  diamond: 'M0-6 6 0 0 6-6 0z',
  square: 'M-5-5H5V5H-5z',
  circle: 'M-5.5 0a5.5 5.5 0 1 0 11 0 5.5 5.5 0 1 0-11 0z',
  triangle: 'M0-6 6 5H-6z',
  cross: 'M-2-6h4v4h4v4h-4v4h-4v-4h-4v-4h4z',
} as const

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
const steps = [1, 2, 5, 10, 15, 30]
  .map((it) => it * minute)
  .concat([1, 2, 3, 6, 12].map((it) => it * hour))
  .concat([1, 2, 7, 30, 90, 365, 3650].map((it) => it * day))

const [mostBars, mostTicks, mostLanes, mostRows] = [96, 4, 16, 300]
const widestName = 42
/** Heights in pixels */
const [nameHeight, barsHeight, marksHeight, gap, axisLine] = [20, 28, 16, 10, 16]

/** Returns what happened as a picture, and as tables that say the same; null if the times cannot be read. */
export function timeLine({ from, to, timeZone, lanes, say }: TimeLine): Html | null {
  const [start, end] = [Date.parse(from), Date.parse(to)]
  if (Number.isNaN(start) || Number.isNaN(end) || start > end) return null
  const last = Math.max(end, start + minute)
  const width = steps.find((step) => (last - start) / step < mostBars) ?? last - start
  const counting = lanes.filter((it) => it.counts !== undefined)
  const happened = lanes
    .filter((it) => it.counts === undefined)
    .flatMap(({ name, items }) => items.map((it) => ({ name, ...it })))
  const zone = zoneBeside(timeZone)
  const times = timesIn(timeZone)
  const left = lanes.length - mostLanes
  const caption = [
    say(`${moment(new Date(start)).slice(0, -1)} to ${moment(new Date(end)).slice(0, -1)} UTC.`),
    ...(zone === null ? [] : [say(`The lower times are in ${zone}.`)]),
    ...(counting.length === 0 ? [] : [say(`A bar stands for ${span(width)}.`)]),
    ...(left > 0 ? [say(`${countOf(left, 'more row is', 'more rows are')} in the table alone.`)] : []),
  ]
  return html`<figure class="picture">
${pictureOf({ start, end: last, zone, width, lanes, say })}
<figcaption>${caption.join(' ')}</figcaption>
</figure>
<details>
<summary>${say('The time line as a table')}</summary>
${happened.length === 0 ? html`` : happenedTable(happened, times, say)}
${counting.length === 0 ? html`` : countedTable(counting, times, say)}
</details>`
}

interface Span {
  start: number
  end: number
  zone: string | null
}

type Picture = Span & Pick<TimeLine, 'lanes' | 'say'> & { width: number }

function pictureOf({ start, end, zone, width, lanes, say }: Picture): Html {
  let top = 0
  const shown = lanes.slice(0, mostLanes)
  const drawn = shown.map((lane) => {
    const height = lane.counts === undefined ? marksHeight : barsHeight
    const row = { top: top + nameHeight, height }
    top += nameHeight + height + gap
    const name = html`<text class="lane" x="0" y="${row.top - 7}">${nameOf(lane, say)}</text>`
    const bins = binned(lane.items, { start, end, width })
    const shapes = (lane.counts === undefined ? marksOf : barsOf)(lane, bins, row, { zone, say })
    const base = row.top + height
    return html`${name}${shapes}<line class="base" x1="0" x2="100%" y1="${base}" y2="${base}"/>\n`
  })
  const step = steps.find((it) => (end - start) / it <= mostTicks) ?? end - start
  const ticks = ticksOf(start, end, step)
  const names = shown.map((lane) => nameOf(lane, say)).join('; ')
  const title = `${say('Time line:')} ${names}. ${say('The table below says the same.')}`
  return html`<svg role="img" aria-label="${title}" height="${top + axisLine * (zone === null ? 1 : 2)}">
${ticks.map((at) => tickOf(at, { start, end, zone }, step, top))}${drawn}</svg>`
}

function nameOf({ name, counts, items }: Lane, say: Say): string {
  const total = items.reduce((sum, { count = 1 }) => sum + count, 0)
  return `${clip(shortened(name), widestName)}: ${counts === undefined ? grouped(total) : amountOf(total, counts, say)}`
}

function amountOf(count: number, of: NonNullable<Lane['counts']>, say: Say): string {
  return of === 'record' ? say(counted(count, 'record')) : say(counted(count, 'line'))
}

/** What falls into one stretch of the picture. */
interface Bin {
  /** Left edge, and width, in percent */
  left: number
  width: number
  start: Date
  count: number
  /** The earliest of what falls into it */
  first: Happening
}

function binned(
  items: Lane['items'],
  { start, end, width }: { start: number; end: number; width: number },
): readonly Bin[] {
  const bins = new Map<number, Bin>()
  for (const { count = 1, ...item } of items.toSorted(byTime)) {
    const moment = Date.parse(item.at)
    // a minute may begin before the picture does
    if (!(moment > start - width && moment <= end)) continue
    const index = Math.max(0, Math.floor((moment - start) / width))
    const bin = bins.get(index)
    if (bin) bin.count += count
    else bins.set(index, { ...placeOf(index, { start, end, width }), count, first: item })
  }
  return [...bins.values()]
}

function placeOf(
  index: number,
  { start, end, width }: { start: number; end: number; width: number },
): Pick<Bin, 'left' | 'width' | 'start'> {
  const percent = (ms: number): number => Number(((100 * ms) / (end - start)).toFixed(2))
  const left = index * width
  return { left: percent(left), width: percent(Math.min(width, end - start - left)), start: new Date(start + left) }
}

function byTime(one: Happening, other: Happening): number {
  return one.at < other.at ? -1 : one.at > other.at ? 1 : 0
}

type Times = (iso: string) => Html

interface Row {
  top: number
  height: number
}

type Said = Pick<Span, 'zone'> & Pick<TimeLine, 'say'>

function barsOf({ counts = 'record' }: Lane, bins: readonly Bin[], { top, height }: Row, { zone, say }: Said): Html {
  const most = bins.reduce((so, { count }) => Math.max(so, count), 1)
  return html`${bins.map(({ left, width, start, count }) => {
    const tall = Math.max(3, Math.round((height * count) / most))
    return html`<rect class="bar" x="${left}%" width="${width}%" y="${top + height - tall}" height="${
      tall
    }"><title>${timeText(start, zone)}: ${amountOf(count, counts, say)}</title></rect>`
  })}`
}

function marksOf({ shape }: Lane, bins: readonly Bin[], { top, height }: Row, { zone, say }: Said): Html {
  return html`${bins.map(({ left, width, count, first: { at, message } }) => {
    const said = `${shortened(message)}${count === 1 ? '' : `, ${say(`and ${count - 1} more`)}`}`
    return html`<svg x="${Number((left + width / 2).toFixed(2))}%" y="${
      top + height / 2
    }" width="1" height="1" overflow="visible"><path class="mark" d="${marks[shape]}"><title>${timeText(
      new Date(at),
      zone,
    )}: ${said}</title></path></svg>`
  })}`
}

/** Returns the round times within a span. */
function ticksOf(start: number, end: number, step: number): number[] {
  const first = Math.ceil(start / step) * step
  return Array.from({ length: Math.max(0, Math.floor((end - first) / step) + 1) }, (_, index) => first + index * step)
}

function tickOf(at: number, { start, end, zone }: Span, step: number, top: number): Html {
  const percent = (100 * (at - start)) / (end - start)
  const x = Number(percent.toFixed(2))
  const anchor = percent < 8 ? 'start' : percent > 92 ? 'end' : 'middle'
  const label = (text: string): string =>
    step >= day || text.slice(11, 16) === '00:00' ? text.slice(5, 10) : text.slice(11, 16)
  const line = (text: string, row: number): Html =>
    html`<text x="${x}%" y="${top + axisLine * row - 4}" text-anchor="${anchor}">${label(text)}</text>`
  const there = zone === null ? html`` : line(momentIn(new Date(at), zone), 2)
  const grid = html`<line class="grid" x1="${x}%" x2="${x}%" y1="0" y2="${top - gap}"/>`
  return html`${grid}${line(moment(new Date(at)), 1)}${there}\n`
}

function happenedTable(happened: readonly (Happening & { name: string })[], times: Times, say: Say): Html {
  const sorted = happened.toSorted(byTime)
  return html`<table>
<caption>${say('What happened')}</caption>
<thead><tr><th scope="col">${say('Time')}</th><th scope="col">${say('What')}</th></tr></thead>
<tbody>
${some(
  sorted,
  mostRows,
  ({ at, name, message, proof }) =>
    html`<tr><td>${times(at)}</td><td>${name}: ${shortened(message)}${
      proof === undefined ? html`` : html`<br><code>${shortened(proof)}</code>`
    }</td></tr>\n`,
  (left) =>
    html`<tr><td colspan="2" class="soft">${say(`${grouped(left)} more, later ones, are left out.`)}</td></tr>\n`,
)}</tbody>
</table>`
}

function countedTable(lanes: readonly Lane[], times: Times, say: Say): Html {
  return html`<table>
<caption>${say('In the log')}</caption>
<thead><tr>
<th scope="col">${say('What')}</th>
<th scope="col" class="number">${say('Number')}</th><th scope="col">${say('When')}</th>
</tr></thead>
<tbody>
${some(
  lanes,
  mostRows,
  ({ name, items }) => {
    const [first, last] = [items[0]?.at ?? '', items.at(-1)?.at ?? '']
    const most = items.reduce((so, { count = 1 }) => Math.max(so, count), 0)
    const busiest = items.find(({ count = 1 }) => count === most)?.at ?? ''
    const total = items.reduce((sum, { count = 1 }) => sum + count, 0)
    const period = first === last ? times(first) : html`${say('first')} ${times(first)}, ${say('last')} ${times(last)}`
    const peak = first === last ? html`` : html`<br>${say(`Most: ${grouped(most)} at`)} ${times(busiest)}`
    return html`<tr><th scope="row">${shortened(name)}</th><td class="number">${grouped(total)}</td><td>${period}${
      peak
    }</td></tr>\n`
  },
  (left) => html`<tr><td colspan="3" class="soft">${say(`${grouped(left)} more are left out.`)}</td></tr>\n`,
)}</tbody>
</table>`
}
