import type { ExplainText } from '../entry.ts'

/** Why attachments are not in the service, where the results directory is in order. */
export const attachmentsTerms: readonly ExplainText[] = [
  {
    id: 'clean-up-rules',
    kind: 'term',
    title: 'clean-up rules: attachments that the service has deleted',
    severities: [],
    meaning:
      'The service deletes attachments by its clean-up rules. Attachments of older launches are then gone, ' +
      'while newer launches still have theirs.',
    causes: ['A clean-up rule has deleted them.'],
    verify: ['# in the web interface: whether attachments of a newer launch of the same tests are there'],
    remedies: [{ text: 'Use newer launches, or the artifacts of the CI system.', commands: [] }],
    source: 'docs/facts/service.md#errors',
    names: ['cleanup rules', 'clean-up rules', 'правила очистки'],
    words: [
      'attachments deleted by cleanup rules',
      'attachments of old launches are gone',
      'правила очистки, вложения удалены при очистке, старые вложения пропали',
    ],
    see: ['nested-attachment', 'skipped-attachments'],
  },
  {
    id: 'skipped-attachments',
    kind: 'term',
    title: 'attachments of passed tests that the uploader leaves out',
    severities: [],
    meaning:
      'The uploader has an option to skip the attachments of passed tests. Then they are in the report tool, ' +
      'which reads the directory itself, but not in the service.',
    causes: ['The option of the uploader that skips attachments of passed tests is on.'],
    verify: [
      '# in the web interface: whether only passed tests lack their attachments',
      '# in the CI system: the options that the uploader is called with',
    ],
    remedies: [{ text: 'Switch that option off, or look at the results of the CI pipeline.', commands: [] }],
    source: 'docs/facts/service.md#errors',
    words: [
      "the uploader's option to skip attachments of passed tests is on",
      'passed tests have no attachments',
      'нет вложений у успешных тестов, вложения успешных тестов пропускаются',
    ],
    see: ['nested-attachment', 'clean-up-rules'],
  },
]
