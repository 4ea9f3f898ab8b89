import { readdir } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { jsonText } from '../../src/cli/write.ts'
import type { RepairDocument } from '../../src/core/repair.ts'
import { command } from '../../src/core/shell-command.ts'
import { adoptCommand, discardText, recordText } from '../../src/output/record.ts'
import { doctorHtml } from '../../src/output/doctor/html.ts'
import { deploymentsText, useText } from '../../src/output/deployments.ts'
import { fleetText } from '../../src/output/doctor/fleet.ts'
import { doctorJunit, doctorMarkdown, doctorPrometheus, fleetPrometheus } from '../../src/output/doctor/formats.ts'
import { doctorChanges, doctorShort, doctorTable, fitted } from '../../src/output/doctor/table.ts'
import { fixSummary, leftText, stillWrongText, unplannedText } from '../../src/output/doctor/verdict.ts'
import { errorText, firstTypedHere, nextText, stackText, typedHere } from '../../src/output/error-text.ts'
import { recordOf } from '../engine/repairing.ts'
import { explainDocument, explainText, checksText } from '../../src/output/explain.ts'
import { explainSearch } from '../../src/knowledge/explain/search/search.ts'
import { explainTexts } from '../../src/knowledge/explain/index.ts'
import { accountLines, repairText, stepLines, takeBackText, movingLine } from '../../src/output/repair.ts'
import { cpuText } from '../../src/output/cpu.ts'
import { historyText } from '../../src/output/history.ts'
import { beginText, initText, templateOutput } from '../../src/output/init.ts'
import { integrationText } from '../../src/output/integration.ts'
import { jsonPieces } from '../../src/output/text.ts'
import {
  labBreakText,
  labDownText,
  labDrillText,
  labFaultsText,
  labMendText,
  labStatusText,
  labUpText,
} from '../../src/output/lab.ts'
import { lintJunit } from '../../src/output/lint/junit.ts'
import { lintLines } from '../../src/output/lint/words.ts'
import { lintMarkdown } from '../../src/output/lint/markdown.ts'
import { lintSarif } from '../../src/output/lint/sarif.ts'
import { lintText } from '../../src/output/lint/text.ts'
import {
  html,
  htmlText,
  linkedSource,
  markdownBlock,
  markdownCode,
  markdownTable,
  markdownText,
  xmlElement,
  xmlText,
} from '../../src/output/markup.ts'
import { planText } from '../../src/output/plan.ts'
import { differenceText, madeText, shownText } from '../../src/output/report.ts'
import type { ReportManifest } from '../../src/output/report.ts'
import { preflightText } from '../../src/output/preflight.ts'
import { scanHtml } from '../../src/output/scan/html.ts'
import { scanChanges, scanRows, scanText } from '../../src/output/scan/text.ts'
import type { Screen } from '../../src/output/paint.ts'
import { serviceText } from '../../src/output/service.ts'
import { clip, hang, pad, printable, withOwnTimesHere, withTimesHere, wrap } from '../../src/output/text.ts'
import { whoamiText } from '../../src/output/login.ts'
import * as lintDocuments from '../output/lint/documents.ts'
import { documents as repairDocuments, histories, riskyPlan } from '../output/repairs.ts'
import * as reports from '../output/reports.ts'
import * as scanDocuments from '../output/scan/documents.ts'
import { assertHarmless, assertHarmlessJson, eachPoisoned, harmIn, poison } from './poison.ts'

const search = explainSearch(explainTexts)

/** What is printed of one document. */
interface Printing {
  documents: readonly object[]
  print: (document: never, screen: Screen) => string | readonly string[]
}

