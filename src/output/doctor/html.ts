import type { CheckReport, DeploymentEvent, DoctorReport, EventKind, Finding, Remedy } from '../../core/check.ts'
import { grouped } from '../../core/format.ts'
import { own } from '../../core/lookup.ts'
import { typedHere } from '../error-text.ts'
import { blockOf, commands, htmlPage, listOf, rowsOf, some, statusBadge, timesIn } from '../html/page.ts'
import type { Section } from '../html/page.ts'
import { timeLine } from '../html/time-line.ts'
import type { Lane } from '../html/time-line.ts'
import { html } from '../markup.ts'
import type { Html } from '../markup.ts'
import type { Say } from '../../core/translation.ts'
import { oneLine, saying, statusWord } from '../paint.ts'
import type { StatusWord } from '../paint.ts'
import { countOf } from '../text.ts'
import type { FormatView } from './formats.ts'
import { isJudged, lotsOf, remedyOf, suppressionText, tell } from './verdict.ts'
import type { Story } from './verdict.ts'

type Told = ReturnType<typeof tell>

/** What the parts of a page share. */
interface View {
  say: Say
  /** True for a language in which titles say more than what was found */
  areTitlesShown: boolean
  times: (iso: string) => Html
  command: (typed: string) => Html
  kinds: Kinds
}

/** Maximum number of each kind that is shown; the others are counted */
const most = { stories: 200, findings: 20, commands: 20, checks: 200, changes: 50, lanes: 40 } as const
/** Characters after which a cause is shown without its evidence, commands and consequences */
const mostWhole = 4_000_000

/** Returns the report as one HTML page, for a ticket or a mail: it loads nothing, and needs no script to be read. */
export function doctorHtml(report: DoctorReport, { exitCode, ...spoken }: FormatView): string {
  const told = tell(report)
  const say = saying(spoken)
  const times = timesIn(report.timeZone)
  const view = { say, areTitlesShown: spoken.say !== undefined, times, command: commands(say), kinds: kindsIn(say) }
  return htmlPage({
    ...spoken,
    kind: say('Diagnosis of a deployment'),
    name: report.deployment,
    status: statusOf(told),
    headline: headlineOf(told, say),
    verdict: verdictOf(told, say),
    facts: factsOf(report, exitCode, view),
    sections: [
      causesOf(told, view),
      timeLineOf(report, view),
      partsOf(report, view),
      unknownOf(told, view),
      skippedOf(told, view),
      suppressedOf(told, view),
      healthyOf(told, view),
    ].flatMap((it) => it ?? []),
  })
}

function statusOf({ all, stories, unknown }: Told): StatusWord {
  if (!isJudged({ checks: all })) return 'skipped'
  if (stories.some(({ root }) => root.severity === 'error')) return 'error'
  if (stories.length > 0) return 'warning'
  return unknown.length > 0 ? 'unknown' : 'ok'
}

function headlineOf({ all, stories, unknown }: Told, say: Say): string {
  if (!isJudged({ checks: all })) return say('Nothing was examined')
  const errors = stories.filter(({ root }) => root.severity === 'error').length
  const warnings = stories.length - errors
  const found = [
    errors > 0 ? say(countOf(errors, 'problem')) : '',
    warnings > 0 ? say(countOf(warnings, 'warning')) : '',
  ].filter(Boolean)
  if (found.length > 0) return found.join(', ')
  return unknown.length > 0 ? say('No problem found, but not everything could be checked') : say('Healthy')
}

/** Returns the causes, with links to them, or how many checks are ok. */
function verdictOf({ stories, unknown, skipped, suppressed, ok }: Told, say: Say): Html {
  const parts = [
    ...(stories.length === 0 ? [html`${say(`${ok.length} ok`)}`] : []),
    ...stories.slice(0, 10).map(({ root }, at) => html`<a href="#cause-${at + 1}">${root.id}</a>`),
    ...(stories.length > 10 ? [html`${say(`${stories.length - 10} more`)}`] : []),
    ...(unknown.length > 0 ? [html`${say(`${countOf(unknown.length, 'check')} could not be judged`)}`] : []),
    ...(stories.length === 0 && skipped.length > 0 ? [html`${say(`${skipped.length} skipped`)}`] : []),
    ...(suppressed.length > 0 ? [html`${say(`${suppressed.length} suppressed`)}`] : []),
  ]
  return html`${parts.map((it, at) => (at === 0 ? it : html`, ${it}`))}`
}

