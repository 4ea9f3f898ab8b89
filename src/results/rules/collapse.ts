import type { ParameterContent, ResultFile } from '../result-file.ts'
import { identifierOf } from './identifier.ts'
import type { GroupRule } from '../rule.ts'
import { counted, listed, quoted } from './said.ts'

/** The loss when results of a group become one. */
type Collapse =
  /** different tests: in what they differ, with its values in the order in which they appear */
  | { kind: 'tests'; by: Difference; values: readonly string[] }
  /**
   * different tests that differ in nothing else; `tests` is their number, by the adapter's numbers of retries, or since
   * each passed
   */
  | { kind: 'tests'; by: 'retries' | 'passed'; values: readonly []; tests: number }
  /** runs of one test with different data, by their names or by their outcomes, or since each passed */
  | { kind: 'runs'; by: 'name' | 'status' | 'passed'; values: readonly string[] }

type Difference = 'testCaseId' | 'titlePath' | PlaceLabel | 'name' | 'directory'

/** Labels that say where a test belongs. */
const placeLabels = ['package', 'testClass', 'testMethod', 'parentSuite', 'suite', 'subSuite'] as const
type PlaceLabel = (typeof placeLabels)[number]

export const nameCollision: GroupRule = {
  id: 'name-collision',
  judge(group) {
    const collapse = collapseOf(group)
    if (collapse?.kind !== 'tests') return null
    const { by, values } = collapse
    const name = quoted(group[0]!.content.fullName!, 120)
    if (by === 'retries')
      return {
        message:
          `${counted(group.length, 'result')} share the full name ${name}, but their retry numbers show that they ` +
          `belong to ${collapse.tests} different tests`,
        place: 'fullName',
      }
    if (by === 'passed')
      return {
        message: `${counted(collapse.tests, 'result')} share the full name ${name}. ${saidOfPassed(collapse.tests)}`,
        place: 'fullName',
      }
    const told = listed(
      values.map((value) => quoted(value, 80)),
      3,
    )
    return {
      message:
        `${counted(group.length, 'result')} of different tests share the full name ${name}; their ${words[by]} ` +
        `differ: ${told}`,
      place: 'fullName',
    }
  },
}

function saidOfPassed(count: number): string {
  return count === 2
    ? 'Both passed, and a test is retried only after it failed: they are not retries'
    : 'All passed, and a test is retried only after it failed: they are not retries'
}

const words: Readonly<Record<Difference, string>> = {
  name: 'names',
  testCaseId: 'test case IDs (`testCaseId`)',
  titlePath: 'places (`titlePath`)',
  directory: 'directories',
  package: '`package` labels',
  testClass: '`testClass` labels',
  testMethod: '`testMethod` labels',
  parentSuite: '`parentSuite` labels',
  suite: '`suite` labels',
  subSuite: '`subSuite` labels',
}

/** Finds runs of one test that nothing tells apart. Retries until a pass are no such runs (`collapseOf`). */
export const parametersMissing: GroupRule = {
  id: 'parameters-missing',
  judge(group) {
    const collapse = collapseOf(group)
    if (collapse?.kind !== 'runs') return null
    const excluded = group.some(({ content }) => content.parameters?.length)
      ? 'all their parameters are excluded'
      : 'they have no parameters'
    const values = listed(
      collapse.values.map((value) => quoted(value, 80)),
      4,
    )
    const how = {
      name: `Their names show different data: ${values}`,
      status: `Their outcomes differ (${values}), and they do not look like retries of one test`,
      passed: 'All passed, and a test is retried only after it failed: they are not retries',
    }[collapse.by]
    return {
      message:
        `${counted(group.length, 'run')} of the test ${quoted(group[0]!.content.fullName!, 120)} cannot be told ` +
        `apart, because ${excluded}. ${how}`,
      place: 'parameters',
    }
  },
}

/**
 * Finds the loss among results with one full name and equal parameters, the earliest first. Null if there is none, as
 * when one test is retried.
 */
function collapseOf(group: readonly ResultFile[]): Collapse | null {
  for (const part of byIdentifier(group)) {
    const collapse = part.length < 2 ? null : collapseOfPart(part)
    if (collapse) return collapse
  }
  return null
}

/** Groups results by their valid identifiers; if some have none, the full name keeps all together. */
function byIdentifier(group: readonly ResultFile[]): Iterable<readonly ResultFile[]> {
  const parts = new Map<string, ResultFile[]>()
  for (const file of group) {
    const id = identifierOf(file.content)
    if (id === null) return [group]
    const part = parts.get(id)
    if (part) part.push(file)
    else parts.set(id, [file])
  }
  return parts.values()
}

function collapseOfPart(group: readonly ResultFile[]): Collapse | null {
  const place = differenceOfPlace(group)
  if (place) return place
  const names = distinct(group, ({ content }) => (content.name == null ? null : withoutAttempt(content.name)))
  const isUnparameterized = !group.some(({ content }) => content.parameters?.some(counts))
  if (names.length > 1) {
    const isOneTest = isUnparameterized && (isOneMethod(group) || new Set(names.map(withoutNumbering)).size === 1)
    return isOneTest ? { kind: 'runs', by: 'name', values: names } : { kind: 'tests', by: 'name', values: names }
  }
  const marked = testsByRetries(group)
  if (marked === 1 || (marked === null && areRetries(group))) return null
  const directories = distinct(group, ({ directory }) => directory)
  if (directories.length > 1) return { kind: 'tests', by: 'directory', values: directories }
  if (marked !== null) return { kind: 'tests', by: 'retries', values: [], tests: marked }
  const outcomes = distinct(group, ({ content }) => content.status ?? null)
  if (outcomes.length > 1) return isUnparameterized ? { kind: 'runs', by: 'status', values: outcomes } : null
  return outcomes[0] === 'passed' ? allPassed(group, isUnparameterized) : null
}

