import type { ExplainText } from '../entry.ts'

/** Of results that are matched to no test case, or to the wrong one. Ids are those of the fault matrix. */
export const identityFaults: readonly ExplainText[] = [
  {
    id: 'no-identifier',
    kind: 'fault',
    title: 'a result cannot be matched to a test case',
    severities: ['error'],
    meaning:
      'A result stays `Несвязанный` (unlinked). The service matches a result by the identifier in its labels ' +
      '(`vendor_id` or `as_id`), or by `testCaseId`, which it derives from `fullName`. This result has ' +
      'neither a valid identifier nor a full name.',
    causes: [
      'The adapter writes no `fullName`: this is so for older adapters and some frameworks.',
      'The test has no identifier.',
    ],
    verify: [
      'testops-admin lint-results RESULTS',
      `jq -r 'select((.fullName // "") == "" and ([(.labels // [])[].name | ascii_downcase] | any(. == "vendor_id" or . == "as_id" or . == "allure_id") | not)) | .name' RESULTS/*-result.json`,
    ],
    remedies: [
      {
        text: 'Set the identifier of the test case in the code of the test: the annotation of the adapter puts it into the labels.',
        commands: [],
      },
      { text: 'Update the dependencies of the adapter.', commands: [] },
      {
        text:
          'If the IDE does not support the framework, create a manual test case, and copy its ID into the ' +
          'code. The next result replaces it with the automated one.',
        commands: [],
      },
    ],
    source:
      'docs/facts/service.md#result-files, docs/facts/service.md#states-of-a-result, docs/facts/service.md#errors, docs/facts/results.md',
    words: [
      'allure_id label is missing',
      'set the test identifier explicitly in code by the adapter annotation, update the adapter dependencies',
      'framework lacks IDE support, create a manual test case and copy its ID into code',
      'results are Несвязанный',
      'results are unlinked',
      'no valid identifier label and no fullName',
      'результаты несвязанные, результат не привязан к тест-кейсу',
    ],
    see: ['invented-identifier'],
  },
  {
    id: 'invented-identifier',
    kind: 'fault',
    title: 'a result has an identifier that the service has not assigned',
    severities: ['error'],
    meaning:
      'A result stays `Несвязанный` (unlinked), although it has an identifier. The label must hold the ID of ' +
      'a test case, which the service assigns: a positive whole number that exists. Any other value, or two ' +
      'different ones, match nothing.',
    causes: ['The identifier was made up, or copied from another instance.', 'Its test case was deleted.'],
    verify: [
      'testops-admin lint-results RESULTS',
      `jq -r '.name + ": " + ([(.labels // [])[] | select(.name | ascii_downcase | . == "vendor_id" or . == "as_id" or . == "allure_id") | .value | tostring] | join(", "))' RESULTS/*-result.json`,
    ],
    remedies: [
      {
        text:
          'Copy the ID of the test case from the service into the code. Or leave the identifier out, if the ' +
          'adapter writes `fullName`.',
        commands: [],
      },
    ],
    source:
      'docs/facts/service.md#result-files, docs/facts/service.md#states-of-a-result, docs/facts/results.md, docs/reference/faults.md',
    words: [
      'allure_id',
      'the identifier label value does not exist in the service',
      'vendor_id as_id label is wrong',
      'выдуманный идентификатор, неверный id тест-кейса',
    ],
    see: ['unlinked'],
  },
  {
    id: 'name-collision',
    kind: 'fault',
    title: 'results of different tests have one full name, and collapse into one',
    severities: ['warning'],
    meaning:
      'Result files with the same full name and equal or no parameters become one result. The others are ' +
      'under `Перезапуски` (reruns).',
    causes: [
      'Tests of several projects or modules have the same path and name.',
      'A parameterized test writes no parameters.',
    ],
    verify: ['testops-admin lint-results RESULTS', `jq -r '.fullName' RESULTS/*-result.json | sort | uniq -d`],
    remedies: [
      {
        text: 'Tests without parameters: set an explicit identifier, and rename the methods. Both is safest.',
        commands: [],
      },
      {
        text: 'Tests with parameters: write each of them into the result.',
        commands: ['testops-admin explain parameters-missing'],
      },
    ],
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors',
    words: [
      'many tests collapse into one, several tests are shown as one result, tests with the same name',
      'имена тестов одинаковые',
      'non-parameterized: set an explicit identifier and rename methods; parameterized: write every parameter as a parameters entry in the result',
      'many result files, one result shown',
      'identical full names across projects',
      'много файлов результатов, а показан один результат, одинаковые имена тестов',
    ],
    see: ['reruns', 'parameters-missing'],
  },
  {
    id: 'parameters-missing',
    kind: 'fault',
    title: 'a parameterized test writes no parameters into its results',
    severities: ['warning'],
    meaning:
      'Without parameters, nobody can tell the runs of a parameterized test apart. They become one result ' +
      'with reruns, whatever their outcomes are.',
    causes: ['The adapter does not report the parameters of this kind of test, or is out of date.'],
    verify: [
      'testops-admin lint-results RESULTS',
      `jq -r 'select((.parameters // []) == []) | .fullName' RESULTS/*-result.json | sort | uniq -d`,
    ],
    remedies: [
      { text: 'Write every parameter as an entry of `parameters` (`name` and `value`) in the result.', commands: [] },
    ],
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors, docs/reference/faults.md',
    words: [
      'parameterized tests are shown as one, parameterized tests collapse into one',
      'parameterized test without parameters in results',
      'параметризованный тест без параметров в результатах',
    ],
    see: ['name-collision', 'parameter-combinations'],
  },
  {
    id: 'volatile-parameter',
    kind: 'fault',
    title: 'a parameter or environment variable changes its value from run to run',
    severities: ['warning'],
    meaning:
      'Tests stay `В очереди` (queued), although they have run. The service waits for a result with the ' +
      'expected value of a parameter or environment variable. A result with another value becomes a new one, ' +
      'and the expected one never arrives.',
    causes: [
      'A parameter holds a value that differs each time: a time, a random id, a path, a port.',
      'An environment variable, or one of two, changes its value during the run.',
    ],
    verify: [
      'testops-admin lint-results RESULTS --previous EARLIER_RESULTS',
      `jq -r '.fullName as $test | (.parameters // [])[] | "\\($test) \\(.name)=\\(.value)"' RESULTS/*-result.json | sort   # compare two runs`,
    ],
    remedies: [
      { text: 'Put values that change into attachments.', commands: [] },
      { text: 'If the adapter allows it, mark such parameters as excluded.', commands: [] },
    ],
    source: 'docs/facts/service.md#states-of-a-result, docs/facts/service.md#errors, docs/facts/results.md',
    words: [
      'tests stay queued',
      'a parameter or environment variable changes its value during the run, so the service waits for a result that never arrives',
      'dynamic parameters, dynamic values, environment variables',
      'тесты остаются в очереди, зависли в очереди, динамические параметры, переменные окружения меняются',
    ],
    see: ['queued'],
  },
]
