import { createHash } from 'node:crypto'
import { counted, grouped, moment, momentIn } from '../../core/format.ts'
import { isTimeZone } from '../../core/local-time.ts'
import type { Say } from '../../core/translation.ts'
import { Html, html } from '../markup.ts'
import { saying } from '../paint.ts'
import type { StatusWord } from '../paint.ts'
import { pageScript, pageStyle } from './style.ts'

/** A part of a page under a heading of its own, to which the page's contents lead. */
export interface Section {
  /** Unique on the page */
  id: string
  title: string
  /** How many it tells of, for its heading */
  count?: number
  content: Html
}

interface Page {
  /** Language of its headings; absent: English */
  language?: string | undefined
  say?: Say | undefined
  /** What the page is, above its heading */
  kind: string
  name: string
  /** What the result is made of */
  verdict: Html
  status: StatusWord
  /** The result in a few words */
  headline: string
  facts: readonly (readonly [name: string, value: Html | string])[]
  sections: readonly Section[]
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Returns a page that is one file: it loads nothing, runs its own script alone, and can be read without it. */
export function htmlPage({ kind, name, verdict, status, headline, facts, sections, ...spoken }: Page): string {
  const say = saying(spoken)
  const policy =
    `default-src 'none'; style-src ${hashOf(pageStyle)}; script-src ${hashOf(pageScript)}; ` +
    `base-uri 'none'; form-action 'none'`
  const { html: text } = html`<!doctype html>
<html lang="${spoken.language ?? 'en'}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${own(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${`${name}: ${headline}`}</title>
<style>${own(pageStyle)}</style>
</head>
<body>
<a class="skip" href="#result">${say('Skip to the result')}</a>
${own(symbols)}
<header>
<p class="kicker">${kind}</p>
<h1>${name}</h1>
<div class="verdict ${status}">${signOf(status)}<p><strong>${headline}</strong> ${verdict}</p></div>
<dl class="facts">
${facts.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>\n`)}</dl>
</header>
<nav aria-label="${say('On this page')}">
<ul>
${sections.map(({ id, title, count }) => html`<li><a href="#${id}">${title}</a>${countText(count)}</li>\n`)}</ul>
</nav>
<main id="result" tabindex="-1">
${sections.map(sectionOf)}</main>
<footer>
<p>${say('Made by testops-admin. This page loads nothing from a network, and secrets were removed from it.')}</p>
${heardLine(say)}
</footer>
<script>${own(pageScript)}</script>
</body>
</html>
`
  return text
}

/** What the script says once a command is copied, and on its button: the script itself has no words. */
function heardLine(say: Say): Html {
  const words = {
    copied: say('Command copied'),
    selected: say('Command selected: copy it with your keyboard'),
    'copied-button': say('Copied'),
    'selected-button': say('Selected'),
  }
  const data = Object.entries(words).map(([name, text]) => html` data-${name}="${text}"`)
  return html`<p id="heard" class="heard" role="status"${data}></p>`
}

/** Marks a text of this program's own as HTML. */
const own = (text: string): Html => new Html(text)

function sectionOf({ id, title, count, content }: Section): Html {
  return html`<section aria-labelledby="${id}">
<h2 id="${id}" tabindex="-1">${title}${countText(count)}</h2>
${content}
</section>
`
}

function countText(count: number | undefined): Html {
  return count === undefined ? html`` : html` <span class="count">(${grouped(count)})</span>`
}

/** Shapes that differ without colour, too */
const shapes: Readonly<Record<StatusWord | 'info', string>> = {
  ok: '<circle cx="12" cy="12" r="10"/><path d="m7.5 12.5 3 3 6-7"/>',
  warning: '<path d="M12 3 1.5 21h21z"/><path d="M12 10v5m0 3v.01"/>',
  error: '<path d="M8 2h8l6 6v8l-6 6H8l-6-6V8z"/><path d="m9 9 6 6m0-6-6 6"/>',
  skipped: '<circle cx="12" cy="12" r="10" stroke-dasharray="3 3"/><path d="M8 12h8"/>',
  unknown: '<circle cx="12" cy="12" r="10"/><path d="M9 9.5a3 3 0 1 1 4 2.8c-.7.3-1 .8-1 1.7m0 3v.01"/>',
  info: '<circle cx="12" cy="12" r="10"/><path d="M12 11v6m0-10v.01"/>',
}

const symbols = `<svg hidden>${Object.entries(shapes)
  .map(([name, shape]) => `<symbol id="sign-${name}" viewBox="0 0 24 24">${shape}</symbol>`)
  .join('')}</svg>`

function signOf(status: StatusWord | 'info'): Html {
  return html`<svg class="sign ${status}" aria-hidden="true"><use href="#sign-${status}"/></svg>`
}

/** Returns a status as a shape and a word. */
export function statusBadge(status: StatusWord | 'info', say: Say): Html {
  const words: Readonly<Record<StatusWord | 'info', string>> = {
    ok: say('OK'),
    warning: say('Warning'),
    error: say('Problem'),
    skipped: say('Skipped'),
    unknown: say('Unknown'),
    info: say('No problem'),
  }
  return html`<span class="word ${status}">${signOf(status)} ${words[status]}</span>`
}

/** Cuts a text that stands in a long list. */
export function shortened(text: string, most = 300): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}

/** Returns each item that the page has room for, and a sentence about the others. */
export function some<T>(items: readonly T[], most: number, made: (item: T, index: number) => Html, rest: Rest): Html {
  const left = items.length - most
  const shown = items.slice(0, most).map(made)
  return left > 0 ? html`${shown}${rest(left)}` : html`${shown}`
}

/** Says how many are left out. */
type Rest = (left: number) => Html

/** Returns a list of texts; without texts, nothing. */
export function listOf(items: readonly Html[], say: Say, most = 100): Html {
  if (items.length === 0) return html``
  return html`<ul class="plain">