const printing = <D extends object>(
  documents: readonly D[],
  print: (document: D, screen: Screen) => string | readonly string[],
): Printing => ({ documents, print })
const text = 'of a server'
const texts = [{ text }]
const isReport = (it: unknown): it is typeof reports.healthy => typeof it === 'object' && it !== null && 'checks' in it
const allReports = Object.values(reports).filter(isReport)
const allFleets = [
  [
    ...allReports.map((result) => ({ result, exitCode: 1 })),
    {
      result: {
        deployment: 'x',
        error: { code: 'CONFIGURATION' as const, message: 'unknown key', suggestions: ['ls'] },
        exitCode: 64,
      },
      exitCode: 64,
    },
  ],
]
const manifest: ReportManifest & { file: string } = {
  schemaVersion: 1,
  kind: 'testops-admin report',
  version: '0.1.0',
  createdAt: '2026-11-28T02:33:00.000Z',
  deployment: 'prod',
  platform: 'kubernetes',
  build: '527u01',
  summary: { ok: 1, warning: 0, error: 1, skipped: 0, unknown: 0 },
  rootCauses: ['api/latency'],
  exitCode: 1,
  gaps: [{ what: 'broker', why: 'it refuses' }],
  secrets: 1,
  files: [{ name: 'doctor.json', bytes: 9 }],
  file: 'a.tar.gz',
}
const allManifests = [manifest]
const lint = [
  {
    ...lintDocuments.several,
    problems: lintDocuments.several.problems
      .slice(0, 8)
      .concat(lintDocuments.several.problems.filter(({ together }) => together)),
  },
  lintDocuments.mended,
  lintDocuments.directories,
]
const scans = [scanDocuments.several]
const lab = {
  schemaVersion: 1 as const,
  phase: 'up' as const,
  directory: '/lab',
  servers: [{ kind: 'postgres', version: '15.14', way: 'programs', address: '127.0.0.1:40001', running: true }],
  service: { url: 'http://127.0.0.1:40004', state: 'failed', detail: 'active', log: '/lab/service.log' },
  configuration: '/lab/testops-admin.yaml',
  broken: [{ name: 'stuck-lock', since: '2026-11-21T04:00:00.000Z', state: 'half' as const }],
  drill: { phase: 'running' as const, startedAt: '2026-11-21T04:00:00.000Z' },
  operator: { command: 'lab up', pid: 7, since: '2026-11-21T04:00:00.000Z' },
  commands: ['testops-admin doctor -d lab'],
}
const drillStanding = {
  startedAt: '2026-11-21T04:00:00.000Z',
  seconds: 61,
  isByClock: true,
  faults: 2,
  named: ['database/changelog-lock'],
  wrong: 1,
  doctor: 1,
  stopped: ['redis'],
}
const pastDrill = {
  id: 'one',
  startedAt: '2026-11-21T04:00:00.000Z',
  outcome: 'given-up' as const,
  request: { faults: 2 as const, seed: 7, only: 'database' },
  faults: ['stuck-lock/waiting', 'unknown'],
  named: [{ fault: 'stuck-lock/waiting', check: 'database/changelog-lock', seconds: 9 }],
  wrong: 1,
  seconds: 61,
  diagnosisSeconds: null,
  healthySeconds: null,
  isByClock: true,
}
const steps = {
  name: null,
  url: 'https://tracker.example.org',
  from: 'log' as const,
  verdict: 'problem' as const,
  causes: ['connectivity' as const],
  certificate: null,
  steps: [{ step: 'connection' as const, status: 'problem' as const, message: 'refused', next: ['curl x'] }],
}
const service = {
  schemaVersion: 1 as const,
  deployment: 'prod',
  platform: 'host' as const,
  state: 'running' as const,
  detail: 'active',
  evidence: ['pod'],
  instances: [{ name: 'testops.service', host: 'app-1', pid: 812, startedAt: '2026-11-21T02:13:05.000Z' }],
  image: { name: 'testops', tag: '527u01', build: '527u01', declaredIn: 'testops-admin.yaml' },
}

