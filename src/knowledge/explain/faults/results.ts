import type { ExplainText } from '../entry.ts'
import { tellsOfEarlierFiles } from '../signatures.ts'

/** Of result files and their upload. Ids are those of the fault matrix. */
export const resultsFaults: readonly ExplainText[] = [
  {
    id: 'empty-results',
    kind: 'fault',
    title: 'the results directory that is uploaded is wrong or empty',
    severities: ['error'],
    meaning:
      'A launch from a CI system is empty, or a launch that was started from the service holds results that ' +
      'stay `В очереди` (queued) and become `Неизвестный` (unknown) when it is closed. No result has arrived.',
    causes: [
      'The path in the settings of the plugin or uploader is another one than the tests write their results to.',
      'The tests did not run, or wrote no results.',
    ],
    verify: [
      'testops-admin lint-results RESULTS',
      'ls -la RESULTS | head   # in the build, right after the tests',
      "find . -name '*-result.json' | head",
    ],
    remedies: [
      {
        text:
          'Correct the path in the settings of the plugin or uploader. Let the build list the directory, so ' +
          'that you see what is there.',
        commands: [],
      },
    ],
    source: 'docs/facts/service.md#states-of-a-result, docs/facts/service.md#errors',
    signatures: ['agent-nothing-indexed'],
    words: [
      'no results in the launch, launch without results',
      'no tests in the launch, nothing in the launch',
      'results are not uploaded, results do not appear',
      'в запуске ничего нет',
      'nothing is uploaded, nothing was uploaded to the launch',
      'fix the path setting of the agent, list the directory during the build',
      'launch from a CI system is empty, or a launch from the service holds queued results',
      'wrong or empty results directory path',
      'empty launch, no results arrived',
      'запуск пустой, пустой лаунч, нет результатов, неверный путь к каталогу с результатами',
    ],
    see: ['queued', 'unknown-status'],
  },
  {
    id: 'files-before-agent',
    kind: 'fault',
    title: 'result files were there before the agent started, and are not processed',
    severities: ['error'],
    meaning:
      'The log of the agent (a plugin of a build server, or the uploader) shows files indexed above 0, ' +
      'processed 0, and errors above 0. The agent looks for files that are new while it runs. It does not ' +
      'process those that were there before.',
    causes: [
      'The tests ran before the agent started.',
      'The results directory was not emptied, and no new files came.',
    ],
    verify: ['testops-admin lint-results RESULTS --agent-log AGENT_LOG', "grep -iE 'indexed|processed' AGENT_LOG"],
    remedies: [
      { text: 'Plugin: set its option `indexExistingFiles` to true.', commands: [] },
      {
        text: 'Uploader: use its command `upload`, which imports the files that are already in the results directory.',
        commands: [],
      },
    ],
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors, docs/facts/results.md',
    isToldBy: tellsOfEarlierFiles,
    names: ['indexExistingFiles'],
    words: [
      'files are indexed but not processed, agent found files but processed none, files are not processed by the agent',
      'indexed and processed 0',
      'allurectl watch, allurectl upload',
      'agent log line reports files indexed greater than 0, processed 0, errors greater than 0',
      'files were in the results directory before the agent started and nothing new was added',
      'indexExistingFiles, uploader command upload',
      'файлы проиндексированы, но не обработаны, файлы были в каталоге до запуска агента',
    ],
    see: ['agent-counts'],
  },
  {
    id: 'oversize-result',
    kind: 'fault',
    title: 'a result file is larger than 2,000,000 bytes',
    severities: ['error'],
    meaning:
      'The service takes a `*-result.json` above 2,000,000 bytes for an attachment, so its result is ' +
      'missing. A file of exactly that size is still a result.',
    causes: ['The result itself holds logs, page sources or data: in messages, steps or parameters.'],
    verify: [
      'testops-admin lint-results RESULTS',
      "find RESULTS -name '*-result.json' -size +2000000c -exec ls -l {} +",
    ],
    remedies: [{ text: 'Have the tests put such data into attachments (text or CSV).', commands: [] }],
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors',
    words: [
      'move data into attachments, text or CSV',
      'result file ignored as a result',
      'file larger than 2000000 bytes, result too large, 2 MB',
      'файл результата слишком большой, больше 2 мб, результат не распознан',
    ],
  },
  {
    id: 'long-field',
    kind: 'fault',
    title: 'a text field of an automated test is longer than 255 characters',
    severities: ['warning'],
    meaning:
      'Text fields of an automated test hold 255 characters. The import cuts off the rest, so two long names ' +
      'that differ only after that become the same. The fields are the name, the full name, and the texts of ' +
      'labels, links and parameters. An emoji counts as two characters, as in Java.',
    causes: ['Names of tests contain their parameters, or whole sentences.'],
    verify: [
      'testops-admin lint-results RESULTS',
      "jq -r '[.name, .fullName, (.labels // [])[].value, (.parameters // [])[].value] | map(strings | select(length > 255)) | .[]' RESULTS/*-result.json",
    ],
    remedies: [{ text: 'Shorten the names, and put long text into the description or an attachment.', commands: [] }],
    source: 'docs/facts/service.md#result-files, docs/reference/faults.md',
    words: [
      'field is cut off at 255 characters, name truncated',
      'название обрезано до 255 символов, имя теста обрезается',
    ],
  },
  {
    id: 'bad-json',
    kind: 'fault',
    title: 'a result file is not valid JSON',
    severities: ['error'],
    meaning: 'The service cannot read a `*-result.json`, so its result is missing in the launch.',
    causes: [
      'The test process was killed while it wrote the file.',
      'Disk space ran out, or something else wrote into the file.',
    ],
    verify: [
      'testops-admin lint-results RESULTS',
      'for file in RESULTS/*-result.json; do jq empty "$file" || echo "$file"; done',
    ],
    remedies: [{ text: 'Run those tests again. Upload once all test processes have ended.', commands: [] }],
    source: 'docs/facts/results.md, docs/reference/faults.md',
    words: ['result file is broken json, truncated result file', 'повреждённый json файл результата'],
  },
  {
    id: 'bad-shape',
    kind: 'fault',
    title: 'a result file is JSON, but not a result',
    severities: ['error'],
    meaning:
      'A `*-result.json` does not have the form that adapters write: it is not an object, it has no fields, ' +
      'or its fields have other types. `labels` and `parameters` are lists of objects, and their values are texts.',
    causes: ['Your own script wrote it, or an adapter that is out of date.'],
    verify: [
      'testops-admin lint-results RESULTS',
      'jq -r \'if type != "object" then input_filename elif ((.labels // []) | type) != "array" or ((.parameters // []) | type) != "array" then input_filename else empty end\' RESULTS/*-result.json',
    ],
    remedies: [{ text: 'Write results with the adapter of the test framework, and update the adapter.', commands: [] }],
    source: 'docs/facts/service.md#result-files, docs/facts/results.md, docs/reference/faults.md',
    words: ['result json has a wrong shape', 'неверная структура файла результата'],
  },
  {
    id: 'not-utf8',
    kind: 'fault',
    title: 'a result file is not in UTF-8',
    severities: ['error'],
    meaning: 'Names with non-English letters come out wrong, or the file cannot be read at all.',
    causes: ['The tests ran with another default encoding, for example on Windows.'],
    verify: [
      'testops-admin lint-results RESULTS',
      'for file in RESULTS/*-result.json; do iconv -f UTF-8 -t UTF-8 "$file" > /dev/null || echo "$file"; done',
    ],
    remedies: [{ text: 'Have the tests write UTF-8 (Java: -Dfile.encoding=UTF-8).', commands: [] }],
    source: 'docs/reference/faults.md',
    words: ['result file encoding is not utf-8, garbled names', 'неверная кодировка файла результата, кракозябры'],
  },
]
