import { resultRules, ruleIds } from '../../knowledge/result-rules.ts'
import type { RuleId } from '../../knowledge/result-rules.ts'
import { xmlElement, xmlText } from '../markup.ts'
import { countOf, printable } from '../text.ts'
import type { LintDocument, LintProblem, LintedDirectory } from './document.ts'
import { pathOf, testOf } from './words.ts'

export interface JunitView {
  /** When the results were judged */
  at: Date
  /** True if warnings make the command fail */
  areWarningsFailures: boolean
}

/** Maximum number of places listed for a rule in a directory */
const mostPlaces = 100

/**
 * Returns a test suite for each directory, with a test case for each rule. There are few of them, and their names stay
 * the same from run to run: GitLab and Jenkins need that to tell what is new. The form follows Jenkins' schema of JUnit
 * files and Ant's, which requires an order.
 */
export function lintJunit(document: LintDocument, view: JunitView): string {
  const [problems, unread] = [byDirectory(document.problems, document), byDirectory(document.undetermined, document)]
  const unlisted = unlistedIn(document)
  const suites = document.directories.map((directory, id) =>
    suite(document, directory, id, {
      ...view,
      unlisted,
      found: problems.get(directory) ?? [],
      unread: unread.get(directory) ?? [],
    }),
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`
}

/** The findings in one directory. */
interface SuiteView extends JunitView {
  found: readonly LintProblem[]
  unread: LintDocument['undetermined']
  /** For rules with very many problems, how many the document omits; their directories are unknown */
  unlisted: ReadonlyMap<RuleId, number>
}

function suite(document: LintDocument, directory: LintedDirectory, id: number, view: SuiteView): string {
  const { found, unread } = view
  const cases = ruleIds.map((rule) =>
    ruleCase(
      rule,
      found.filter((it) => it.rule === rule),
      document,
      view,
    ),
  )
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
  const properties = [
    property('files', directory.files),
    property('results', directory.results),
    property('bytes', directory.bytes),
    property('suppressed', document.summary.suppressed),
    ...(document.settings === undefined ? [] : [property('settings', document.settings)]),
  ]
  const lines = [
    xmlElement('properties', {}, properties),
    ...cases.map(({ xml }) => xml),
    readCase(unread),
    `<system-out>${cases.map(({ said }) => said).join('')}</system-out>`,
    '<system-err></system-err>',
  ]
  return `${xmlElement('testsuite', attributes, ['\n', ...lines.map((line) => `${line}\n`)])}\n`
}

/** Assigns each file to the innermost directory that contains it. */
function byDirectory<T extends { file: string }>(
  items: readonly T[],
  { directories }: LintDocument,
): ReadonlyMap<LintedDirectory, readonly T[]> {
  const known = new Map(directories.map((it) => [it.within, it]))
  // agent logs are in none of the directories
  const outermost = known.get('.') ?? directories[0]!
  const found = new Map<LintedDirectory, T[]>()
  for (const item of items) {
    let path = item.file
    while (path !== '' && !known.has(path)) path = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    const owner = known.get(path) ?? outermost
    const before = found.get(owner)
    if (before) before.push(item)
    else found.set(owner, [item])
  }
  return found
}

interface RuleCase {
  kind: 'passed' | 'failure' | 'skipped'
  xml: string
  /** Text for a case that has passed */
  said: string
}

function ruleCase(
  rule: RuleId,
  problems: readonly LintProblem[],
  document: LintDocument,
  { areWarningsFailures, unlisted }: SuiteView,
): RuleCase {
  const { title } = resultRules[rule]
  const attributes = { name: `${rule}: ${title}`, classname: 'lint-results', time: 0 }
  const of = (kind: RuleCase['kind'], content: string[]): RuleCase => ({
    kind,
    said: '',
    xml: xmlElement('testcase', attributes, content),
  })
  if (document.off.includes(rule)) return of('skipped', [xmlElement('skipped', { message: 'turned off' })])
  const ignored = document.suppressed.find((it) => it.rule === rule)
  if (ignored) {
    const message = printable(`suppressed until ${ignored.until}: ${ignored.reason}`)
    return of('skipped', [xmlElement('skipped', { message })])
  }
  const [worst] = problems
  const more = unlisted.get(rule) ?? 0
  if (!worst && more === 0) return of('passed', [])
  const type = worst?.severity ?? (document.rules[rule]!.error > 0 ? 'error' : 'warning')
  const count = document.directories.length === 1 ? problems.length + more : problems.length
  const message = worst
    ? `${count === 1 ? '' : `${count} problems${count === problems.length && more > 0 ? ' or more' : ''}: `}` +
      `${worst.message}`
    : countOf(
        more,
        'problem that this rule found is left out of the list, and may be in this directory',
        'problems that this rule found are left out of the list, and some may be in this directory',
      )
  const text = xmlText(worst ? details(problems, document) : `\n${message}\n`)
  // of a case's content, Ant's schema allows only failures, so warnings go to the suite's output
  if (type === 'warning' && !areWarningsFailures) return { ...of('passed', []), said: `${rule}:${text}` }
  return of('failure', [xmlElement('failure', { type, message: printable(message) }, [text])])
}

function unlistedIn({ problems, rules }: LintDocument): ReadonlyMap<RuleId, number> {
  const left = new Map(ruleIds.map((rule) => [rule, (rules[rule]?.error ?? 0) + (rules[rule]?.warning ?? 0)]))
  for (const { rule } of problems) left.set(rule, left.get(rule)! - 1)
  return left
}

function details(problems: readonly LintProblem[], { directory }: LintDocument): string {
  const [{ effect, remedy } = { effect: '', remedy: '' }] = problems
  const here = problems.slice(0, mostPlaces).map(({ file, place, message, result }) => {
    const test = testOf(result)
    return (
      `${pathOf(directory, file)}${place === undefined ? '' : ` ${place}`}: ` +
      `${message}${test === null ? '' : ` (${test})`}`
    )
  })
  const more = problems.length - here.length
  return ['', ...here, ...(more > 0 ? [`and ${more} more`] : []), `effect: ${effect}`, `fix: ${remedy}`]
    .map((line) => `${printable(line)}\n`)
    .join('')
}

function readCase(unread: LintDocument['undetermined']): string {
  const attributes = { name: 'every file could be judged', classname: 'lint-results', time: 0 }
  if (unread.length === 0) return xmlElement('testcase', attributes)
  const text = unread.slice(0, mostPlaces).map(({ file, message }) => `${printable(`${file}: ${message}`)}\n`)
  return xmlElement('testcase', attributes, [
    xmlElement('error', { type: 'unknown', message: printable(unread[0]!.message) }, [xmlText(`\n${text.join('')}`)]),
  ])
}

function property(name: string, value: string | number): string {
  return xmlElement('property', { name, value: typeof value === 'string' ? printable(value) : value })
}
