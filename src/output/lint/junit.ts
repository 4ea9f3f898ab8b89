import { resultRules, ruleIds } from '../../knowledge/result-rules.ts'
import type { RuleId } from '../../knowledge/result-rules.ts'
import { printable } from '../text.ts'
import { xmlElement, xmlText } from '../xml.ts'
import type { LintDocument, LintedDirectory, LintProblem } from './document.ts'
import { pathOf, testOf } from './words.ts'

export interface JunitView {
  /** when it was judged */
  at: Date
  /** whether warnings make the command fail */
  areWarningsFailures: boolean
}

/** so many places of a rule are listed in a directory */
const mostPlaces = 100

/**
 * A test suite a directory, and in each a test case a rule: their names stay the same from run to run, as GitLab and Jenkins need to tell
 * what is new, and there are few of them. By Jenkins' schema of JUnit files, and by that of Ant, which orders what it requires.
 */
export function lintJunit(document: LintDocument, view: JunitView): string {
  const suites = document.directories.map((directory, id) => suite(document, directory, id, view))
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`
}

function suite(document: LintDocument, directory: LintedDirectory, id: number, view: JunitView): string {
  const found = document.problems.filter(({ file }) => ownerOf(file, document.directories) === directory)
  const unread = document.undetermined.filter(({ file }) => ownerOf(file, document.directories) === directory)
  const cases = ruleIds.map((rule) => ruleCase(rule, found.filter((it) => it.rule === rule), document, view))
  const count = (kind: string): number => cases.filter((it) => it.kind === kind).length
  const attributes = {
    name: `lint-results ${printable(directory.directory)}`,
    package: 'lint-results',
    id,
    timestamp: view.at.toISOString().slice(0, 19),
    hostname: 'localhost',
    tests: cases.length + 1,
    failures: count('failure'),
    errors: unread.length > 0 ? 1 : 0,
    skipped: count('skipped'),
    time: 0,
  }
  const properties = [property('files', directory.files), property('results', directory.results), property('bytes', directory.bytes), ...(document.settings === undefined ? [] : [property('settings', document.settings)])]
  const lines = [xmlElement('properties', {}, properties), ...cases.map(({ xml }) => xml), readCase(unread), `<system-out>${cases.map(({ said }) => said).join('')}</system-out>`, '<system-err></system-err>']
  return `${xmlElement('testsuite', attributes, ['\n', ...lines.map((line) => `${line}\n`)])}\n`
}

/** The innermost of the directories that a file is in. */
function ownerOf(file: string, directories: readonly LintedDirectory[]): LintedDirectory | undefined {
  const around = directories.filter(({ within }) => within === '.' || file === within || file.startsWith(`${within}/`))
  // logs of agents are in none
  return around.reduce<LintedDirectory | undefined>((best, it) => (best === undefined || it.within.length > best.within.length ? it : best), undefined) ?? directories[0]
}

interface RuleCase {
  kind: 'passed' | 'failure' | 'skipped'
  xml: string
  /** what is told of a case that has passed */
  said: string
}

function ruleCase(rule: RuleId, problems: readonly LintProblem[], document: LintDocument, view: JunitView): RuleCase {
  const { title } = resultRules[rule]
  const attributes = { name: `${rule}: ${title}`, classname: 'lint-results', time: 0 }
  const of = (kind: RuleCase['kind'], content: string[]): RuleCase => ({ kind, said: '', xml: xmlElement('testcase', attributes, content) })
  if (document.off.includes(rule)) return of('skipped', [xmlElement('skipped', { message: 'turned off' })])
  const [worst] = problems
  if (!worst) return of('passed', [])
  const text = xmlText(details(problems, document))
  // what the schema of Ant allows in a test case are failures alone
  if (worst.severity === 'warning' && !view.areWarningsFailures) return { ...of('passed', []), said: `${rule}:${text}` }
  return of('failure', [xmlElement('failure', { type: worst.severity, message: printable(problems.length === 1 ? worst.message : `${problems.length} problems: ${worst.message}`) }, [text])])
}

function details(problems: readonly LintProblem[], { directory }: LintDocument): string {
  const [{ effect, remedy } = { effect: '', remedy: '' }] = problems
  const here = problems.slice(0, mostPlaces).map(({ file, place, message, result }) => {
    const test = testOf(result)
    return `${pathOf(directory, file)}${place === undefined ? '' : ` ${place}`}: ${message}${test === null ? '' : ` (${test})`}`
  })
  const more = problems.length - here.length
  return ['', ...here, ...(more > 0 ? [`and ${more} more`] : []), `effect: ${effect}`, `mend: ${remedy}`].map((line) => `${printable(line)}\n`).join('')
}

function readCase(unread: LintDocument['undetermined']): string {
  const attributes = { name: 'every file could be judged', classname: 'lint-results', time: 0 }
  if (unread.length === 0) return xmlElement('testcase', attributes)
  const text = unread.slice(0, mostPlaces).map(({ file, message }) => `${printable(`${file}: ${message}`)}\n`)
  return xmlElement('testcase', attributes, [xmlElement('error', { type: 'unknown', message: printable(unread[0]!.message) }, [xmlText(`\n${text.join('')}`)])])
}

function property(name: string, value: string | number): string {
  return xmlElement('property', { name, value: typeof value === 'string' ? printable(value) : value })
}
