import { treesMigrated } from '../../../src/checks/trees/migrated.ts'
import type { ApiSource } from '../../../src/core/sources.ts'
import { ago, fakeApi, fakeService, image, migrationJob, unreachable } from '../../fakes/index.ts'
import type { CheckTable, Parts } from '../table.ts'

const at = (build: string | null, migrationJobs: Awaited<ReturnType<ApiSource['migrationJobs']>> = []): Parts => ({
  service: fakeService({ image: image({ build, tag: null }) }),
  api: fakeApi({ migrationJobs }),
})

export const treesMigratedTable: CheckTable = {
  check: treesMigrated,
  cases: [
    {
      situation: 'a build that moves no trees',
      status: 'skipped',
      says: ['build 527u01 moves no trees: versions 5.11 to 5.24 do'],
    },
    { situation: 'a build before', sources: at('510u01'), status: 'skipped' },
    { situation: 'the build is not known', sources: at(null), status: 'skipped', says: ['the build is not known'] },
    {
      situation: 'the service lists no jobs',
      sources: at('524u02', null),
      status: 'skipped',
      says: ['does not list its migration jobs', 'testops-admin migrate-trees -d prod --all-projects'],
    },
    { situation: 'there is no job', sources: at('5.11'), status: 'skipped', says: ['lists no migration job', 'migrate-trees -d prod --all-projects'] },
    {
      situation: 'all jobs are done',
      sources: at('511u01', [migrationJob()]),
      status: 'ok',
      says: ['job 1 tree migration: COMPLETED'],
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
        'migration job tree migration has failed',
        /printf 'header = .*Bearer %s.*\$ACCESS_TOKEN.*\| curl -i -K - https:\/\/testops\.example\.org\/api\/migration\/job/,
        'testops-admin migrate-trees -d prod --all-projects',
      ],
    },
    {
      situation: 'a job hangs',
      sources: at('520u01', [migrationJob({ status: 'IN_PROGRESS', modifiedAt: ago(3 * 3_600_000) })]),
      status: 'problem',
      severity: 'warning',
      says: ['has not moved for 3 h'],
    },
    {
      situation: 'the API is down',
      sources: { ...at('520u01'), api: unreachable('api') },
      status: 'unknown',
      because: 'api/reachable',
    },
  ],
}