/** Every function of src/output that makes text, and what it is tried on. */
const printings: Readonly<Record<string, Printing>> = {
  accountLines: printing(
    [
      {
        requested: 3,
        accepted: 1,
        skipped: 1,
        failed: [
          { project: 2, status: 403, message: text },
          { project: 1, tree: 12, status: 404, message: text },
        ],
      },
    ],
    accountLines,
  ),
  checksText: printing(
    [
      {
        schemaVersion: 1 as const,
        checks: [
          {
            id: 'a/b',
            title: 'b is well',
            severities: ['error' as const],
            reads: ['database' as const],
            wants: [],
            explains: ['c/d'],
          },
          {
            id: 'own/e',
            title: 'the check in e.mjs passes',
            severities: ['error' as const],
            reads: [],
            wants: [],
            explains: [],
            file: '/checks/e.mjs',
            error: { code: 'CONFIGURATION' as const, message: 'check file e has an error', suggestions: ['less e'] },
          },
        ],
      },
    ],
    checksText,
  ),
  leftText: printing(
    allReports.flatMap(({ checks }) => checks.map((root) => ({ root, does: 'by-hand' as const }))),
    leftText,
  ),
  cpuText: printing(
    [
      {
        schemaVersion: 1 as const,
        machines: [
          {
            name: 'node',
            level: 'x86-64-v2' as const,
            missing: ['avx'],
            hypervisor: 'QEMU',
            verdict: 'lacks-v3' as const,
            reason: 'said\nthat',
          },
        ],
      },
    ],
    cpuText,
  ),
  doctorChanges: printing(allReports, (report, screen) => doctorChanges(report, null, screen)),
  doctorHtml: printing(allReports, (report) => doctorHtml(report, { exitCode: 1, areWarningsFailures: true })),
  doctorJunit: printing(allReports, (report) => doctorJunit(report, { exitCode: 1, areWarningsFailures: true })),
  doctorMarkdown: printing(allReports, (report) => doctorMarkdown(report, { exitCode: 1, areWarningsFailures: true })),
  doctorPrometheus: printing(allReports, (report) =>
    doctorPrometheus(report, { exitCode: 1, areWarningsFailures: true }),
  ),
  beginText: printing([{ configuration: 'x' }, { configuration: null }], beginText),
  deploymentsText: printing(
    [
      {
        schemaVersion: 1 as const,
        deployments: [
          { name: 'prod', source: 'configuration' as const, where: 'x', platform: 'host', current: true },
          { name: 'unit', source: 'found' as const, where: 'unit', platform: 'host', current: false },
          {
            name: 'wrong',
            source: 'configuration' as const,
            where: 'x',
            platform: null,
            current: false,
            error: { code: 'CONFIGURATION' as const, message: 'unknown key', suggestions: ['ls'] },
          },
        ],
      },
      {
        schemaVersion: 1 as const,
        deployments: [{ name: 'prod', source: 'lab' as const, where: 'x', platform: 'host', current: false }],
        chosenBy: 'current' as const,
        missing: 'gone',
      },
    ],
    deploymentsText,
  ),
  useText: printing(
    [{ schemaVersion: 1 as const, deployment: 'prod', file: 'x', before: 'other', outcome: 'done' as const }],
    useText,
  ),
  fleetPrometheus: printing(allFleets, fleetPrometheus),
  fleetText: printing(allFleets, (fleet, screen) => fleetText(fleet, { screen, exitCode: 1, isShort: false })),
  doctorShort: printing(allReports, doctorShort),
  doctorTable: printing(allReports, (report, screen) => doctorTable(report, { screen, exitCode: 1, verbose: true })),
  errorText: printing([{ error: { code: 'USAGE' as const, message: 'one\n- two', suggestions: ['ls'] } }], errorText),
  explainText: printing(
    [explainDocument('zebra and okapi', search('zebra and okapi')), explainDocument('lock', search('lock'))],
    explainText,
  ),
  historyText: printing(Object.values(histories), historyText),
  html: printing(texts, (it) => html`<a title="${it.text}">${it.text}</a>`.html),
  htmlText: printing(texts, (it) => htmlText(it.text)),
  initText: printing(
    [
      {
        schemaVersion: 1 as const,
        file: '/a',
        deployment: 'prod',
        platform: 'host',
        connections: [
          { part: 'service', status: 'ok' as const, target: text },
          { part: 'api', status: 'failed' as const, error: { code: 'X', message: text, suggestions: [text] } },
        ],
      },
    ],
    initText,
  ),
  templateOutput: printing(
    [{ schemaVersion: 1 as const, template: 'alerts', deployment: text, files: [`/${text}`] }],
    templateOutput,
  ),
  integrationText: printing(
    [{ schemaVersion: 1 as const, deployment: 'prod', integrations: [steps] }],
    integrationText,
  ),
  labBreakText: printing(
    [{ schemaVersion: 1 as const, made: [{ name: 'a', made: 'b', repair: 'c' }], already: ['d'], expectedExitCode: 1 }],
    labBreakText,
  ),
  labDownText: printing([{ schemaVersion: 1 as const, found: true, removed: ['a'] }], labDownText),
  labDrillText: printing(
    [
      { schemaVersion: 1 as const, event: 'begun' as const, drill: drillStanding },
      { schemaVersion: 1 as const, event: 'standing' as const, drill: drillStanding },
      {
        schemaVersion: 1 as const,
        event: 'answered' as const,
        answer: { id: 'broker/alarms', verdict: 'wrong' as const },
        drill: drillStanding,
      },
      {
        schemaVersion: 1 as const,
        event: 'ended' as const,
        past: pastDrill,
        faults: [{ name: 'a', made: 'm', rootCauses: ['c'], quickest: ['testops-admin doctor -d lab'] }],
      },
      { schemaVersion: 1 as const, event: 'history' as const, drills: [pastDrill] },
    ],
    labDrillText,
  ),
  labFaultsText: printing(
    [
      {
        schemaVersion: 1 as const,
        faults: [
          {
            name: 'a',
            fault: 'a',
            variant: null,
            kind: 'fault' as const,
            title: 't',
            made: 'm',
            repair: 'r',
            repairedBy: null,
            refused: null,
            expected: {
              exitCode: 1,
              problems: [{ check: 'c', severity: 'error' as const }],
              rootCauses: [],
              allowedConsequences: [],
            },
            needs: { own: [], broker: null },
          },
        ],
      },
    ],
    labFaultsText,
  ),
  labMendText: printing([{ schemaVersion: 1 as const, mended: ['a'], remaining: ['b'], healthy: null }], labMendText),
  labStatusText: printing(
    [lab, { ...lab, phase: 'absent' as const }, { ...lab, phase: 'starting' as const }],
    labStatusText,
  ),
  labUpText: printing([{ ...lab, broken: [], already: true, started: ['postgres'] }], labUpText),
  lintJunit: printing(
    lint,
    (document) =>
      lintJunit(document, { at: new Date(0), areWarningsFailures: true }) +
      lintJunit(document, { at: new Date(0), areWarningsFailures: false }),
  ),
  lintLines: printing(lint, (document) => [...lintLines(document, 1)].join('')),
  lintMarkdown: printing(lint, (document) => lintMarkdown(document, 1)),
  lintSarif: printing(lint, (document) =>
    [...lintSarif(document, { version: '1', root: 'file:///x/', exitCode: 1 })].join(''),
  ),
  lintText: printing(lint, (document, screen) => lintText(document, { screen, exitCode: 1, verbose: true })),
  jsonPieces: printing(lint, (document) => [...jsonPieces(document, 2)].join('')),
  markdownBlock: printing(texts, (it) => markdownBlock([it.text])),
  markdownCode: printing(texts, (it) => markdownCode(it.text)),
  markdownText: printing(texts, (it) => markdownText(it.text)),
  markdownTable: printing(texts, (it) => markdownTable([it.text], [[it.text]])),
  linkedSource: printing(texts, (it) => markdownTable([''], [[linkedSource(it.text)]])),
  movingLine: printing([{ done: 1, total: 2, unit: 'sessions' }], (it) => clip(movingLine(it, 1), 1000)),
  planText: printing([riskyPlan, ...Object.values(repairDocuments).map(({ plan }) => plan)], planText),
  repairText: printing(Object.values(repairDocuments), (document: RepairDocument, screen) =>
    repairText(document, screen, '/a config.yaml'),
  ),
  stepLines: printing([riskyPlan], (plan) => {
    const said: string[] = []
    const tell = stepLines(plan, (line) => said.push(line))
    for (const status of ['begun', 'going-back', 'done', 'already', 'failed', 'interrupted', 'undone'] as const)
      tell(0, status)
    return said
  }),
  scanChanges: printing(scans, (document) => scanChanges(document, null)),
  scanHtml: printing(scans, (document) => scanHtml(document, 1)),
  scanRows: printing(scans, (document, screen) => scanRows(document, screen, 24)),
  scanText: printing(scans, (document, screen) => scanText(document, { screen, exitCode: 1 })),
  serviceText: printing([service], serviceText),
  stackText: printing([{ text: 'Error: it says\n    at x (file.ts:1:1)' }, { text: 'no stack' }], (it) =>
    stackText(it.text),
  ),
  discardText: printing(
    [
      { schemaVersion: 1 as const, deployment: 'prod', run: 'x', outcome: 'done' as const, saved: '/a' },
      { schemaVersion: 1 as const, deployment: 'prod', run: 'x', outcome: 'nothing-to-do' as const, saved: null },
      {
        schemaVersion: 1 as const,
        deployment: 'prod',
        run: 'x',
        outcome: 'planned' as const,
        saved: null,
        risks: [{ name: 'unfinished-run', message: 'the service is stopped' }],
      },
    ],
    (document) => discardText(document, command`testops-admin discard ${document.run}`),
  ),
  recordText: printing(
    [
      { record: recordOf({ plan: riskyPlan }), events: [] },
      ...Object.values(repairDocuments).map(({ plan }) => ({ record: recordOf({ plan }), events: [] })),
    ],
    recordText,
  ),
  typedHere: printing([{ next: 'curl x' }], ({ next }) => printable(typedHere(next))),
  firstTypedHere: printing([{ suggestion: 'curl x' }], ({ suggestion }) =>
    printable(firstTypedHere([`kubectl ${suggestion}`]) ?? ''),
  ),
  nextText: printing([{ next: 'curl x' }], ({ next }) => nextText(next)),
  madeText: printing(allManifests, (manifest, screen) => madeText({ ...manifest, bytes: 1, places: 2 }, screen)),
  shownText: printing(allManifests, (manifest, screen) =>
    shownText({ ...manifest, removed: [{ mark: manifest.kind, where: [manifest.file], count: 9 }] }, screen),
  ),
  differenceText: printing(
    allManifests.map(({ file, deployment, createdAt, platform, gaps }) => ({
      schemaVersion: 1 as const,
      from: { file, deployment, createdAt },
      to: { file, deployment, createdAt },
      changes: [{ part: platform, name: gaps[0]!.what, from: gaps[0]!.why, to: null }],
      notCompared: [gaps[0]!.what],
    })),
    differenceText,
  ),
  preflightText: printing(
    allReports.map(({ build, rootCauses: _, ...report }) => ({
      ...report,
      from: build,
      to: build ?? 'x',
      broker: build ?? 'x',
      remark: build ?? 'x',
      verdict: 'not-known' as const,
      steps: report.checks.map(({ title, remedy }) => ({ text: title, commands: remedy?.commands ?? [] })),
    })),
    (document, screen) => preflightText(document, { screen, exitCode: 3, verbose: true }),
  ),
  fixSummary: printing(
    allReports.map((report) => ({
      before: report,
      after: report,
      done: [{ fix: 'unlock-changelog', root: 'database/changelog-lock' }],
      tookMs: 41_000,
      withWarnings: false,
    })),
    fixSummary,
  ),
  stillWrongText: printing(allReports, (report, screen) => stillWrongText('a/b', report, screen)),
  unplannedText: printing(allReports, (report, screen) => unplannedText(report, false, screen)),
  fitted: printing([{ line: 'a' }], ({ line }, { columns }) =>
    fitted(`${printable(line)}\n\nend\n`, { rows: 24, columns }),
  ),
  adoptCommand: printing([{ run: 'x', name: 'prod', risk: 'foreign-run' }], ({ run, name, risk }) =>
    printable(adoptCommand(run, { name, config: name }, [risk])),
  ),
  takeBackText: printing([riskyPlan], (plan, screen) => takeBackText(plan, [1, 0], screen)),
  whoamiText: printing(
    [
      {
        schemaVersion: 1 as const,
        url: 'https://a',
        user: { name: 'a', roles: ['b', { authority: 'c' }], more: { d: 'e', f: 'g' } },
      },
    ],
    whoamiText,
  ),
  xmlElement: printing(texts, (it) => xmlElement('a', { b: it.text })),
  xmlText: printing(texts, (it) => xmlText(it.text).replaceAll('\nFORGED', '')),
  clip: printing(texts, (it) => clip(it.text, 1000)),
  hang: printing(texts, (it, { columns }) => hang('- ', it.text, columns)),
  pad: printing(texts, (it) => pad(it.text, 100)),
  printable: printing(texts, (it) => printable(it.text)),
  withTimesHere: printing(texts, (it) => withTimesHere(printable(it.text))),
  withOwnTimesHere: printing(texts, (it) => withOwnTimesHere(printable(it.text))),
  wrap: printing(texts, (it, { columns }) => wrap(it.text, columns)),
}