type Fact = readonly [name: string, value: Html | string]

function factsOf(
  { startedAt, durationMs, platform, build, checks, found }: DoctorReport,
  exitCode: number,
  { times, say }: View,
): Fact[] {
  return [
    [say('Checked at'), times(startedAt)],
    [say('Platform'), platform],
    ...(build === null ? [] : [[say('Build'), build] as const]),
    [say('Extent'), say(`${countOf(checks.length, 'check')} in ${(durationMs / 1000).toFixed(1)} s`)],
    [say('Exit code of doctor'), String(exitCode)],
    ...(found === undefined ? [] : [[say('Found without a configuration'), found] as const]),
  ]
}

function causesOf({ stories }: Told, view: View): Section | null {
  if (stories.length === 0) return null
  const { say } = view
  let room = mostWhole
  const content = some(
    stories,
    most.stories,
    (story, at) => {
      const shown = room > 0 ? causeOf(story, at + 1, view) : causeInBrief(story, at + 1, view)
      room -= shown.html.length
      return shown
    },
    (left) => html`<p class="soft">${say(`${grouped(left)} more causes are left out.`)}</p>\n`,
  )
  return { id: 'causes', title: say('What is wrong'), count: stories.length, content }
}

function causeOf({ root, explained, unjudged }: Story, number: number, view: View): Html {
  const { say } = view
  const { text, commands: typed } = remedyOf(root, say)
  const { risk, undo, lacks, grant = [] } = root.remedy ?? {}
  const findings = root.findings ?? []
  const found = some(
    findings,
    most.findings,
    (it) => findingOf(it, findings.length === 1, say),
    (left) => html`<p class="soft">${say(`${countOf(left, 'more finding is', 'more findings are')} left out.`)}</p>\n`,
  )
  return article(
    root,
    number,
    view,
    html`${found}${beganOf(root, view)}<h4>${say('What to do')}</h4>
<p>${text}</p>
${commandsOf(typed.map(typedHere), view)}${
  lacks === undefined ? html`` : html`<p>${say('Missing right:')} ${lacks}</p>\n${commandsOf(grant, view)}`
}${risk === undefined ? html`` : html`<p>${say('Risk:')} ${risk}</p>\n`}${
  undo === undefined ? html`` : html`<h4>${say('Undo')}</h4>\n${view.command(typedHere(undo))}`
}${explained.length === 0 ? html`` : html`<h4>${say('Consequences')}</h4>\n${listOf(explained.map(lineOf), say)}\n`}${
  unjudged.length === 0
    ? html``
    : html`<h4>${say('Could not be checked because of it')}</h4>\n<p>${codes(unjudged.map(({ id }) => id))}</p>\n`
}`,
  )
}

function causeInBrief({ root }: Story, number: number, view: View): Html {
  const { say } = view
  const rest = say('The evidence, the commands and the consequences are left out: the page would be too large.')
  return article(
    root,
    number,
    view,
    html`<p class="said">${oneLine(root)}</p>
<h4>${say('What to do')}</h4>
<p>${remedyOf(root, say).text}</p>
<p class="soft">${rest}</p>
`,
  )
}

function article(root: CheckReport, number: number, { say, areTitlesShown }: View, content: Html): Html {
  const id = html`cause-${number}`
  return html`<article class="cause ${statusWord(root)}" aria-labelledby="${id}">
<h3 id="${id}" tabindex="-1">${statusBadge(statusWord(root), say)} <code>${root.id}</code></h3>
${areTitlesShown ? html`<p>${say(`Should be: ${root.title}.`)}</p>\n` : html``}${content}</article>
`
}

const lineOf = (check: CheckReport): Html => html`<code>${check.id}</code>: ${oneLine(check)}`

function findingOf({ message, evidence }: Finding, isOnly: boolean, say: Say): Html {
  const head = isOnly ? html`<h4>${say('Evidence')}</h4>\n` : html``
  return html`<p class="said">${message}</p>
${evidence.length === 0 ? html`` : html`${head}${blockOf(evidence, say)}\n`}`
}

function commandsOf(typed: Remedy['commands'], { command, say }: View): Html {
  return some(
    typed,
    most.commands,
    (it) => command(it),
    (left) => html`<p class="soft">${say(`${countOf(left, 'more command is', 'more commands are')} left out.`)}</p>\n`,
  )
}

