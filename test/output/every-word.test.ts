import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'
import type { DoctorReport, EventKind } from '../../src/core/check.ts'
import { fleetText } from '../../src/output/doctor/fleet.ts'
import { doctorMarkdown } from '../../src/output/doctor/formats.ts'
import { doctorHtml } from '../../src/output/doctor/html.ts'
import { doctorChanges, doctorShort, doctorTable } from '../../src/output/doctor/table.ts'
import { pageScript } from '../../src/output/html/style.ts'
import { eventful, healthy, ignoring, mostlySkipped, problem, reportOf, unknown, unknownOnly } from './reports.ts'

// a language in which no word has a Latin letter, so that each word left in English shows
const say = (english: string): string => english.replaceAll(/[A-Za-z]/g, 'ж')

/** Names, times and commands: they are the same in every language */
const kept = new Set(
  'id status severity kind because code at from to began startedAt ignoredUntil until timeZone platform'.split(' '),
)
const isCommand = /^(?:commands|grant|undo|suggestions|proof|docs)$/
const command = 'testops-admin 1'

/** Takes the words out of what was found, which stays in the language of the servers. */
function wordless(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return isCommand.test(key) ? command : value.replaceAll(/[A-Za-z]/g, 'ф')
  if (Array.isArray(value)) return value.map((it) => wordless(it, key))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, kept.has(name) ? it : wordless(it, name)]))
}

const kinds = 'rollout image setting restart node clock disk repair lock log'.split(' ') as EventKind[]
const minutes = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => new Date(Date.parse(eventful.events!.from) + at * 30_000).toISOString())
const many = problem('broker/queues-durable', 'error', 'many', {
  findings: Array.from({ length: 22 }, () => ({ message: 'it', evidence: Array.from({ length: 62 }, () => 'line') })),
  changes: minutes(60).map((at) => ({ at, kind: 'setting', message: 'it' })),
  remedy: {
    text: 'Do it.',
    commands: Array.from({ length: 22 }, () => 'it'),
    risk: 'It stops.',
    undo: 'it',
    lacks: 'a right',
    grant: ['it'],
  },
})
/** Of these, a page takes the evidence of two problems at most */
const heavy = many.findings!.map((it) => ({ ...it, evidence: it.evidence.map(() => 'x'.repeat(1900)) }))
const ids = (count: number, group: string): string[] => Array.from({ length: count }, (_, at) => `${group}/c-${at}`)

/** Reports in which every list is too long to be shown in full. */
const large = [
  reportOf([many, ...ids(202, 'api').map((id) => problem(id, 'warning', 'it'))], {
    found: 'somewhere',
    timeZone: 'Asia/Tokyo',
    events: {
      from: eventful.events!.from,
      to: eventful.events!.to,
      list: [
        ...minutes(320).flatMap((at) => kinds.map((kind) => ({ at, kind, message: 'it' }))),
        ...minutes(320).map((at, index) => ({ at, kind: 'log' as const, message: `line ${index}`, count: 2 })),
      ],
      unseen: Array.from({ length: 102 }, () => 'it'),
    },
  }),
  reportOf(ids(3, 'api').map((id) => ({ ...many, id, findings: heavy }))),
  reportOf(ids(202, 'api').map((id) => unknown(id, `no ${id}`))),
  reportOf([problem('service/ready', 'warning', 'it', { began: eventful.startedAt, changes: [] })]),
  reportOf([], { events: { from: eventful.startedAt, to: eventful.startedAt, list: [], unseen: [] } }),
]
const reports = [eventful, healthy, ignoring, mostlySkipped, unknownOnly, ...large].map(
  (it) => wordless(it) as DoctorReport,
)

/** Returns the words that a text says, without ids, commands, zones and names. */
function words(text: string): string[] {
  const own = text
    .replaceAll(/testops-admin .*/g, '')
    .replaceAll(/[\w/]*…/g, '')
    .replaceAll(/\b(?:database|broker|service|api|sessions|trees|integrations)\/[\w\\*-]+/g, '')
  return [...new Set(own.match(/[A-Za-z]{2,}/g))].filter(
    (it) => !['UTC', 'API', 'Asia', 'Tokyo', 'host', 'kubernetes'].includes(it),
  )
}

const view = { exitCode: 1, areWarningsFailures: true, language: 'xx', say }
const screen = { columns: 80, colour: false, say }

test('a page has no word of its own that stays in English', () => {
  const left = reports.flatMap((report) => {
    const page = doctorHtml(report, view)
    const told = [...page.matchAll(/ (?:aria-label|title|alt|data-(?:copied|selected)(?:-button)?)="([^"]*)"/g)].map(
      ([, it]) => it,
    )
    const shown = page
      .replaceAll(/<(style|script|code|time)\b[^>]*>.*?<\/\1>/gs, '')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/&\w+;/g, ' ')
    return words(`${told.join(' ')} ${shown}`)
  })
  expect([...new Set(left)]).toEqual([])
  expect(pageScript).not.toMatch(/'[A-Z]/)
})

test('no other text for people has one', () => {
  const left = reports.flatMap((report) => [
    ...words(doctorMarkdown(report, view).replaceAll(/```.*?```|`[^`]*`/gs, '')),
    ...[true, false].flatMap((verbose) => words(doctorTable(report, { screen, exitCode: 1, verbose }))),
    ...words(doctorShort(report, screen)),
    ...words(doctorChanges(report, null, screen).replaceAll(/^\S+/gm, '')),
    ...words(fleetText([{ result: report, exitCode: 1 }], { screen, exitCode: 1, isShort: true })),
  ])
  expect([...new Set(left)]).toEqual([])
})

test('what a page is made of holds no word beside those that are translated', () => {
  const folder = fileURLToPath(new URL('../../src/output', import.meta.url))
  const files = [...readdirSync(join(folder, 'html')).map((it) => join('html', it)), 'doctor/html.ts']
  const left = files.flatMap((file) => {
    const found: string[] = []
    const visit = (node: ts.Node): void => {
      if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'html') found.push(textIn(node.template))
      ts.forEachChild(node, visit)
    }
    visit(ts.createSourceFile(file, readFileSync(join(folder, file), 'utf8'), ts.ScriptTarget.Latest, true))
    return found.flatMap(words)
  })
  expect(left).toEqual([])
})

/** Returns the text between the tags of a template, without its values, and without ids. */
function textIn(template: ts.TemplateLiteral): string {
  const text = ts.isNoSubstitutionTemplateLiteral(template)
    ? template.text
    : template.head.text + template.templateSpans.map(({ literal }) => `\0${literal.text}`).join('')
  return text.replaceAll(/<!?\/?[a-z][^<>]*>|&\w+;|[a-z]+-\0/g, ' ')
}
