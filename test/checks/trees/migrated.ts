import { treesMigrated } from '../../../src/checks/trees/migrated.ts'
import { AdminError } from '../../../src/core/error.ts'
import type { MigrationJob } from '../../../src/core/sources.ts'
import { ago, fakeApi, fakeService, image, migrationJob, jobsOf, unreachable } from '../../fakes/index.ts'
import type { CheckTable, Parts } from '../table.ts'

const at = (build: string | null, jobs: readonly MigrationJob[] | AdminError | null = []): Parts => ({
  service: fakeService({ image: image({ build, tag: null }) }),
  api: fakeApi({ migrationJobs: jobs instanceof AdminError ? jobs : jobsOf(jobs) }),
})

/** So many trees of project 1, the first that of job 1. */
const trees = (count: number, of: Partial<MigrationJob> = {}): MigrationJob[] =>
  Array.from({ length: count }, (_, index) =>
    migrationJob({ id: index + 1, name: `project 1, tree ${index + 1}`, ...of }),
  )
const forbidden = new AdminError(
  'FORBIDDEN',
  "GET https://testops.example.org/api/migration/job is not allowed for this API token's user (HTTP 403)",
)

export const treesMigratedTable: CheckTable = {
  check: treesMigrated,
  cases: [
    {
      situation: 'a build that moves no trees',
      status: 'skipped',
      says: ['build 527u01 does not migrate trees: only versions 5.11 to 5.24 do'],
    },
    { situation: 'a build before', sources: at('510u01'), status: 'skipped' },
    { situation: 'the build is not known', sources: at(null), status: 'skipped', says: ['the build is unknown'] },
    {
      situation: 'the service lists no jobs',
      sources: at('524u02', null),
      status: 'skipped',
      says: ['does not list its migration jobs', 'testops-admin migrate-trees -d prod --all-projects'],
    },
    {
      situation: 'there is no job',
      sources: at('5.11'),
      status: 'skipped',
      says: ['lists no migration job', 'migrate-trees -d prod --all-projects'],
    },
    {
      situation: 'all jobs are done',
      sources: at('511u01', [migrationJob()]),
      status: 'ok',
      says: ['1 migration job: 1 COMPLETED; the newest: job 1 tree migration: COMPLETED'],
    },
    {
      situation: 'many jobs are done',
      sources: at('511u01', trees(300)),
      status: 'ok',
      says: ['300 migration jobs: 300 COMPLETED; the newest: job 300 project 1, tree 300'],
      silentOn: ['tree 299'],
    },
    {
      situation: 'the service does not show its jobs to this user',
      sources: at('524u02', forbidden),
      status: 'skipped',
      says: [
        "is not allowed for this API token's user (HTTP 403); if a tree looks wrong, run `testops-admin " +
          'migrate-trees -d prod --all-projects`',
      ],
    },
    {
      situation: 'a job is in a state that is not known here',
      sources: at('524u02', [migrationJob(), migrationJob({ id: 2, name: 'another', status: 'PAUSED' })]),
      status: 'ok',
      says: ['2 migration jobs: 1 PAUSED, 1 COMPLETED'],
    },
    {
      situation: 'all jobs are',
      sources: at('524u02', trees(2, { status: 'PAUSED' })),
      status: 'skipped',
      says: ['the service lists 2 migration jobs: 2 PAUSED. This does not show whether the trees are migrated'],
    },
    {
      situation: 'a job is at work',
      sources: at('511u01', [migrationJob({ status: 'IN_PROGRESS', modifiedAt: ago(60_000) })]),
      status: 'ok',
    },
    {
      situation: 'a failed job was repeated with success',
      sources: at('520u01', [migrationJob({ id: 2 }), migrationJob({ status: 'FAILED', createdAt: ago(9_000_000) })]),
      status: 'ok',
    },
    {
      situation: 'a job has failed',
      sources: at('520u01', [migrationJob({ status: 'FAILED' })]),
      status: 'problem',
      severity: 'warning',
      says: [
        '1 migration job has failed: tree migration',
        new RegExp(
          String.raw`printf 'header = .*Bearer %s.*\$ACCESS_TOKEN.*\| curl -i -K - ` +
            String.raw`'https:\/\/testops\.example\.org\/api\/migration\/job\?status=FAILED`,
        ),
        'testops-admin migrate-trees -d prod --all-projects',
      ],
    },
    {
      situation: 'a job has failed again',
      sources: at('520u01', [
        migrationJob({ id: 2, name: 'project 3', status: 'FAILED' }),
        migrationJob({ name: 'project 3', status: 'FAILED', createdAt: ago(9_000_000) }),
      ]),
      status: 'problem',
      severity: 'warning',
      says: [
        new RegExp(
          String.raw`A migration failed more than once\. ` +
            String.raw`Find the cause in the service's log and fix it\..*` +
            String.raw`"commands":\["journalctl -u testops[^"]*",` +
            '"testops-admin migrate-trees -d prod --project 3 --wait"',
        ),
      ],
    },
    {
      situation: 'jobs were stopped and cancelled',
      sources: at('520u01', [
        migrationJob({ status: 'STOPPED', name: 'project 3' }),
        migrationJob({ id: 2, status: 'CANCELLED', name: 'project 2, tree 5' }),
      ]),
      status: 'problem',
      severity: 'warning',
      says: [
        '1 migration job was stopped and did not run again: project 3',
        '1 migration job was cancelled and did not run again: project 2, tree 5',
        "Let the service rebuild these trees. If the rebuild fails again, the service's log says why.",
        'journalctl -u testops',
        'testops-admin migrate-trees -d prod --project 3 --tree 2/5 --wait',
      ],
    },
    {
      situation: 'many trees of one project have failed',
      sources: at('520u01', trees(90, { status: 'FAILED' })),
      status: 'problem',
      severity: 'warning',
      says: [
        '90 migration jobs have failed: project 1, tree 90; project 1, tree 89; ',
        'project 1, tree 86 and 85 more',
        'and 85 more"]',
        'migrate-trees -d prod --project 1 --wait',
      ],
      silentOn: ['tree 85:'],
    },
    {
      situation: 'one of many older jobs has failed',
      sources: at('520u01', [...trees(700).slice(1), migrationJob({ name: 'project 7, tree 1', status: 'FAILED' })]),
      status: 'problem',
      severity: 'warning',
      says: ['1 migration job has failed: project 7, tree 1', 'migrate-trees -d prod --tree 7/1 --wait'],
    },
    {
      situation: 'one of many older jobs has failed, and was repeated with success',
      sources: at('520u01', [
        ...trees(700).slice(1),
        migrationJob({ name: 'project 7, tree 1', status: 'FAILED', createdAt: ago(9_000_000) }),
        migrationJob({ id: 2, name: 'project 7, tree 1' }),
      ]),
      status: 'ok',
    },
    {
      situation: 'a job failed after many others were done',
      sources: at('520u01', [...trees(6000), migrationJob({ id: 6001, name: 'project 7, tree 1', status: 'FAILED' })]),
      status: 'problem',
      severity: 'warning',
      says: ['migrate-trees -d prod --tree 7/1 --wait'],
      silentOn: ['were read'],
    },
    {
      situation: 'a job failed before more were done than are looked at',
      sources: at('520u01', [...trees(6000).slice(1), migrationJob({ name: 'project 7, tree 1', status: 'FAILED' })]),
      status: 'problem',
      severity: 'warning',
      says: [
        'only the newest 5,000 COMPLETED jobs were read: one that was not read may already ' +
          'have repeated one of the jobs above successfully',
        '--all-projects --wait',
      ],
    },
    {
      situation: 'more jobs have failed than are looked at',
      sources: at('520u01', trees(1500, { status: 'FAILED' })),
      status: 'problem',
      severity: 'warning',
      says: ['at least 1,000 migration jobs have failed', 'migrate-trees -d prod --all-projects --wait'],
    },
    {
      situation: 'a job without a name hangs',
      sources: at('520u01', [migrationJob({ name: '', status: 'IN_PROGRESS', modifiedAt: ago(3 * 3_600_000) })]),
      status: 'problem',
      severity: 'warning',
      says: ['1 migration job is unfinished, without progress for 3 h: job 1', '--all-projects --wait'],
    },
    {
      situation: 'a job hangs',
      sources: at('520u01', [migrationJob({ status: 'IN_PROGRESS', modifiedAt: ago(3 * 3_600_000) })]),
      status: 'problem',
      severity: 'warning',
      says: ['without progress for 3 h'],
    },
    {
      situation: 'the API is down',
      sources: { ...at('520u01'), api: unreachable('api') },
      status: 'unknown',
      because: 'api/reachable',
    },
  ],
}
