import type { ExplainText } from '../entry.ts'

/** Ids are those of the fault matrix. */
export const attachmentsFaults: readonly ExplainText[] = [
  {
    id: 'nested-attachment',
    kind: 'fault',
    title: 'an attachment lies in a child directory of the results',
    severities: ['error'],
    meaning:
      'Attachments show in the report tool, but not in the service. They must be in the root of the results ' +
      'directory. The service takes the path as a part of their name: it links an attachment in a child ' +
      'directory to no result, and deletes it as unlinked.',
    causes: [
      'The tests or their adapter write attachments into folders of their own.',
      'Results of several jobs were put into one directory, each in a folder.',
    ],
    verify: [
      'testops-admin lint-results RESULTS',
      'find RESULTS -mindepth 2 -type f | head',
      `grep -lE '"source": *"[^"]*/' RESULTS/*.json | head`,
    ],
    remedies: [
      {
        text: 'Flatten the directory: write, or move, all files into its root, and name them in the results without a path.',
        commands: [],
      },
    ],
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors',
    words: [
      'attachments are in the report, not in the service',
      'no attachments in the launch, attachments are missing, attachments',
      'flatten the directory, use CI pipeline results or disable the skip option, use newer launches or CI artifacts',
      'attachments visible in the report tool but not in the service',
      'attachments in child directories, attachment is not linked and deleted, beside the option of the uploader to skip those of passed tests, and cleanup rules',
      'вложения не отображаются, вложения не видны, пропали вложения, вложение в подкаталоге',
    ],
    see: ['clean-up-rules', 'skipped-attachments'],
  },
  {
    id: 'missing-attachment',
    kind: 'fault',
    title: 'a result names an attachment that is not there',
    severities: ['error'],
    meaning:
      'The `source` of an attachment in a result file names a file that is missing from the results ' +
      'directory. Nothing is shown for it.',
    causes: [
      'The file was not written, was removed before the upload, or has another name.',
      'Only a part of the results directory was passed on between jobs.',
    ],
    verify: [
      'testops-admin lint-results RESULTS',
      `jq -r '.. | .attachments? // empty | .[].source' RESULTS/*.json | sort -u | while read -r name; do test -e "RESULTS/$name" || echo "$name"; done`,
    ],
    remedies: [{ text: 'Pass the whole directory on, and upload once all files are written.', commands: [] }],
    source: 'docs/facts/results.md, docs/reference/faults.md',
    words: ['attachment file is missing', 'файл вложения отсутствует'],
  },
  {
    id: 'orphan-attachment',
    kind: 'fault',
    title: 'a file in the results directory is named by no result',
    severities: ['warning'],
    meaning: 'No result names this file, so it is linked to nothing, and is deleted as unlinked.',
    causes: [
      'Its result was not written, for example after a crash of the test process.',
      'Files of other runs or other tools are in the directory.',
    ],
    verify: [
      'testops-admin lint-results RESULTS',
      `ls RESULTS | grep -e -attachment | while read -r name; do grep -qF "$name" RESULTS/*.json || echo "$name"; done`,
    ],
    remedies: [{ text: 'Empty the results directory before each run, and keep other files out of it.', commands: [] }],
    source: 'docs/facts/service.md#result-files, docs/facts/results.md, docs/reference/faults.md',
    words: [
      'orphan attachment, unlinked file in the results directory',
      'лишние файлы в каталоге результатов, вложение без результата',
    ],
  },
]
