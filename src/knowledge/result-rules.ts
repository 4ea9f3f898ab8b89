import { grouped } from '../core/grouped.ts'
import { limits } from './limits.ts'

/** The rules of `lint-results`, in the order of FAULTS.md's second table; each is a fault that `explain` knows. */
export const ruleIds = [
  'empty-results',
  'files-before-agent',
  'oversize-result',
  'long-field',
  'nested-attachment',
  'missing-attachment',
  'orphan-attachment',
  'no-identifier',
  'invented-identifier',
  'name-collision',
  'parameters-missing',
  'volatile-parameter',
  'bad-json',
  'bad-shape',
  'not-utf8',
] as const

export type RuleId = (typeof ruleIds)[number]

/** What a rule stands for. Names of code are in backquotes. */
export interface ResultRule {
  /** Severity unless the settings say otherwise */
  readonly severity: 'error' | 'warning'
  /** The healthy condition */
  readonly title: string
  /** What the service does with a result that breaks it */
  readonly effect: string
  /** How to correct it where the results are made: in the code of the tests, or in the pipeline */
  readonly remedy: string
  /** Where these facts come from */
  readonly source: string
}

/**
 * How a test's code says it to its adapter: allurereport.org/docs, the reference of each framework. For
 * allure-js-commons 3.12.2 also its declarations (`facade.d.ts`), for allure-java `io.qameta.allure.Allure`, for
 * allure-python-commons `allure_commons._allure`.
 */
const inCode = {
  identifier:
    '`@AllureId("123")` in Java and Kotlin, `@allure.id("123")` in Python, `await allure.allureId("123")` in JavaScript',
  parameter:
    '`await allure.parameter(name, value)` in JavaScript, `Allure.parameter(name, value)` in Java, `allure.dynamic.parameter(name, value)` in Python',
  excluded:
    '`await allure.parameter(name, value, { excluded: true })` in JavaScript, `Allure.parameter(name, value, true)` in Java, `allure.dynamic.parameter(name, value, excluded=True)` in Python',
  attachment:
    '`await allure.attachment(name, content, type)` in JavaScript, `Allure.addAttachment(name, content)` in Java, `allure.attach(content, name)` in Python',
} as const