/** Those that print nothing of foreign origin, or are parts of those above, and why. */
const others: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'verdict',
      'isExamined',
      'isJudged',
      'summary',
      'tell',
      'shortLine',
      'statusWord',
      'badge',
      'plainBadge',
      'oneLine',
      'lotsOf',
      'lotOf',
      'doctorBlocks',
      'changesTold',
      'suppressionText',
      'Html',
      'textOf',
    ].map((name) => [name, 'a part of doctorTable, doctorShort and doctorChanges']),
  ),
  ...Object.fromEntries(
    ['groupsOf', 'amount', 'extent', 'tally', 'testOf', 'short', 'pathOf'].map((name) => [
      name,
      'a part of lintText and of the other formats',
    ]),
  ),
  ...Object.fromEntries(
    [
      'htmlPage',
      'statusBadge',
      'shortened',
      'some',
      'listOf',
      'rowsOf',
      'blockOf',
      'commands',
      'timesIn',
      'timeText',
      'zoneBeside',
      'timeLine',
    ].map((name) => [name, 'a part of doctorHtml and scanHtml']),
  ),
  ...Object.fromEntries(
    ['barsOf', 'scanSummary', 'matchCounts', 'matchDetails', 'matchPlaces'].map((name) => [name, 'a part of scanText']),
  ),
  ...Object.fromEntries(
    [
      'cpuExitCode',
      'initExitCode',
      'integrationExitCode',
      'serviceExitCode',
      'checked',
      'explainDocument',
      'tokenDocument',
      'planOfRecord',
      'remedyOf',
    ].map((name) => [name, 'makes no text']),
  ),
  ...Object.fromEntries(
    ['countOf', 'widthOf', 'badgeWidth', 'lifeText'].map((name) => [name, 'numbers and words of this program']),
  ),
  ...Object.fromEntries(['withGenerated'].map((name) => [name, 'a document of this repository'])),
  ...Object.fromEntries(
    ['alertFiles', 'cronjobFiles', 'dashboardFiles', 'pipelineFiles', 'roleFiles', 'runbookFiles', 'systemdFiles'].map(
      (name) => [name, 'files, which test/contracts/templates.test.ts gives to the programs that read them'],
    ),
  ),
  paintFor: 'colours of this program',
  saying: 'the language of this program',
}