function beganOf({ began, changes }: CheckReport, { times, say, kinds }: View): Html {
  const since = began === undefined ? html`` : html`<h4>${say('First sign')}</h4>\n<p>${times(began)}</p>\n`
  if (changes === undefined) return since
  const when = began === undefined ? 'last 24 hours' : '24 hours before'
  const before = html`<h4>${say(`What changed in the ${when}`)}</h4>\n`
  if (changes.length === 0) return html`${since}${before}<p>${say('No change is known.')}</p>\n`
  const items = changes.map(
    ({ at, kind, message, proof }) =>
      html`${times(at)}: ${own(kinds, kind)?.name ?? kind}: ${message}${
        proof === undefined ? html`` : html`<br><code>${proof}</code>`
      }`,
  )
  return html`${since}${before}${listOf(items, say, most.changes)}\n`
}

type Kinds = Readonly<Record<Exclude<EventKind, 'log'>, Pick<Lane, 'name' | 'shape'>>>

/** Returns each kind of event, in the order of display. */
function kindsIn(say: Say): Kinds {
  return {
    rollout: { name: say('Rollout'), shape: 'triangle' },
    image: { name: say('Image'), shape: 'square' },
    setting: { name: say('Setting'), shape: 'diamond' },
    repair: { name: say('Repair'), shape: 'cross' },
    lock: { name: say('Change-log lock'), shape: 'square' },
    restart: { name: say('Restart'), shape: 'circle' },
    node: { name: say('Node'), shape: 'triangle' },
    clock: { name: say('Clock'), shape: 'diamond' },
    disk: { name: say('Disk'), shape: 'square' },
  }
}

function timeLineOf({ events, timeZone, checks }: DoctorReport, { times, say, kinds }: View): Section | null {
  if (events === undefined) return null
  const { from, to, list, unseen } = events
  const lanes = [...beginnings(checks, say), ...lanesOf(list, kinds, say)]
  const drawn = lanes.length === 0 ? null : timeLine({ from, to, timeZone, lanes, say })
  const none = html`<p>${say('Nothing is on record from')} ${times(from)} ${say('to')} ${times(to)}.</p>\n`
  return {
    id: 'time',
    title: say('What happened before'),
    content: html`${lanes.length === 0 ? none : (drawn ?? html``)}${
      unseen.length === 0
        ? html``
        : html`<h3>${say('Could not be asked')}</h3>\n${listOf(
            unseen.map((it) => html`${it}`),
            say,
          )}`
    }`,
  }
}

function beginnings(checks: readonly CheckReport[], say: Say): Lane[] {
  const items = checks.flatMap(({ id, began }) => (began === undefined ? [] : [{ at: began, message: id }]))
  return items.length === 0 ? [] : [{ name: say('First sign'), shape: 'triangle', items }]
}

function lanesOf(list: readonly DeploymentEvent[], kinds: Kinds, say: Say): Lane[] {
  const changes = Object.entries(kinds).flatMap(([kind, { name, shape }]) => {
    const items = list.filter((it) => it.kind === kind)
    return items.length === 0 ? [] : [{ name, shape, items }]
  })
  const logs = new Map<string, DeploymentEvent[]>()
  for (const it of list.filter(({ kind }) => kind === 'log')) {
    const name = logs.size < most.lanes || logs.has(it.message) ? it.message : say('Other log messages')
    const items = logs.get(name)
    if (items) items.push(it)
    else logs.set(name, [it])
  }
  return [
    ...changes,
    ...[...logs].map(([name, items]) => ({ name, counts: 'record', shape: 'circle', items }) as const),
  ]
}

const worstFirst: readonly StatusWord[] = ['error', 'warning', 'unknown', 'ok', 'skipped']

