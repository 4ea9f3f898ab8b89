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
  /** where the settings say nothing else */
  readonly severity: 'error' | 'warning'
  /** the healthy condition */
  readonly title: string
  /** what the service does with a result that breaks it */
  readonly effect: string
  /** how it is mended where the results are made: in the code of the tests, or in the pipeline */
  readonly remedy: string
  /** where these facts come from */
  readonly source: string
}

/**
 * How a test's code says it to its adapter: allurereport.org/docs, the reference of each framework; of
 * allure-js-commons 3.12.2 also its declarations (`facade.d.ts`), of allure-java `io.qameta.allure.Allure`, of
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

/** Texts of `explain` in src/knowledge/explain/faults say the same at more length. */
export const resultRules: Readonly<Record<RuleId, ResultRule>> = {
  'empty-results': {
    severity: 'error',
    title: 'the directory holds results',
    effect:
      'Nothing is uploaded: the launch stays empty, or its results stay `В очереди` (queued) and become `Неизвестный` (unknown) when it is closed.',
    remedy:
      'Give the directory that the tests write their results to, here and in the settings of the plugin or uploader; list it in the build right after the tests.',
    source: 'docs/facts/service.md#states-of-a-result, docs/facts/service.md#errors',
  },
  'files-before-agent': {
    severity: 'error',
    title: 'the agent processes the files that it indexes',
    effect:
      'The agent looks for files that are new while it runs. Those that were there before it started are not processed, so their results are missing.',
    remedy:
      'Plugin: set its option `indexExistingFiles: true`. Uploader: use its command `upload`, which imports the files that are there already, or start the tests by `watch`.',
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors, docs/facts/results.md',
  },
  'oversize-result': {
    severity: 'error',
    title: `result files have at most ${grouped(limits.resultFileBytes)} bytes`,
    effect: 'The file is taken for an attachment, so the result of this test is missing.',
    remedy: `Put what is large into attachments (text or CSV), not into messages, steps or parameters: ${inCode.attachment}.`,
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors',
  },
  'long-field': {
    severity: 'warning',
    title: `text fields of a test have at most ${limits.fieldCharacters} characters`,
    effect: `What is behind the ${limits.fieldCharacters}th character is cut off at import; texts that differ only there come to be the same.`,
    remedy: `Shorten the text, and put what is long into the description or an attachment: ${inCode.attachment}.`,
    source: 'docs/facts/service.md#result-files, docs/reference/faults.md',
  },
  'nested-attachment': {
    severity: 'error',
    title: 'attachments lie in the root of the results directory',
    effect:
      'The path is taken as a part of the name of the attachment, so that it is linked to no result, and deleted as unlinked.',
    remedy: `Have all attachments written into the root of the results directory, and named without a path; the adapter does it where the test hands it the content: ${inCode.attachment}.`,
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors',
  },
  'missing-attachment': {
    severity: 'error',
    title: 'the attachments that results name are there',
    effect: 'Nothing is shown for this attachment.',
    remedy:
      'Hand the whole results directory on between the steps of the pipeline, and upload it once the test processes have ended, so that all files are written.',
    source: 'docs/facts/results.md, docs/reference/faults.md',
  },
  'orphan-attachment': {
    severity: 'warning',
    title: 'each file of the directory is named by a result',
    effect: 'The file is linked to no result, and deleted as unlinked.',
    remedy:
      'Empty the results directory before each run, and keep files of other tools out of it. After a crash of the test process its results are missing: run these tests again.',
    source: 'docs/facts/service.md#result-files, docs/reference/faults.md',
  },
  'no-identifier': {
    severity: 'error',
    title: 'each result can be matched to a test case',
    effect:
      'The result stays `Несвязанный` (unlinked): without a valid identifier and a full name it is matched to no test case.',
    remedy: `Set the ID of the test case in the code of the test: ${inCode.identifier}. A newer version of the adapter may write \`fullName\`.`,
    source:
      'docs/facts/service.md#result-files, docs/facts/service.md#states-of-a-result, docs/facts/service.md#errors, docs/facts/results.md',
  },
  'invented-identifier': {
    severity: 'error',
    title: 'identifiers in labels are IDs of test cases',
    effect:
      'The result stays `Несвязанный` (unlinked): the identifier is the ID of a test case, which the service assigns, and nothing else is matched.',
    remedy: `Copy the ID of the test case from the service into the code (${inCode.identifier}), or take the identifier out where the adapter writes \`fullName\`.`,
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#states-of-a-result, docs/reference/faults.md',
  },
  'name-collision': {
    severity: 'warning',
    title: 'different tests have different full names',
    effect: 'These results become one, that of the last run; the others are shown as its `Перезапуски` (reruns).',
    remedy: `Rename the methods, and set an identifier for each of the tests (both is safest): ${inCode.identifier}. Where they are runs of one test with different data, write its parameters: ${inCode.parameter}.`,
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors',
  },
  'parameters-missing': {
    severity: 'warning',
    title: 'results of a parameterized test bear its parameters',
    effect: 'These runs become one result with `Перезапуски` (reruns), whatever the outcome of each is.',
    remedy: `Write every parameter of the test into its result: ${inCode.parameter}. Where these are runs of several launches, empty the results directory before each.`,
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors, docs/reference/faults.md',
  },
  'volatile-parameter': {
    severity: 'warning',
    title: 'parameters and environment entries have the same values in each run',
    effect:
      'The service waits for a result with the value that it knows, which never arrives: the test stays `В очереди` (queued), and a new result is created beside it.',
    remedy: `Put values that change into attachments, or mark the parameter as excluded: ${inCode.excluded}.`,
    source: 'docs/facts/service.md#states-of-a-result, docs/facts/service.md#errors, docs/facts/results.md',
  },
  'bad-json': {
    severity: 'error',
    title: 'result files are JSON',
    effect: 'The file cannot be read, so the result of its test is missing.',
    remedy:
      'Run the test again, and upload once the test processes have ended; look for a full disk, and for what else writes into the directory.',
    source: 'docs/facts/results.md, docs/reference/faults.md',
  },
  'bad-shape': {
    severity: 'error',
    title: 'result files have the form that adapters write',
    effect: 'The file cannot be read as a result, so that of its test may be missing.',
    remedy:
      'Write results with the adapter of the test framework, and bring it up to date; where a program of your own writes them, give each field the type that is said here.',
    source: 'docs/facts/service.md#result-files, docs/facts/results.md, docs/reference/faults.md',
  },
  'not-utf8': {
    severity: 'error',
    title: 'result files are in UTF-8',
    effect: 'Names with other than English letters come out wrong, or the file cannot be read at all.',
    remedy:
      'Have the tests write UTF-8: in Java `-Dfile.encoding=UTF-8` for the process that runs the tests, in Python `PYTHONUTF8=1`.',
    source: 'docs/reference/faults.md',
  },
}