test('every function of src/output is looked at', async () => {
  const folder = new URL('../../src/output/', import.meta.url)
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'))
  const modules = await Promise.all(
    files.map(async (name) => (await import(new URL(name, folder).href)) as Record<string, unknown>),
  )
  const functions = modules.flatMap((module) =>
    Object.entries(module).flatMap(([name, it]) => (typeof it === 'function' ? [name] : [])),
  )
  expect(functions.filter((name) => !(name in printings) && !(name in others))).toEqual([])
  expect([...Object.keys(printings), ...Object.keys(others)].filter((name) => !functions.includes(name))).toEqual([])
})

/** Those whose JSON was looked at: many of them are printed in several ways. */
const asJson = new Set<object>()

describe('no text of a document steers what is printed of it', () => {
  test.each(Object.entries(printings))(
    '%s',
    (name, { documents, print }) => {
      const place = Object.keys(printings).indexOf(name)
      let printed = 0
      for (const document of documents) {
        const isNew = !asJson.has(document)
        asJson.add(document)
        for (const { hostile, turn } of eachPoisoned(document, place)) {
          assertHarmless(name, turn, (screen) => {
            let shown: string | readonly string[]
            try {
              shown = print(hostile as never, screen)
            } catch (error) {
              // a word that stands for one of a few, or a time, which no reader lets pass
              if (error instanceof TypeError || error instanceof RangeError) return ''
              throw error
            }
            printed += 1
            const lines = typeof shown === 'string' ? [shown] : shown
            // what is one line stays one
            if (typeof shown !== 'string')
              for (const line of lines)
                if (line.includes('\n')) throw new Error(`${name} breaks a line: ${JSON.stringify(line)}`)
            return lines.join('\n')
          })
          if (isNew) assertHarmlessJson(name, jsonText(hostile), hostile)
        }
      }
      expect(printed).toBeGreaterThan(0)
    },
    120_000,
  )
})

test('the poison is one', () => {
  expect(harmIn(poison)).not.toBeNull()
  for (const character of [
    '\u001b',
    '\r',
    '\t',
    '\u0000',
    '\u007f',
    '\u009b',
    '\u061c',
    '\u200b',
    '\u200e',
    '\u2028',
    '\u202e',
    '\u2066',
    '\ufeff',
    '\u00a0',
    '\u3000',
    '\ud800',
    '\u{e0041}',
    '\u00ad',
  ])
    expect(harmIn(`a${character}b`)).not.toBeNull()
  for (const harmless of ['a\nb', 'é界😀✔️…', '\\x1b']) expect(harmIn(harmless)).toBeNull()
})