function partsOf({ checks }: DoctorReport, { say }: View): Section {
  const partNames: Readonly<Record<string, string>> = {
    database: say('Database'),
    broker: say('Broker'),
    sessions: say('Session store'),
    service: say('Service'),
    api: 'API',
    trees: say('Trees'),
    integrations: say('Integrations'),
  }
  const words: Readonly<Record<StatusWord, (count: number) => string>> = {
    error: (count) => say(`${count} problem`),
    warning: (count) => say(`${count} warning`),
    unknown: (count) => say(`${count} unknown`),
    ok: (count) => say(`${count} ok`),
    skipped: (count) => say(`${count} skipped`),
  }
  const parts = new Map<string, CheckReport[]>()
  for (const check of checks.slice(0, most.checks)) {
    const [group = check.id] = check.id.split('/')
    const part = parts.get(group)
    if (part) part.push(check)
    else parts.set(group, [check])
  }
  return {
    id: 'parts',
    title: say('State of each part'),
    content: html`<table>
<thead><tr>${[say('Part'), say('State'), say('Checks')].map((it) => html`<th scope="col">${it}</th>`)}</tr></thead>
<tbody>
${[...parts].map(([group, of]) => {
  const statuses = of.map(statusWord)
  const counts = worstFirst.flatMap((word) => {
    const count = statuses.filter((it) => it === word).length
    return count === 0 ? [] : [words[word](count)]
  })
  const status = worstFirst.find((it) => statuses.includes(it)) ?? 'ok'
  const name = Object.hasOwn(partNames, group) ? partNames[group]! : group
  return html`<tr><th scope="row">${name}</th><td>${statusBadge(status, say)}${
    blamed(of, say) ?? ''
  }</td><td>${counts.join(', ')}</td></tr>\n`
})}</tbody>
</table>`,
  }
}

/** Returns the cause of what is wrong with a part, if it lies in other parts alone. */
function blamed(checks: readonly CheckReport[], say: Say): Html | null {
  const wrong = checks.filter(({ status }) => status === 'problem')
  const because = [...new Set(wrong.flatMap((it) => it.because ?? []))]
  if (because.length === 0 || wrong.some((it) => it.because === undefined)) return null
  return html` <span class="soft">${say(`because of ${because.slice(0, 3).join(', ')}`)}</span>`
}

function unknownOf({ unknown, all }: Told, view: View): Section | null {
  if (unknown.length === 0) return null
  const items = lotsOf(unknown, ({ error }) => error, all).map(({ check: { error }, names }) => {
    const { message = view.say('no reason was given'), suggestions = [] } = error ?? {}
    const typed = suggestions.map(typedHere)
    return html`<p>${codes(names)}</p>
<p>${message}</p>
${suggestions
  .slice(0, most.commands)
  // a sentence names settings in backticks
  .map((it, at) => (it.includes('`') ? html`<p>${it}</p>\n` : view.command(typed[at]!)))}`
  })
  return {
    id: 'unknown',
    title: view.say('Could not be determined'),
    count: unknown.length,
    content: rowsOf(items, view.say, most.checks),
  }
}

function codes(names: readonly string[]): Html {
  return html`${names.slice(0, most.checks).map((it, at) => html`${at === 0 ? '' : ', '}<code>${it}</code>`)}`
}

function skippedOf({ skipped, all }: Told, { say }: View): Section | null {
  if (skipped.length === 0) return null
  const items = lotsOf(skipped, ({ reason }) => reason, all).map(
    ({ check: { reason = '' }, names }) => html`<p>${codes(names)}</p>\n<p>${reason}</p>\n`,
  )
  return { id: 'skipped', title: say('Skipped'), count: skipped.length, content: rowsOf(items, say, most.checks) }
}

/** Problems that the configuration ignores, with what was found. */
function suppressedOf({ suppressed }: Told, { say }: View): Section | null {
  if (suppressed.length === 0) return null
  const items = suppressed.map(
    (check) =>
      html`<p><code>${check.id}</code></p>\n<p>${suppressionText(check, say)}</p>\n${(
        check.suppressed?.findings ?? []
      ).map(({ message }) => html`<p>${message}</p>\n`)}`,
  )
  return {
    id: 'suppressed',
    title: say('Suppressed'),
    count: suppressed.length,
    content: rowsOf(items, say, most.checks),
  }
}

function healthyOf({ ok }: Told, { say, areTitlesShown }: View): Section | null {
  if (ok.length === 0) return null
  const items = ok.map(({ id, title, detail = '' }) => {
    const said = areTitlesShown ? html`<p>${title}</p>\n` : html``
    return html`<p><code>${id}</code></p>\n${said}<p>${detail}</p>\n`
  })
  return { id: 'healthy', title: say('Healthy'), count: ok.length, content: rowsOf(items, say, most.checks) }
}
