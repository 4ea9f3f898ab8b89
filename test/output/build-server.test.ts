import { expect, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import { jsonText } from '../../src/cli/write.ts'
import { doctorChanges, doctorShort, doctorTable } from '../../src/output/doctor/table.ts'
import { errorText } from '../../src/output/error-text.ts'
import { explainText } from '../../src/output/explain.ts'
import { jsonPieces } from '../../src/output/text.ts'
import type { LintDocument } from '../../src/output/lint/document.ts'
import { lintJunit } from '../../src/output/lint/junit.ts'
import { lintLines } from '../../src/output/lint/words.ts'
import { lintMarkdown } from '../../src/output/lint/markdown.ts'
import { lintSarif } from '../../src/output/lint/sarif.ts'
import { lintText } from '../../src/output/lint/text.ts'
import type { ScanDocument } from '../../src/output/scan/document.ts'
import { scanChanges, scanRows, scanText } from '../../src/output/scan/text.ts'
import type { Screen } from '../../src/output/paint.ts'
import { buildCommands, commandTexts } from '../support/build-server.ts'
import { directories, mended, several } from './lint/documents.ts'
import { stuckLock, unknownOnly, warningsOnly } from './reports.ts'
import { several as scanned } from './scan/documents.ts'

/** What has a meaning of its own, or comes from this program alone. */
const own = new Set([
  'rule',
  'severity',
  'status',
  'id',
  'signature',
  'kind',
  'code',
  'check',
  'because',
  'platform',
  'at',
  'from',
  'to',
  'first',
  'last',
  'overBy',
  'since',
  'until',
  'startedAt',
  'timeZone',
  'within',
  'off',
])

/** The document with the text in the place of every other one, of names that are keys, too. */
function filled<T>(document: T, text: string, key = ''): T {
  if (own.has(key) && (key !== 'from' || typeof document !== 'string' || /^\d{4}-/.test(document))) return document
  if (typeof document === 'string') return text as T
  if (Array.isArray(document)) return document.map((it: unknown) => filled(it, text)) as T
  if (typeof document !== 'object' || document === null) return document
  const isNamed = key === 'hosts'
  return Object.fromEntries(
    Object.entries(document).map(([name, value]) => [isNamed ? text : name, filled(value as unknown, text, name)]),
  ) as T
}

const screens: readonly Screen[] = [30, 80, 200].flatMap((columns) =>
  [true, false].map((colour) => ({ columns, colour })),
)

function* lintOutputs(document: LintDocument): Generator<string> {
  for (const screen of screens)
    for (const verbose of [true, false]) yield lintText(document, { screen, exitCode: 1, verbose })
  yield [...lintLines(document, 1)].join('')
  yield lintMarkdown(document, 1)
  yield [...lintSarif(document, { version: '1', root: 'file:///x/', exitCode: 1 })].join('')
  yield [...jsonPieces(document, 2)].join('')
  for (const areWarningsFailures of [true, false]) yield lintJunit(document, { at: new Date(0), areWarningsFailures })
}

function* scanOutputs(document: ScanDocument): Generator<string> {
  for (const screen of screens) {
    yield scanText(document, { screen, exitCode: 1 })
    yield scanRows(document, screen, 20).join('\n')
  }
  yield scanChanges(document, null).join('\n')
  yield jsonText(document)
}

function* doctorOutputs(report: DoctorReport): Generator<string> {
  for (const screen of screens) {
    for (const verbose of [true, false]) yield doctorTable(report, { screen, exitCode: 1, verbose })
    yield doctorShort(report, screen)
    yield doctorChanges(report, null, screen)
  }
  yield jsonText(report)
}

function* otherOutputs(text: string): Generator<string> {
  const error = { error: { code: 'USAGE', message: text, suggestions: [text] } } as const
  yield jsonText(error)
  for (const screen of screens) {
    yield errorText(error, screen)
    yield explainText({ schemaVersion: 1, query: text, entries: [], nearest: [] }, screen)
  }
}

test.each(commandTexts)('no line of any output is a command of %j', (text) => {
  const outputs = [
    ...[several, mended, directories].flatMap((document) => [
      ...lintOutputs(filled({ ...document, problems: document.problems.slice(0, 30) }, text)),
    ]),
    ...scanOutputs(filled(scanned, text)),
    ...[stuckLock, warningsOnly, unknownOnly].flatMap((report) => [...doctorOutputs(filled(report, text))]),
    ...otherOutputs(text),
  ]
  expect(outputs.filter((output) => output.length < 20)).toEqual([])
  expect(outputs.flatMap(buildCommands)).toEqual([])
})
