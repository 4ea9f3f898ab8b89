import { describe, expect, test } from 'vitest'
import { ruleIds } from '../../../src/knowledge/result-rules.ts'
import type { LintDocument } from '../../../src/output/lint/document.ts'
import { lintJunit } from '../../../src/output/lint/junit.ts'
import { lintLines } from '../../../src/output/lint/words.ts'
import { lintMarkdown } from '../../../src/output/lint/markdown.ts'
import { lintSarif } from '../../../src/output/lint/sarif.ts'
import { lintText } from '../../../src/output/lint/text.ts'
import { plainScreen } from '../../../src/output/paint.ts'
import { widthOf } from '../../../src/output/text.ts'
import lintSchema from '../../../src/output/schemas/lint-results.schema.json' with { type: 'json' }
import { faultsOf } from '../schemas.ts'
import { directories, hostile, ignoring, mended, nothing, several } from './documents.ts'

const all = { several, nothing, mended, directories, hostile, ignoring }
const shown = (document: LintDocument, exitCode: number, screen = plainScreen, verbose = false): string =>
  lintText(document, { screen, exitCode, verbose })
const junit = (document: LintDocument, areWarningsFailures = true): string =>
  lintJunit(document, { at: new Date('2026-11-22T10:00:00.123Z'), areWarningsFailures })
const ci = (document: LintDocument, exitCode: number): string => [...lintLines(document, exitCode)].join('')
const sarif = (document: LintDocument): string =>
  [...lintSarif(document, { version: '1.2.3', root: 'file:///work/results/', exitCode: 1 })].join('')

test.each<[file: string, text: string]>([
  ['lint-several.txt', shown(several, 1)],
  ['lint-several-wide.txt', shown(several, 1, { columns: 140, colour: false })],
  ['lint-several-narrow-colour.txt', shown(several, 1, { columns: 50, colour: true })],
  ['lint-nothing.txt', shown(nothing, 0)],
  ['lint-nothing-off.txt', shown({ ...nothing, settings: 'lint.yaml', off: ['bad-json'] }, 0)],
  ['lint-mended.txt', shown(mended, 0)],
  ['lint-directories.txt', shown(directories, 1)],
  ['lint-hostile.txt', shown(hostile, 1)],
  ['lint-ignoring.txt', shown(ignoring, 2)],
  ['lint-ignoring-verbose.txt', shown(ignoring, 2, plainScreen, true)],
  ['lint-ci-ignoring.txt', ci(ignoring, 2)],
  ['lint-junit-ignoring.xml', junit(ignoring)],
  ['lint-markdown-ignoring.md', lintMarkdown(ignoring, 2)],
  ['lint-sarif-ignoring.json', sarif(ignoring)],
  ['lint-ci.txt', ci({ ...several, problems: several.problems.slice(0, 20) }, 1)],
  ['lint-ci-nothing.txt', ci(nothing, 0)],
  ['lint-ci-mended.txt', ci(mended, 0)],
  ['lint-ci-hostile.txt', ci(hostile, 1)],
  ['lint-junit.xml', junit(several)],
  ['lint-junit-forgiven.xml', junit(several, false)],
  ['lint-junit-directories.xml', junit(directories)],
  ['lint-junit-hostile.xml', junit(hostile)],
  ['lint-markdown.md', lintMarkdown(several, 1)],
  ['lint-markdown-nothing.md', lintMarkdown(nothing, 0)],
  ['lint-markdown-mended.md', lintMarkdown(mended, 0)],
  ['lint-markdown-hostile.md', lintMarkdown(hostile, 1)],
  [
    'lint-sarif.json',
    sarif({
      ...several,
      problems: several.problems.slice(0, 6).concat(several.problems.filter(({ together }) => together)),
    }),
  ],
  ['lint-sarif-hostile.json', sarif(hostile)],
])('%s', async (file, text) => {
  await expect(text).toMatchFileSnapshot(`../golden/${file}`)
})

describe('JSON', () => {
  test.each(Object.entries(all))('%s fits its schema', (_, document) => {
    expect(faultsOf('lint-results', JSON.parse(JSON.stringify(document)))).toEqual([])
  })

  test.each<[string, object]>([
    ['an unknown key', { ...nothing, more: 1 }],
    ['a rule that is none', { ...nothing, rules: { zebra: { error: 1, warning: 0 } } }],
    ['a problem without a remedy', { ...nothing, problems: [{ ...several.problems[0], remedy: undefined }] }],
    ['no directory', { ...nothing, directories: [] }],
  ])('%s does not', (_, document) => {
    expect(faultsOf('lint-results', JSON.parse(JSON.stringify(document)))).not.toEqual([])
  })

  test('its schema knows all rules', () => {
    expect(lintSchema.$defs.rule.enum).toEqual(ruleIds)
  })
})

test('--verbose shows every problem', () => {
  const text = shown(several, 1, { columns: 200, colour: false }, true)
  for (const { file } of several.problems) expect(text).toContain(file)
  expect(text).not.toContain('--verbose')
})

test.each<[string, string]>([
  ['text', shown(hostile, 1)],
  ['lines', ci(hostile, 1)],
  ['junit', junit(hostile)],
  ['sarif', sarif(hostile)],
  ['markdown', lintMarkdown(hostile, 1)],
])('nothing in a name or a message steers the terminal: %s', (_, text) => {
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
})

