import { resultRules } from '../../../src/knowledge/result-rules.ts'
import type { RuleId } from '../../../src/knowledge/result-rules.ts'
import type { LintDocument, LintProblem } from '../../../src/output/lint/document.ts'

const problem = (rule: RuleId, file: string, of: Pick<LintProblem, 'message'> & Partial<LintProblem>): LintProblem => {
  const { severity, effect, remedy } = resultRules[rule]
  return { rule, severity, file, effect, remedy, ...of }
}

const ruled = (problems: readonly LintProblem[]): Pick<LintDocument, 'problems' | 'rules' | 'summary'> => {
  const rules: Record<string, { error: number; warning: number }> = {}
  const summary = { error: 0, warning: 0, suppressed: 0 }
  for (const { rule, severity } of problems) {
    rules[rule] ??= { error: 0, warning: 0 }
    rules[rule][severity] += 1
    summary[severity] += 1
  }
  return { problems, rules, summary }
}

const empty = { schemaVersion: 1, off: [], suppressed: [], undetermined: [], undeterminedCount: 0 } as const
const extent = { files: 1502, results: 1284, bytes: 5_250_000 }

export const nothing: LintDocument = {
  ...empty,
  ...extent,
  directory: 'build/results',
  directories: [{ directory: 'build/results', within: '.', ...extent }],
  ...ruled([]),
}

const of = (name: string, fullName?: string): Pick<LintProblem, 'result'> => ({
  result: { name, ...(fullName !== undefined && { fullName }), status: 'passed' },
})

/** A bit of everything. */
export const several: LintDocument = {
  ...nothing,
  settings: '.testops-lint.yaml',
  off: ['orphan-attachment'],
  ...ruled([
    problem('nested-attachment', '5f3a-result.json', {
      place: 'steps[0].attachments[1].source',
      message: '`source` refers to a file in a subdirectory: shots/login.png',
      ...of('signs in', 'shop.Login.signsIn'),
    }),
    problem('no-identifier', '77c1-result.json', {
      message: 'there is neither an identifier label nor a full name',
      ...of('pays by card'),
    }),
    problem('invented-identifier', 'a001-result.json', {
      place: 'labels[2].value',
      message: 'the label `AS_ID` holds `TC-17`, which no service assigns',
      ...of('sees the cart', 'shop.Cart.sees'),
    }),
    problem('bad-json', 'cut-result.json', {
      place: 'line 4, column 7 (byte 120)',
      message: 'the text ends in the middle',
    }),
    ...Array.from({ length: 12 }, (_, index) =>
      problem('long-field', `b0${String(index).padStart(2, '0')}-result.json`, {
        place: 'name',
        message: `name has ${256 + index} characters, 255 are kept`,
        ...of('x'.repeat(20)),
      }),
    ),
    problem('name-collision', 'c1-result.json', {
      message: '3 results of 2 tests bear the full name shop.Checkout.pays: they differ in their suites',
      ...of('pays', 'shop.Checkout.pays'),
      together: [
        { file: 'c1-result.json', name: 'pays', status: 'passed', start: 1_795_000_000_000 },
        { file: 'c2-result.json', name: 'pays twice', status: 'failed', start: 1e300 },
        { file: 'c3-result.json' },
      ],
      togetherCount: 23,
    }),
    ...Array.from({ length: 300 }, (_, index) =>
      problem('volatile-parameter', `d${index}-result.json`, {
        place: 'parameters[0].value',
        message: 'the parameter `started` holds a time',
        ...of(`opens page ${index}`),
      }),
    ),
  ]),
  undetermined: [{ file: 'gone-result.json', message: 'vanished while it was read' }],
  undeterminedCount: 1,
}

/** Two directories, more problems than are kept, and a copy that was mended. */
export const mended: LintDocument = {
  ...nothing,
  directory: 'mended',
  directories: [{ directory: 'mended', within: '.', ...extent }],
  fix: {
    from: 'build/results',
    output: 'mended',
    files: 1502,
    mended: { 'nested-attachment': 1200, 'long-field': 3 },
    left: [
      {
        rule: 'long-field',
        file: 'b-result.json',
        place: 'fullName',
        message: 'it is kept whole in an attachment, and not cut',
      },
    ],
    leftCount: 7,
    omitted: [{ file: 'pipe', message: 'a pipe, not a file' }],
  },
}

export const directories: LintDocument = {
  ...nothing,
  directory: '.',
  directories: [
    { directory: 'a/results', within: 'a/results', files: 2, results: 1, bytes: 900 },
    { directory: 'b', within: 'b', files: 0, results: 0, bytes: 0 },
  ],
  ...ruled([
    problem('empty-results', 'b', { message: 'there is no directory b' }),
    problem('bad-shape', 'a/results/1-result.json', {
      place: 'labels',
      message: '`labels` is a text, and has to be a list',
    }),
  ]),
  summary: { error: 20_002, warning: 0, suppressed: 0 },
  rules: { 'empty-results': { error: 1, warning: 0 }, 'bad-shape': { error: 20_001, warning: 0 } },
}

const nasty = 'x\u001b[31m\r\n\u202e`<b>|&"]]>*_\u0000\ud800 <!-- </details> {{'

/** Names and messages that would steer a terminal, or break out of XML, Markdown and JSON. */
export const hostile: LintDocument = {
  ...nothing,
  directory: nasty,
  directories: [{ directory: nasty, within: '.', ...extent }],
  settings: nasty,
  ...ruled([
    problem('no-identifier', nasty, {
      place: nasty,
      message: nasty,
      effect: nasty,
      remedy: nasty,
      result: { name: nasty, fullName: nasty, status: nasty },
    }),
    problem('name-collision', nasty, {
      message: nasty,
      result: { fullName: nasty },
      together: [{ file: nasty, name: nasty, status: nasty, start: -1e300 }],
      togetherCount: 1,
    }),
  ]),
  undetermined: [{ file: nasty, message: nasty }],
  undeterminedCount: 1,
}

const ignored = problem('bad-shape', 'a-result.json', {
  place: 'labels',
  message: '`labels` is a text, and has to be a list',
})
/** One rule is ignored, and found three problems, of which the document has one. */
export const ignoring: LintDocument = {
  ...nothing,
  ...ruled([problem('long-field', 'b-result.json', { message: 'the name has 300 characters' })]),
  summary: { error: 0, warning: 1, suppressed: 3 },
  suppressed: [
    {
      rule: 'bad-shape',
      reason: 'INC-7: the adapter is being replaced',
      until: '2027-01-31',
      count: 3,
      problems: [ignored],
    },
  ],
}
