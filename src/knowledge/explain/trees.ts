import type { ExplainEntry } from './entry.ts'

export const treesEntries: readonly ExplainEntry[] = [
  {
    id: 'trees/migrated',
    kind: 'check',
    title: 'trees have their new structure',
    severities: ['warning'],
    meaning:
      'Versions 5.11 to 5.24 move the test-case trees to a new structure. While that has not been done, or has failed, ' +
      'trees are displayed incorrectly. It is reported only on evidence: a job that failed, hangs, was stopped or cancelled, ' +
      'and was not repeated since, where the service lists its jobs. Without such a list, or where the service does not show ' +
      'it to this user, the check is skipped.',
    causes: [
      'The migration was interrupted by a restart, or failed on some project.',
      'It is still running: large projects take their time.',
    ],
    verify: [
      `printf 'header = "Authorization: Bearer %s"' "$ACCESS_TOKEN" | curl -sS -K - 'BASE_URL/api/migration/job?status=FAILED&page=0&size=20&sort=id,DESC'   # also STOPPED, CANCELLED and IN_PROGRESS; ACCESS_TOKEN: see api/token`,
    ],
    remedies: [
      {
        text:
          'Migrate the trees again, as a project owner or administrator. The service accepts the call (202) and works on it ' +
          'afterwards; --wait follows its jobs where it lists them.',
        commands: ['testops-admin migrate-trees --all-projects --wait'],
      },
      {
        text: 'By hand, for one project after the other; its number stands in the address of its pages.',
        commands: [
          `printf 'header = "Authorization: Bearer %s"' "$ACCESS_TOKEN" | curl -i -X POST -K - BASE_URL/api/project/PROJECT/test-case/tree/migration`,
        ],
      },
      {
        text: 'Or in the web interface: rename the tree or add a grouping level, save, take it back, save again.',
        commands: [],
      },
    ],
    source:
      'docs/facts/service.md#trees, docs/facts/service.md#errors, docs/facts/service.md#versions, docs/facts/api.md',
  },
]
