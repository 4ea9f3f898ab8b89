import { defineCheck } from '../../core/check.ts'
import type { Finding, Outcome } from '../../core/check.ts'
import type { MigrationJob } from '../../core/sources.ts'
import { migratesTrees, parseBuild, treeMigration } from '../../knowledge/builds.ts'
import { byHand } from '../support/by-hand.ts'
import { curlAsUser } from '../support/evidence.ts'
import { moment, span } from '../support/format.ts'
import { tolerant } from '../support/wanted.ts'

/** A job that has not moved for so long hangs. */
const hangsAfterMs = 3_600_000

const migrate = 'testops-admin migrate-trees -d {deployment} --all-projects'

export const treesMigrated = defineCheck({
  id: 'trees/migrated',
  title: 'trees have their new structure',
  reads: ['service', 'api'],
  remedy: {
    text: 'Let the service build the trees anew.',
    commands: [migrate, byHand('trees/migrated')],
  },
  async run({ service, api }): Promise<Outcome> {
    const image = await service.image()
    const declared = image.build ?? image.tag
    const build = declared === null ? null : parseBuild(declared)
    if (!build)
      return {
        status: 'skipped',
        reason: `the build is not known; versions ${treeMigration.first} to ${treeMigration.last} move their trees`,
      }
    if (!migratesTrees(build)) {
      return {
        status: 'skipped',
        reason: `build ${build.label} moves no trees: versions ${treeMigration.first} to ${treeMigration.last} do`,
      }
    }
    const jobs = await api.migrationJobs()
    if (jobs === null)
      return { status: 'skipped', reason: `the service does not list its migration jobs; where a tree looks wrong: ${migrate}` }
    const latest = latestOfEach(jobs)
    if (latest.length === 0)
      return { status: 'skipped', reason: `the service lists no migration job; where a tree looks wrong: ${migrate}` }
    const clock = await tolerant(api.clock())
    const now = Date.now() + (clock?.offsetMs ?? 0)
    const list = curlAsUser(api.target, '/api/migration/job')
    const findings = latest.flatMap((job): Finding[] => {
      const message = complaint(job, now)
      return message === null ? [] : [{ message, evidence: [list, describe(job)] }]
    })
    const [first, ...others] = findings
    if (first) return { status: 'problem', severity: 'warning', findings: [first, ...others] }
    return { status: 'ok', detail: latest.map(describe).join('; ') }
  },
})

/** A job that was repeated with success has no failure left. Which jobs move trees is not documented, so all count. */
function latestOfEach(jobs: readonly MigrationJob[]): MigrationJob[] {
  const latest = new Map<string, MigrationJob>()
  for (const job of [...jobs].sort((a, b) => timeOf(a) - timeOf(b) || a.id - b.id)) latest.set(job.name, job)
  return [...latest.values()]
}

function timeOf({ createdAt }: MigrationJob): number {
  return createdAt?.getTime() ?? 0
}

function complaint({ name, status, createdAt, modifiedAt }: MigrationJob, now: number): string | null {
  if (status === 'FAILED') return `migration job ${name} has failed`
  const moved = modifiedAt ?? createdAt
  if (status !== 'IN_PROGRESS' || moved === null) return null
  const idleMs = now - moved.getTime()
  return idleMs > hangsAfterMs ? `migration job ${name} is unfinished and has not moved for ${span(idleMs)}` : null
}

function describe({ id, name, status, modifiedAt, createdAt }: MigrationJob): string {
  const at = modifiedAt ?? createdAt
  return `job ${id} ${name}: ${status}${at ? ` at ${moment(at)}` : ''}`
}
