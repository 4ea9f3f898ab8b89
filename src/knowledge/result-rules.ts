import { grouped } from '../core/format.ts'
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
    '`@AllureId("123")` in Java and Kotlin, `@allure.id("123")` in Python, ' +
    '`await allure.allureId("123")` in JavaScript',
  parameter:
    '`await allure.parameter(name, value)` in JavaScript, `Allure.parameter(name, value)` in Java, ' +
    '`allure.dynamic.parameter(name, value)` in Python',
  excluded:
    '`await allure.parameter(name, value, { excluded: true })` in JavaScript, `Allure.parameter(name, value, ' +
    'true)` in Java, `allure.dynamic.parameter(name, value, excluded=True)` in Python',
  attachment:
    '`await allure.attachment(name, content, type)` in JavaScript, `Allure.addAttachment(name, content)` in ' +
    'Java, `allure.attach(content, name)` in Python',
} as const

/** Texts in explain/faults say the same at more length. */
export const resultRules: Readonly<Record<RuleId, ResultRule>> = {
  'empty-results': {
    severity: 'error',
    title: 'the directory contains results',
    effect:
      'Nothing is uploaded. A launch from a CI system stays empty. In a launch from the service, results stay ' +
      '`В очереди` (queued), and become `Неизвестный` (unknown) when the launch is closed.',
    remedy:
      'Find out where the tests write their results. Pass this directory to `lint-results`, and set it in the plugin ' +
      'or uploader. To see the files, add a build step that lists the directory right after the tests.',
    source: 'docs/facts/service.md#states-of-a-result, docs/facts/service.md#errors',
  },
  'files-before-agent': {
    severity: 'error',
    title: 'the agent indexes and processes the files that it finds',
    effect: 'The agent processes only files that appear while it runs. Results in older files are missing.',
    remedy:
      'With the plugin, set the option `indexExistingFiles: true`. With the uploader, use the command ' +
      '`upload`, which imports existing files, or start the tests with `watch`.',
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors, docs/facts/results.md',
  },
  'oversize-result': {
    severity: 'error',
    title: `result files are no larger than ${grouped(limits.resultFileBytes)} bytes`,
    effect: 'The service treats the file as an attachment, so the result of this test is missing.',
    remedy:
      'Put large data into attachments (text or CSV), not into messages, steps or parameters: ' +
      `${inCode.attachment}.`,
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors',
  },
  'long-field': {
    severity: 'warning',
    title: `text fields of a test have at most ${limits.fieldCharacters} characters`,
    effect:
      `The import keeps only the first ${limits.fieldCharacters} characters. Texts that begin with the same ` +
      `${limits.fieldCharacters} characters become identical.`,
    remedy: `Shorten the text, and put long text into the description or an attachment: ${inCode.attachment}.`,
    source: 'docs/facts/service.md#result-files, docs/reference/faults.md',
  },
  'nested-attachment': {
    severity: 'error',
    title: 'attachments are in the root of the results directory',
    effect:
      "The service treats the path as part of the attachment's name. So it cannot match the attachment to a " +
      'result, and deletes the attachment.',
    remedy:
      'Write all attachments into the root of the results directory, and name them without a path. The adapter ' +
      `does this if the test passes the content of the attachment: ${inCode.attachment}.`,
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors',
  },
  'missing-attachment': {
    severity: 'error',
    title: 'every attachment named in a result exists',
    effect: 'The service shows nothing for this attachment.',
    remedy:
      'Pass the whole results directory from each step of the pipeline to the next. Upload only after the test ' +
      'processes have ended, when all files are written.',
    source: 'docs/facts/results.md, docs/reference/faults.md',
  },
  'orphan-attachment': {
    severity: 'warning',
    title: 'every file in the directory belongs to a result',
    effect: 'No result refers to this file, so the service deletes it.',
    remedy:
      'Empty the results directory before each run, and keep files of other tools out of it. If the test ' +
      'process crashed, results are missing: rerun the tests that have no result.',
    source: 'docs/facts/service.md#result-files, docs/reference/faults.md',
  },
  'no-identifier': {
    severity: 'error',
    title: 'each result can be matched to a test case',
    effect:
      'The result stays `Несвязанный` (unlinked): to match a test case, it needs a valid identifier or a full name.',
    remedy:
      `Set the ID of the test case in the code of the test: ${inCode.identifier}. Or update the adapter: a newer ` +
      `version may write \`fullName\`.`,
    source:
      'docs/facts/service.md#result-files, docs/facts/service.md#states-of-a-result, ' +
      'docs/facts/service.md#errors, docs/facts/results.md',
  },
  'invented-identifier': {
    severity: 'error',
    title: 'every identifier in a label is the ID of a test case',
    effect:
      'The result stays `Несвязанный` (unlinked): its identifier must be the ID that the service assigned to a ' +
      'test case.',
    remedy:
      `Copy the ID of the test case from the service into the code (${inCode.identifier}), or remove the ` +
      `identifier if the adapter writes \`fullName\`.`,
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#states-of-a-result, docs/reference/faults.md',
  },
  'name-collision': {
    severity: 'warning',
    title: 'different tests have different full names',
    effect:
      'The service shows the last of these results, and the others only as `Перезапуски` (reruns) of the last one.',
    remedy:
      `If these are different tests, rename the methods and set an identifier for each test: ${inCode.identifier}. ` +
      `If one test runs with different data, write its parameters into its results: ${inCode.parameter}.`,
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors',
  },
  'parameters-missing': {
    severity: 'warning',
    title: 'each result of a parameterized test contains the parameters of the test',
    effect:
      'The service shows the last of these runs as the result, and the others only in its tab `Перезапуски` ' +
      '(reruns), even if their outcomes differ.',
    remedy:
      `Write every parameter of the test into its result: ${inCode.parameter}. If the ` +
      'directory also contains results of earlier launches, empty it before each launch.',
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors, docs/reference/faults.md',
  },
  'volatile-parameter': {
    severity: 'warning',
    title: 'parameters and entries of the environment files have the same values in each test run',
    effect:
      'The service waits for a result with the same values as in the earlier run. The new result has other values, ' +
      'so it counts as a second one, and the test stays `В очереди` (queued).',
    remedy:
      'Put values that change from run to run into attachments, or mark the parameter as excluded: ' +
      `${inCode.excluded}.`,
    source: 'docs/facts/service.md#states-of-a-result, docs/facts/service.md#errors, docs/facts/results.md',
  },
  'bad-json': {
    severity: 'error',
    title: 'result files are valid JSON',
    effect: 'The service cannot read the file, so the result of its test is missing.',
    remedy:
      'Run the test again, and upload only after the test processes have ended. Look for a full disk, and for ' +
      'other programs that write into the results directory.',
    source: 'docs/facts/results.md, docs/reference/faults.md',
  },
  'bad-shape': {
    severity: 'error',
    title: 'result files are in the format that adapters produce',
    effect: 'The service cannot parse the file as a test result, so this test may be missing from the launch.',
    remedy:
      'Write results with the adapter of the test framework, and update the adapter. If your own program ' +
      'writes the results, correct the types of their fields.',
    source: 'docs/facts/service.md#result-files, docs/facts/results.md, docs/reference/faults.md',
  },
  'not-utf8': {
    severity: 'error',
    title: 'result files are in UTF-8',
    effect: 'Names with non-English letters come out wrong, or the service cannot read the file at all.',
    remedy:
      'Make the tests write UTF-8: in Java, pass `-Dfile.encoding=UTF-8` to the process that runs the tests; ' +
      'in Python, set `PYTHONUTF8=1`.',
    source: 'docs/reference/faults.md',
  },
}