/** Texts in explain/faults say the same at more length. */
export const resultRules: Readonly<Record<RuleId, ResultRule>> = {
  'empty-results': {
    severity: 'error',
    title: 'the directory holds results',
    effect:
      'Nothing is uploaded. The launch stays empty, or its results stay `В очереди` (queued) and become `Неизвестный` (unknown) when it is closed.',
    remedy:
      'Pass the directory that the tests write their results to, here and in the settings of the plugin or uploader. List it in the build right after the tests.',
    source: 'docs/facts/service.md#states-of-a-result, docs/facts/service.md#errors',
  },
  'files-before-agent': {
    severity: 'error',
    title: 'the agent processes the files that it indexes',
    effect:
      'The agent looks for files that are new while it runs. It does not process files that were there before it started, so their results are missing.',
    remedy:
      'Plugin: set its option `indexExistingFiles: true`. Uploader: use its command `upload`, which imports the files that are already there, or start the tests with `watch`.',
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors, docs/facts/results.md',
  },
  'oversize-result': {
    severity: 'error',
    title: `result files have at most ${grouped(limits.resultFileBytes)} bytes`,
    effect: 'The service treats the file as an attachment, so the result of this test is missing.',
    remedy: `Put large data into attachments (text or CSV), not into messages, steps or parameters: ${inCode.attachment}.`,
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors',
  },
  'long-field': {
    severity: 'warning',
    title: `text fields of a test have at most ${limits.fieldCharacters} characters`,
    effect: `The import cuts off the text after the ${limits.fieldCharacters}th character. Texts that differ only there become the same.`,
    remedy: `Shorten the text, and put long text into the description or an attachment: ${inCode.attachment}.`,
    source: 'docs/facts/service.md#result-files, docs/reference/faults.md',
  },
  'nested-attachment': {
    severity: 'error',
    title: 'attachments lie in the root of the results directory',
    effect:
      "The service treats the path as a part of the attachment's name. It links the attachment to no result, and deletes it as unlinked.",
    remedy: `Write all attachments into the root of the results directory, and name them without a path. The adapter does this if the test passes it the content: ${inCode.attachment}.`,
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors',
  },
  'missing-attachment': {
    severity: 'error',
    title: 'every attachment that a result names exists',
    effect: 'The service shows nothing for this attachment.',
    remedy:
      'Pass the whole results directory on between the steps of the pipeline. Upload it once the test processes have ended, so that all files are written.',
    source: 'docs/facts/results.md, docs/reference/faults.md',
  },
  'orphan-attachment': {
    severity: 'warning',
    title: 'every file in the directory is named by a result',
    effect: 'The service links the file to no result, and deletes it as unlinked.',
    remedy:
      'Empty the results directory before each run, and keep files of other tools out of it. After a crash of the test process its results are missing: run these tests again.',
    source: 'docs/facts/service.md#result-files, docs/reference/faults.md',
  },
  'no-identifier': {
    severity: 'error',
    title: 'each result can be matched to a test case',
    effect:
      'The result stays `Несвязанный` (unlinked): without a valid identifier and a full name, it matches no test case.',
    remedy: `Set the ID of the test case in the code of the test: ${inCode.identifier}. A newer version of the adapter may write \`fullName\`.`,
    source:
      'docs/facts/service.md#result-files, docs/facts/service.md#states-of-a-result, docs/facts/service.md#errors, docs/facts/results.md',
  },
  'invented-identifier': {
    severity: 'error',
    title: 'identifiers in labels are IDs of test cases',
    effect:
      'The result stays `Несвязанный` (unlinked): only the ID of a test case, which the service assigns, matches.',
    remedy: `Copy the ID of the test case from the service into the code (${inCode.identifier}), or remove the identifier if the adapter writes \`fullName\`.`,
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#states-of-a-result, docs/reference/faults.md',
  },
  'name-collision': {
    severity: 'warning',
    title: 'different tests have different full names',
    effect: 'These results become one, that of the last run. The others show as its `Перезапуски` (reruns).',
    remedy: `Rename the methods, and set an identifier for each of the tests (both is safest): ${inCode.identifier}. If they are runs of one test with different data, write its parameters: ${inCode.parameter}.`,
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors',
  },
  'parameters-missing': {
    severity: 'warning',
    title: 'results of a parameterized test have its parameters',
    effect: 'These runs become one result with `Перезапуски` (reruns), whatever the outcome of each is.',
    remedy: `Write every parameter of the test into its result: ${inCode.parameter}. If these are runs of several launches, empty the results directory before each.`,
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors, docs/reference/faults.md',
  },
  'volatile-parameter': {
    severity: 'warning',
    title: 'parameters and environment entries have the same values in each run',
    effect:
      'The service waits for a result with the value that it knows, but that result never arrives. The test stays `В очереди` (queued), and a new result appears beside it.',
    remedy: `Put values that change into attachments, or mark the parameter as excluded: ${inCode.excluded}.`,
    source: 'docs/facts/service.md#states-of-a-result, docs/facts/service.md#errors, docs/facts/results.md',
  },
  'bad-json': {
    severity: 'error',
    title: 'result files are valid JSON',
    effect: 'The service cannot read the file, so the result of its test is missing.',
    remedy:
      'Run the test again, and upload once the test processes have ended. Look for a full disk, and for other programs that write into the directory.',
    source: 'docs/facts/results.md, docs/reference/faults.md',
  },
  'bad-shape': {
    severity: 'error',
    title: 'result files have the form that adapters write',
    effect: 'The service cannot read the file as a result, so the result of its test may be missing.',
    remedy:
      'Write results with the adapter of the test framework, and update the adapter. If your own program writes them, give each field the type that is named here.',
    source: 'docs/facts/service.md#result-files, docs/facts/results.md, docs/reference/faults.md',
  },
  'not-utf8': {
    severity: 'error',
    title: 'result files are in UTF-8',
    effect: 'Names with non-English letters come out wrong, or the service cannot read the file at all.',
    remedy:
      'Have the tests write UTF-8: in Java `-Dfile.encoding=UTF-8` for the process that runs the tests, in Python `PYTHONUTF8=1`.',
    source: 'docs/reference/faults.md',
  },
}
