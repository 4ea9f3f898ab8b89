import type { CheckReport, DoctorReport } from '../../core/check.ts'
import { momentIn } from '../../core/format.ts'
import { harmless } from '../../core/harmless.ts'
import { isTimeZone } from '../../core/local-time.ts'
import { typedHere } from '../error-text.ts'
import { markdownBlock, markdownCode, markdownText, xmlElement, xmlText } from '../markup.ts'
import type { Say } from '../../core/translation.ts'
import { oneLine, saying, statusWord } from '../paint.ts'
import type { StatusWord } from '../paint.ts'
import { countOf, printable } from '../text.ts'
import { isExamined } from './fleet.ts'
import type { Examined } from './fleet.ts'
import { changesTold, remedyOf, summary, suppressionText, tell } from './verdict.ts'
import type { Story } from './verdict.ts'

/** What a document says beside the report. */
export interface FormatView {
  exitCode: number
  /** True if warnings, and what could not be checked, count as failures */
  areWarningsFailures: boolean
  /** The language of a page or of Markdown, besides English; formats for programs are English */
  language?: string | undefined
  say?: Say | undefined
}

/** Returns the report as JUnit XML, for build servers: a test case for each check. */
export function doctorJunit(report: DoctorReport, { areWarningsFailures }: FormatView): string {
  const { deployment, startedAt, durationMs, checks, summary: counts } = report
  const isFailure = (check: CheckReport): boolean =>
    check.status === 'problem' && (check.severity === 'error' || areWarningsFailures)
  const isError = ({ status }: CheckReport): boolean => status === 'unknown' && areWarningsFailures
  const suite = {
    name: `doctor ${printable(deployment)}`,
    tests: checks.length,
    failures: checks.filter(isFailure).length,
    errors: checks.filter(isError).length,
    skipped: counts.skipped,
    time: seconds(durationMs),
    timestamp: startedAt.slice(0, 19),
  }
  const cases = checks.map((check) => `\n${caseOf(check, isFailure(check) || isError(check))}`)
  const about = xmlElement('properties', {}, [
    xmlElement('property', { name: 'suppressed', value: counts.suppressed ?? 0 }),
  ])
  const content = xmlElement('testsuite', suite, [`\n${about}`, ...cases, '\n'])
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${content}\n</testsuites>\n`
}

function caseOf(check: CheckReport, isFailure: boolean): string {
  const { id, status, severity = 'error', detail = '', because, error } = check
  const message = oneLine(check)
  const told = xmlText(
    [...(because === undefined ? [] : [`because of ${because}`]), ...detailsOf(check)].map(line).join(''),
  )
  const inner = {
    ok: () => xmlElement('system-out', {}, [xmlText(printable(detail))]),
    skipped: () => xmlElement('skipped', { message }),
    unknown: () =>
      isFailure
        ? xmlElement('error', { message, type: error?.code ?? 'unknown' }, [told])
        : xmlElement('system-out', {}, [told]),
    problem: () =>
      isFailure ? xmlElement('failure', { message, type: severity }, [told]) : xmlElement('system-out', {}, [told]),
  }[status]()
  const attributes = { classname: id.split('/')[0] ?? id, name: id, time: seconds(check.durationMs) }
  return xmlElement('testcase', attributes, [inner])
}

const line = (text: string): string => `${printable(text)}\n`

/** What was found, its evidence, and what to do. */
function detailsOf(check: CheckReport): string[] {
  const found = (check.findings ?? []).flatMap(({ message, evidence }) => [
    message,
    ...evidence.flatMap((text) => text.split(/\r?\n/).map((line) => `  ${line}`)),
  ])
  if (check.status === 'unknown')
    return [check.error?.message ?? '', ...(check.error?.suggestions ?? []).map(typedHere)]
  if (check.because !== undefined) return found
  const { text, commands } = remedyOf(check)
  const { head, lines } = changesTold(check) ?? { head: null, lines: [] }
  const changes =
    head === null ? [] : [head, ...lines.map(({ at, message }) => `  ${at === '' ? '' : `${at} `}${message}`)]
  const { lacks, grant = [] } = check.remedy ?? {}
  const missing = lacks === undefined ? [] : [`Missing right: ${lacks}`, ...grant.map((it) => `  ${it}`)]
  return [...found, ...changes, text, ...commands.map((it) => `  ${typedHere(it)}`), ...missing]
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3)

/** Returns the report as Markdown, for a ticket: its time in UTC, and in the service's zone if that is another. */
export function doctorMarkdown(report: DoctorReport, view: FormatView): string {
  const { deployment, platform, build, durationMs, checks } = report
  const told = tell(report)
  const say = saying(view)
  const about = build === null ? platform : say(`${platform}, build ${build}`)
  const healthy =
    view.say === undefined
      ? `${told.ok.map(({ id }) => markdownCode(id)).join(', ')}.`
      : listed(told.ok, ({ title }) => title)
  return `${[
    `## ${markdownText(deployment)}: ${markdownText(summary(told, say))}`,
    `${markdownText(about)}. ${say(`${countOf(checks.length, 'check')} in ${(durationMs / 1000).toFixed(1)} s`)}, ` +
      `${timesOf(report)}. ${say(`Exit code ${view.exitCode}.`)}`,
    ...(report.found === undefined ? [] : [say(`Found without a configuration: ${markdownText(report.found)}`)]),
    ...told.stories.map((story, at) => storyOf(story, told.stories[at - 1]?.root, view)),
    ...(told.stories.length === 0 ? [] : (report.events?.unseen ?? [])).map((why) =>
      say(`Some changes could not be looked up: ${markdownText(why)}`),
    ),
    ...(told.unknown.length === 0
      ? []
      : [`### ${say('Could not be determined')}`, told.unknown.map(unknownOf).join('\n\n')]),
    ...(told.skipped.length === 0 ? [] : [`### ${say('Skipped')}`, listed(told.skipped, (it) => it.reason ?? '')]),
    ...(told.suppressed.length === 0
      ? []
      : [
          `### ${say('Suppressed')}`,
          listed(told.suppressed, (it) => `${suppressionText(it, say)}. ${findingsOf(it)}`),
        ]),
    `### ${say('Healthy')}`,
    told.ok.length === 0 ? say('No check is ok.') : healthy,
  ].join('\n\n')}\n`
}

const findingsOf = ({ suppressed }: CheckReport): string =>
  (suppressed?.findings ?? []).map(({ message }) => message).join('; ')

function timesOf({ startedAt, timeZone }: DoctorReport): string {
  const utc = `${startedAt.slice(0, 16).replace('T', ' ')} UTC`
  if (timeZone === undefined || timeZone === 'UTC' || !isTimeZone(timeZone)) return utc
  return `${utc} (${momentIn(new Date(startedAt), timeZone).slice(0, 16)} ${markdownText(timeZone)})`
}

function unknownOf({ id, error }: CheckReport): string {
  const { message = '', suggestions = [] } = error ?? {}
  const item = `- ${markdownCode(id)}: ${markdownText(message)}`
  return suggestions.length === 0 ? item : `${item}\n\n${markdownBlock(suggestions.map(typedHere))}`
}

function storyOf({ root, explained, unjudged }: Story, before: CheckReport | undefined, view: FormatView): string {
  const say = saying(view)
  const changes = changesTold(root, before, say)
  const evidence = (root.findings ?? []).flatMap(({ message, evidence: lines }) => [
    markdownText(message),
    ...(lines.length === 0 ? [] : [markdownBlock(lines)]),
  ])
  const { text, commands } = remedyOf(root, say)
  return [
    `### ${root.severity === 'error' ? say('Problem') : say('Warning')}: ${markdownCode(root.id)}`,
    ...(view.say === undefined ? [] : [say(`Should be: ${markdownText(root.title)}.`)]),
    ...evidence,
    ...(explained.length === 0 ? [] : [`${say('Consequences:')}\n\n${listed(explained, oneLine)}`]),
    ...(unjudged.length === 0
      ? []
      : [`${say('Blocked checks:')} ${unjudged.map(({ id }) => markdownCode(id)).join(', ')}`]),
    ...(changes === null ? [] : [[changes.head, ...listOf(changes.lines)].join('\n\n')]),
    `**${say('Repair:')}** ${markdownText(text)}`,
    ...(commands.length === 0 ? [] : [markdownBlock(commands.map(typedHere))]),
    ...(root.remedy?.lacks === undefined ? [] : [`**${say('Missing right:')}** ${markdownText(root.remedy.lacks)}`]),
    ...(root.remedy?.grant?.length ? [markdownBlock(root.remedy.grant)] : []),
    ...(root.remedy?.risk === undefined ? [] : [`**${say('Risk:')}** ${markdownText(root.remedy.risk)}`]),
    ...(root.remedy?.undo === undefined
      ? []
      : [`**${say('Undo:')}**\n\n${markdownBlock([typedHere(root.remedy.undo)])}`]),
  ].join('\n\n')
}

