import type { ExplainText } from '../entry.ts'

/** Words of the web interface about results and launches. */
export const resultsTerms: readonly ExplainText[] = [
  {
    id: 'unlinked',
    kind: 'term',
    of: 'no-identifier',
    title: 'Несвязанный (unlinked): status of a result that belongs to no test case',
    severities: [],
    meaning: 'The service received the result, but found no test case for it.',
    names: ['Несвязанный'],
    words: ['тесты несвязанные, tests are unlinked', 'unlinked results', 'несвязанные результаты, статус несвязанный'],
    see: ['invented-identifier'],
  },
  {
    id: 'unknown-status',
    kind: 'term',
    title: 'Неизвестный (unknown): status of a result that never arrived',
    severities: [],
    meaning:
      'When a launch that was started from the service is closed, its tests without a result go from `В ' +
      'очереди` (queued) to this status.',
    causes: [
      'No results arrived: the results directory is wrong or empty.',
      'Results arrived with other parameters than expected.',
    ],
    verify: ['# in the web interface: the results that the launch does hold', 'grep -iE "indexed|processed" AGENT_LOG'],
    remedies: [
      {
        text: 'Check the results directory first, then look for parameters that change.',
        commands: ['testops-admin explain empty-results', 'testops-admin explain volatile-parameter'],
      },
    ],
    source: 'docs/facts/service.md#states-of-a-result',
    names: ['Неизвестный'],
    words: [
      'unknown status after the launch is closed',
      'статус неизвестный, неизвестные результаты после закрытия запуска',
    ],
    see: ['empty-results', 'volatile-parameter'],
  },
  {
    id: 'queued',
    kind: 'term',
    title: 'В очереди (queued): progress of a test that waits for its result',
    severities: [],
    meaning:
      'A launch that was started from the service waits for a result of each of its tests. If a test has run ' +
      'but stays queued, its result was never matched: nothing has arrived, or only results with other ' +
      'values of a parameter or environment variable.',
    causes: [
      'The results directory that is uploaded is wrong or empty.',
      'A parameter or environment variable changes its value during the run.',
    ],
    verify: [
      '# in the web interface: whether the launch holds the same tests a second time, with other parameters',
      'grep -iE "indexed|processed" AGENT_LOG',
    ],
    remedies: [
      { text: 'If nothing has arrived, read this.', commands: ['testops-admin explain empty-results'] },
      {
        text: 'If results have arrived with other values, read this.',
        commands: ['testops-admin explain volatile-parameter'],
      },
      { text: 'When you close the launch, they become `Неизвестный` (unknown).', commands: [] },
    ],
    source:
      'docs/facts/service.md#result-files, docs/facts/service.md#states-of-a-result, docs/facts/service.md#errors',
    names: ['В очереди'],
    words: ['queued results, status queued', 'результаты в очереди, статус в очереди'],
    see: ['volatile-parameter', 'empty-results'],
  },
  {
    id: 'reruns',
    kind: 'term',
    title: 'Перезапуски (reruns): tab of a result with the other results of the same test',
    severities: [],
    meaning:
      'It lists repeated results of one test within a launch. Real reruns belong there; results of different tests do not.',
    causes: [
      'The test has run more than once.',
      'Different tests have one full name, or a parameterized test writes no parameters.',
    ],
    verify: [`jq -r '.fullName' RESULTS/*-result.json | sort | uniq -c | sort -rn | head`],
    remedies: [
      {
        text: 'If results of different tests are there, read these.',
        commands: ['testops-admin explain name-collision', 'testops-admin explain parameters-missing'],
      },
    ],
    source: 'docs/facts/service.md#result-files',
    names: ['Перезапуски'],
    words: ['tab reruns, retries', 'вкладка перезапуски'],
    see: ['name-collision'],
  },
  {
    id: 'parameter-combinations',
    kind: 'term',
    title: 'Комбинации параметров (parameter combinations): section of a parameterized test case',
    severities: [],
    meaning:
      'A table with a column for each parameter name, and a row for each set of values that was received. ' +
      'The parameterized test case is created when the launch is closed. Before that, the section is missing.',
    causes: ['The launch has not been closed yet.', 'The results hold no parameters.'],
    verify: [`jq -c '.parameters' RESULTS/*-result.json | sort | uniq -c`],
    remedies: [
      { text: 'Close the launch.', commands: [] },
      { text: 'Write every parameter into the results.', commands: ['testops-admin explain parameters-missing'] },
    ],
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#states-of-a-result',
    names: ['Комбинации параметров'],
    words: ['parameter combinations, parameterized test case', 'комбинации параметров тест-кейса'],
    see: ['parameters-missing', 'volatile-parameter'],
  },
  {
    id: 'quarantine',
    kind: 'term',
    title: 'quarantine of test cases (Убрать из карантина: remove from quarantine)',
    severities: [],
    meaning:
      'Results of a test case in quarantine show in the tab `Результаты тестов` (test results) of the ' +
      "launch. The launch's counter of tests, analytics and statistics leave them out, and they count as " +
      'resolved even without a linked defect. So results seem to be missing in a launch that is not empty. ' +
      'The test case itself shows who moved it there, and when.',
    causes: ['A member moved the test case to quarantine.'],
    verify: ['# in the web interface: filter the test cases of the project by quarantine = Да (yes)'],
    remedies: [
      {
        text: 'Once its trouble is resolved, press `Убрать из карантина` on the card of one of its results.',
        commands: [],
      },
    ],
    source:
      'docs/facts/service.md#result-files, docs/facts/service.md#states-of-a-result, docs/facts/service.md#errors',
    names: ['карантин', 'Убрать из карантина'],
    words: [
      'some tests are missing from the launch',
      'some results are missing, part of the results is missing',
      'not all tests are shown in the launch, not all tests in the launch',
      'не все тесты в запуске, часть тестов пропала',
      'тест не учитывается в статистике, тест не попадает в аналитику',
      'test is left out of statistics and analytics',
      'some results missing in a non-empty launch',
      'tests are in quarantine',
      'button Убрать из карантина, tab Результаты тестов',
      'часть результатов отсутствует, тест в карантине, не хватает результатов в запуске',
    ],
  },
  {
    id: 'manual-to-automated',
    kind: 'term',
    title: 'a manual test case that is replaced by an automated one',
    severities: [],
    meaning:
      'When a result arrives with the identifier of a manual test case, the data of the automated test case ' +
      'replaces the manual one. This is intended.',
    causes: ['The ID of the manual test case is in the code of a test.'],
    verify: ["grep -rniE 'ALLURE_ID|AS_ID|vendor_id' SOURCES | head"],
    remedies: [{ text: 'If you did not intend this, remove the ID of that test case from the code.', commands: [] }],
    source: 'docs/facts/service.md#result-files',
    words: [
      'manual test case was replaced by automated',
      'ручной тест-кейс заменился автоматизированным, стал автоматическим',
    ],
  },
]