/** Maximum tests that share one name by mistake; one test in a loop runs more often. */
const mostTests = 2

/**
 * Judges a group whose results all passed, so none was tried again. Two tests may share a name; one method, or more
 * runs than that, is one test with data.
 */
function allPassed(group: readonly ResultFile[], isUnparameterized: boolean): Collapse | null {
  // a file and its copy, or a link to it
  if (new Set(group.map(({ directory, file, content }) => content.uuid ?? `${directory}/${file}`)).size === 1)
    return null
  const isExcluded = group.some(({ content }) => content.parameters?.length)
  const isOneTest = isUnparameterized && (isOneMethod(group) || isExcluded || group.length > mostTests)
  return isOneTest
    ? { kind: 'runs', by: 'passed', values: [] }
    : { kind: 'tests', by: 'passed', values: [], tests: group.length }
}

/**
 * Counts the tests by the adapter's own numbers of retries: each test has one result without a number, and one of each
 * number. Null if nothing is marked.
 */
function testsByRetries(group: readonly ResultFile[]): number | null {
  const times = new Map<string, number>()
  for (const { content } of group) {
    const mark = content.parameters?.find((it) => it?.excluded === true && isRetryName(it.name ?? ''))?.value ?? ''
    times.set(mark, (times.get(mark) ?? 0) + 1)
  }
  return times.size === 1 && times.has('') ? null : Math.max(...times.values())
}

/** allure-mocha and allure-playwright call it `Retry`. */
function isRetryName(name: string): boolean {
  return /^(?:retry|rerun|attempt)$/i.test(name)
}

function differenceOfPlace(group: readonly ResultFile[]): Collapse | null {
  const told = (by: Difference, of: (file: ResultFile) => string | null): Collapse | null => {
    const values = distinct(group, of)
    return values.length > 1 ? { kind: 'tests', by, values } : null
  }
  for (const name of placeLabels) {
    const collapse = told(name, (file) => labelOf(file, name))
    if (collapse) return collapse
  }
  return (
    told('titlePath', ({ content }) => content.titlePath?.join(' > ') ?? null) ??
    told('testCaseId', ({ content }) => content.testCaseId ?? null)
  )
}

/** Returns the values that are present, each once; an absent value differs from nothing. */
function distinct(group: readonly ResultFile[], of: (file: ResultFile) => string | null): string[] {
  const values = new Set<string>()
  for (const file of group) {
    const value = of(file)
    if (value !== null && value !== '') values.add(value)
  }
  return [...values]
}

/** Returns the values of all labels of that name, sorted and joined; null if there is none. */
function labelOf({ content }: ResultFile, name: PlaceLabel): string | null {
  const values =
    content.labels?.filter((label) => label?.name === name && label.value).map((label) => label!.value!) ?? []
  return values.length === 0 ? null : values.sort().join(' > ')
}

function isOneMethod(group: readonly ResultFile[]): boolean {
  return group.every((file) => labelOf(file, 'testMethod') !== null)
}

function counts(parameter: ParameterContent | null): boolean {
  return parameter !== null && parameter.excluded !== true
}

/** Maximum characters of a name that is shortened: a search at the end of a hostile one takes quadratic time. */
const mostLetters = 1000

/**
 * Removes what tells runs of one test apart: `logs in [2]`, `[2] data of the second run`, `logs in (a)`, `logs in #2`,
 * `repetition 2 of 3`. Keeps a number alone, which may tell tests apart.
 */
function withoutNumbering(name: string): string {
  if (name.length > mostLetters) return name
  return name
    .replace(/^\s*\[\d+\].*$/s, '')
    .replace(/(?<!\s)\s*(?:\[[^[\]]*\]|\([^()]*\)|\{[^{}]*\}|<[^<>]*>)\s*$/, '')
    .replace(/\brepetition \d+ of \d+$/i, '')
    .replace(/(?<![\s_:-])[\s_:-]*#\d+$/, '')
    .trim()
}

/** Removes the number of an attempt, which is no data: `logs in (retry 1)`. */
function withoutAttempt(name: string): string {
  return name.length > mostLetters
    ? name
    : name.replace(/(?<![\s_-])[\s_-]*[[(]?\b(?:retry|rerun|attempt)\b[\s#:]*\d*[\])]?$/i, '')
}

/** Milliseconds by which two runs may overlap, since clocks of start and end differ. */
const momentMs = 50

/**
 * True if the runs can be one test that is repeated until it passes: all but the last have not passed, and each begins
 * after the one before has ended. False if a start time is missing.
 */
function areRetries(group: readonly ResultFile[]): boolean {
  const passed = group.filter(({ content }) => content.status === 'passed')
  if (passed.length > 1) return false
  if (group.some(({ content }) => content.start == null)) return false
  // short runs begin in the same millisecond
  if (passed.length === 1 && passed[0]!.content.start! < group.at(-1)!.content.start!) return false
  return group.every(({ content }, at) => at === 0 || content.start! >= (group[at - 1]!.content.stop ?? 0) - momentMs)
}