const listOf = (lines: readonly { at: string; message: string }[]): string[] =>
  lines.length === 0
    ? []
    : [lines.map(({ at, message }) => `- ${at === '' ? '' : `${at} `}${markdownText(message)}`).join('\n')]

function listed(checks: readonly CheckReport[], what: (check: CheckReport) => string): string {
  return checks.map((it) => `- ${markdownCode(it.id)}: ${markdownText(what(it))}`).join('\n')
}

const words: readonly StatusWord[] = ['ok', 'warning', 'error', 'skipped', 'unknown']

/**
 * Returns the report in Prometheus' text format, for the node exporter's textfile collector. Names of metrics and
 * labels stay as they are: dashboards and alerts name them.
 */
export function doctorPrometheus(report: DoctorReport, { exitCode }: FormatView): string {
  return fleetPrometheus([{ result: report, exitCode }])
}

type Sample = readonly [Readonly<Record<string, string>>, number]

/**
 * Does the same for several deployments; one that was not examined has its exit code alone. One that has none of the
 * checks has only their numbers, which are 0: an exit code of 0 would say that it is healthy, and a time that it was
 * examined.
 */
export function fleetPrometheus(examined: readonly Examined[]): string {
  const all = examined.flatMap(({ result }) => (isExamined(result) ? [result] : []))
  const reports = all.filter(({ checks }) => checks.length > 0)
  const each = (samples: (report: DoctorReport, own: { deployment: string }) => readonly Sample[]): Sample[] =>
    reports.flatMap((report) => samples(report, { deployment: report.deployment }))
  return [
    metric(
      'exit_code',
      'Exit code of doctor: 0 healthy, 1 problem, 2 warnings only, 3 not all could be checked.',
      examined
        .filter(({ result }) => !isExamined(result) || result.checks.length > 0)
        .map(({ result: { deployment }, exitCode }) => [{ deployment }, exitCode]),
    ),
    metric(
      'checks',
      'Number of checks by status.',
      all.flatMap(({ deployment, summary: counts }) =>
        words.map((status) => [{ deployment, status }, counts[status]] as const),
      ),
    ),
    metric(
      'check_status',
      'Status of each check: 1 for the one that it has, 0 for the others.',
      each(({ checks }, own) =>
        checks.flatMap((check) =>
          words.map((status) => [{ ...own, check: check.id, status }, statusWord(check) === status ? 1 : 0] as const),
        ),
      ),
    ),
    metric(
      'root_cause',
      'Problems that no other problem explains.',
      each(({ rootCauses }, own) => rootCauses.map((check) => [{ ...own, check }, 1])),
    ),
    metric(
      'suppressed',
      'Number of problems that the configuration ignores.',
      each(({ summary: counts }, own) => [[own, counts.suppressed ?? 0]]),
    ),
    metric(
      'duration_seconds',
      'Time that the diagnosis took.',
      each(({ durationMs }, own) => [[own, durationMs / 1000]]),
    ),
    metric(
      'timestamp_seconds',
      'Time of the diagnosis, in seconds since 1970.',
      each(({ startedAt, durationMs }, own) => [[own, (Date.parse(startedAt) + durationMs) / 1000]]),
    ),
    metric(
      'deployment_info',
      'The platform and the declared build.',
      each(({ platform, build }, own) => [[{ ...own, platform, build: build ?? '' }, 1]]),
    ),
  ].join('')
}

function metric(name: string, help: string, samples: readonly Sample[]): string {
  const full = `testops_admin_doctor_${name}`
  return [
    `# HELP ${full} ${help}`,
    `# TYPE ${full} gauge`,
    ...samples.map(([labels, value]) => `${full}{${labelsOf(labels)}} ${value}`),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

function labelsOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${harmless(value).replace(/["\\]/g, '\\$&')}"`)
    .join(',')
}
