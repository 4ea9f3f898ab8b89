import type { ExplainEntry } from './entry.ts'

export const treesEntries: readonly ExplainEntry[] = [
  {
    id: 'trees/migrated',
    kind: 'check',
    title: 'trees have their new structure',
    severities: ['warning'],
    meaning:
      'Versions 5.11 to 5.24 move the test-case trees to a new structure. Until that is done, or if it ' +
      'failed, trees are displayed incorrectly. The check goes by what the job list of the service ' +
      'proves: a job failed, hangs, was stopped or cancelled, and was not repeated since. If the service has ' +
      'no such list, or does not show it to this user, the check is skipped.',
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
          'Migrate the trees again, as a project owner or administrator. The service accepts the call (202) ' +
          'and works on it afterwards. If it lists its jobs, --wait follows them.',
        commands: ['testops-admin migrate-trees --all-projects --wait'],
      },
      {
        text: 'By hand, for one project after the other. The number of a project is in the address of its pages.',
        commands: [
          `printf 'header = "Authorization: Bearer %s"' "$ACCESS_TOKEN" | curl -i -X POST -K - BASE_URL/api/project/PROJECT/test-case/tree/migration`,
        ],
      },
      {
        text: 'Or in the web interface: rename the tree or add a grouping level, save, undo the change, save again.',
        commands: [],
      },
    ],
    source:
      'docs/facts/service.md#trees, docs/facts/service.md#errors, docs/facts/service.md#versions, docs/facts/api.md',
  },
]