test.each([60, 80, 140])('no line is wider than %d columns', (columns) => {
  const lines = shown(several, 1, { columns, colour: false }).split('\n')
  // what is to be copied stays on one line
  expect(
    lines.filter((line) => widthOf(line) > columns && !line.includes('testops-admin ') && !/\S{60}/.test(line)),
  ).toEqual([])
})

test('every problem is one line for grep, and the last one sums up', () => {
  const lines = ci(several, 1).trimEnd().split('\n')
  expect(lines.filter((line) => /^(?:error|warning) [a-z-]+ build\/results\/\S+( [^:]+)?: /.test(line)).length).toBe(
    several.problems.length,
  )
  expect(lines.at(-1)).toMatch(/exit code 1$/)
})

test.each<[string, LintDocument]>(Object.entries(all))('JUnit counts what it lists: %s', (_, document) => {
  for (const suite of junit(document).split('<testsuite ').slice(1)) {
    const count = (name: string): number => Number(new RegExp(` ${name}="(\\d+)"`).exec(suite)?.[1])
    const listed = (tag: string): number => suite.split(`<${tag} `).length - 1
    expect(['tests', 'failures', 'errors', 'skipped'].map(count)).toEqual(
      ['testcase', 'failure', 'error', 'skipped'].map(listed),
    )
  }
})

test('JUnit tells how many there are, also where not all are listed', () => {
  const { problems, rules } = {
    problems: [several.problems[0]!, several.problems[0]!],
    rules: { [several.problems[0]!.rule]: { error: 12_345, warning: 0 } },
  }
  expect(junit({ ...several, problems, rules })).toContain('message="12345 problems: ')
  expect(
    junit({ ...directories, problems: problems.map((it) => ({ ...it, file: 'a/x-result.json' })), rules }),
  ).toContain('message="2 problems or more: ')
  const forgiven = junit({ ...directories, problems: [], rules: { 'long-field': { error: 0, warning: 5 } } }, false)
  expect(forgiven).not.toContain('<failure')
  expect(forgiven).toContain(
    '5 problems that this rule found are left out of the list, and some may be in this directory',
  )
  const one = junit({ ...directories, problems: [], rules: { 'long-field': { error: 0, warning: 1 } } }, false)
  expect(one).toContain('1 problem that this rule found is left out of the list, and may be in this directory')
})

describe('Markdown', () => {
  const many: LintDocument = {
    ...several,
    undetermined: Array.from({ length: 30 }, () => ({ file: '&'.repeat(600), message: 'm' })),
    problems: Array.from({ length: 5000 }, (_, index) => ({
      ...several.problems[0]!,
      severity: 'error',
      rule: ruleIds[index % 15]!,
      message: `${index} ${'&'.repeat(600)}`,
      remedy: `${index}`,
      effect: '&'.repeat(600),
      file: '&'.repeat(600),
    })),
  }

  test('stays below what GitHub takes', () => {
    const page = lintMarkdown(many, 1)
    expect(Buffer.byteLength(page)).toBeLessThan(1_000_000)
    expect(page.match(/The rest of the report does not fit on this page\.\n\n<\/details>/g)?.length).toBe(15)
    expect(page.match(/<details>/g)?.length).toBe(page.match(/<\/details>/g)?.length)
  })

  test('holds no markup of others', () => {
    expect(lintMarkdown(hostile, 1).replace(/`[^`\n]*`/g, '')).not.toMatch(/<(?!\/?(?:details|summary|code)>)/)
  })
})

describe('SARIF', () => {
  interface Log {
    runs: {
      tool: { driver: { rules: { id: string }[] } }
      results: {
        ruleId: string
        ruleIndex: number
        partialFingerprints: Record<string, string>
        locations: { physicalLocation: { artifactLocation: { uri: string } } }[]
      }[]
    }[]
  }
  const run = (document: LintDocument): Log['runs'][0] => (JSON.parse(sarif(document)) as Log).runs[0]!

  test('results point to their rules', () => {
    const { tool, results } = run(several)
    expect(results.map(({ ruleIndex }) => tool.driver.rules[ruleIndex]?.id)).toEqual(
      several.problems.map(({ rule }) => rule),
    )
  })

  test('fingerprints are unlike each other, and do not depend on the names of files', () => {
    const prints = (document: LintDocument): string[] =>
      run(document).results.map(({ partialFingerprints }) => partialFingerprints['testRulePlace/v1']!)
    const named = several.problems.filter(({ result }) => result)
    const document = { ...several, problems: named }
    expect(new Set(prints(document)).size).toBe(named.length)
    expect(prints({ ...document, problems: named.map((it) => ({ ...it, file: `other-${it.file}` })) })).toEqual(
      prints(document),
    )
  })

  test('names of files are URIs', () => {
    expect(
      run({ ...nothing, problems: [{ ...several.problems[0]!, file: 'a b/ü%-result.json' }] }).results[0]!.locations[0]!
        .physicalLocation.artifactLocation.uri,
    ).toBe('a%20b/%C3%BC%25-result.json')
  })

  test('GitHub refuses more than 25,000 results', () => {
    expect(
      run({ ...several, problems: Array.from({ length: 30_000 }, () => several.problems[0]!) }).results.length,
    ).toBe(25_000)
  })
})