${some(
  items,
  most,
  (it) => html`<li>${it}</li>\n`,
  (left) => html`<li class="soft">${say(`${grouped(left)} more`)}</li>\n`,
)}</ul>`
}

/** Returns a list of longer items, a line between each two. */
export function rowsOf(items: readonly Html[], say: Say, most: number): Html {
  return html`<ul class="rows">
${some(
  items,
  most,
  (it) => html`<li>${it}</li>\n`,
  (left) => html`<li class="soft">${say(`${grouped(left)} more`)}</li>\n`,
)}</ul>`
}

/** Lines of evidence that are shown of one finding */
const mostLines = 60

/** Returns texts from outside as a block. Further lines of a text are indented: they do not pass for another text. */
export function blockOf(texts: readonly string[], say: Say): Html {
  const lines = texts.flatMap((text) => text.split(/\r?\n/).map((it, at) => (at === 0 ? it : `  ${it}`)))
  const rest: Rest = (left) => html`<span class="line">&hellip; ${say(counted(left, 'more line'))}\n</span>`
  return html`<pre><code>${some(lines, mostLines, (it) => html`<span class="line">${it}\n</span>`, rest)}</code></pre>`
}

/** Maximum characters of a command that is shown: a part of one must not be copied */
const longestCommand = 2000
/** What stands before a comment that says where a command is typed, or what it does */
const comment = '   # '

/** Numbers the commands of one page, for their buttons. */
export function commands(say: Say): (command: string) => Html {
  let count = 0
  return (typed) => {
    const [before = '', ...more] = typed.split(comment)
    const note = more.join(comment)
    // otherwise the mark may stand within a quoted word
    const isNoted = note !== '' && !/['"]/.test(note)
    const text = isNoted ? before : typed
    if (text.startsWith('#')) return html`<p class="soft">${text.replace(/^#+\s*/, '')}</p>\n`
    if (text.length > longestCommand)
      return html`<p class="soft">${say(`A command of ${grouped(text.length)} characters is left out.`)}</p>\n`
    count += 1
    const id = html`command-${count}`
    return html`<div class="command"><pre><code id="${id}">${text}</code>${
      isNoted ? html`<span class="soft">${note}</span>` : html``
    }</pre><button type="button" data-copy="${id}" aria-describedby="${id}" hidden>${say('Copy')}</button></div>\n`
  }
}

/** Returns a function that shows a time in UTC, and in that zone if it is another. */
export function timesIn(timeZone: string | undefined): (iso: string) => Html {
  const zone = zoneBeside(timeZone)
  return (iso) => {
    const at = new Date(iso)
    if (Number.isNaN(at.getTime())) return html`${iso}`
    return html`<time datetime="${at.toISOString()}">${utcText(at)}</time>${besideUtc(at, zone)}`
  }
}

/** Returns the same as text, for a tooltip. */
export function timeText(at: Date, zone: string | null): string {
  return `${utcText(at)}${besideUtc(at, zone)}`
}

const utcText = (at: Date): string => `${moment(at).slice(0, -1)} UTC`

function besideUtc(at: Date, zone: string | null): string {
  if (zone === null) return ''
  const there = momentIn(at, zone)
  return ` (${there.slice(0, 10) === at.toISOString().slice(0, 10) ? there.slice(11) : there} ${zone})`
}

/** Returns a zone if its times are to be shown beside those in UTC. */
export function zoneBeside(timeZone: string | undefined): string | null {
  return timeZone === undefined || timeZone === 'UTC' || !isTimeZone(timeZone) ? null : timeZone
}
