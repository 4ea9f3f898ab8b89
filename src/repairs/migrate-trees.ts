import { counted } from '../core/format.ts'
import { tolerant } from '../domain/wanted.ts'
import type { MigrationItem } from '../core/api-control.ts'
import type { Wanted } from '../core/check.ts'
import { AdminError } from '../core/error.ts'
import type { Step } from '../core/plan.ts'
import { defineRepair } from '../core/repair.ts'
import type { ApiSource, ServiceSource } from '../core/sources.ts'
import { migratesTrees, parseBuild, treeMigration } from '../knowledge/builds.ts'
import { choose, named } from './migrate-trees/chosen.ts'
import type { Chosen, MigrateOptions, Names } from './migrate-trees/chosen.ts'

export const migrateTrees = defineRepair({
  id: 'migrate-trees',
  title: 'reload trees in their new structure',
  reads: ['api'],
  wants: ['service'],
  async plan({ api, service }, _, options: MigrateOptions) {
    // a rejected token is reported before anything is listed
    await api.accessToken()
    const [chosen, declared] = await Promise.all([choose(api, options), declaredBuild(service)])
    const { items } = chosen
    const names = await named(api, chosen)
    const newestJob = options.wait && items.length > 0 ? await newestJobOf(api) : null
    return {
      target: { service: `${api.target}, ${declared === null ? 'build unknown' : `build ${declared}`}` },
      impact: items.length === 0 ? {} : impactOf(items, names),
      evidence: names.lines,
      notes: [
        ...versionNotes(declared),
        ...chosen.notes,
        ...names.notes,
        ...(options.wait && items.length > 0 && newestJob === null ? [noJobs] : []),
      ],
      risks: [],
      steps:
        items.length === 0 ? [] : [askStep(api, chosen, options), ...(newestJob === null ? [] : [waitStep(newestJob)])],
      // without a build the check has nothing to judge
      verifiedBy: declared === null ? [] : ['trees/migrated'],
    }
  },
})

const noJobs = 'the service does not list its migration jobs, so `--wait` has nothing to wait for'

function askStep({ target }: ApiSource, { items }: Chosen, { concurrency }: MigrateOptions): Step {
  const whole = items.filter(({ tree }) => tree === null).length
  const parts = [
    ...(whole > 0 ? [`all trees of ${counted(whole, 'project')}`] : []),
    ...(items.length > whole ? [counted(items.length - whole, 'tree')] : []),
  ]
  return {
    title: `ask the service to reload ${parts.join(' and ')}, ${counted(concurrency, 'call')} at a time`,
    action: { kind: 'migrate-trees', api: target, items, concurrency },
    interrupts: true,
    loses:
      'the trees as they are now. The service clears and reloads them, even while people are using them. ' +
      'This cannot be undone',
  }
}

function waitStep(newestJob: number): Step {
  return {
    title: 'wait until the service has finished its migration jobs',
    action: { kind: 'await-migration', counts: { newestJob } },
    interrupts: false,
  }
}

function impactOf(items: readonly MigrationItem[], { trees }: Names): Record<string, number> {
  const projects = new Set(items.map(({ project }) => project)).size
  return { projects, ...(trees !== null && { trees }), calls: items.length }
}

/** Returns the build that the service's image declares; null if unknown. */
async function declaredBuild(service: Wanted<ServiceSource>): Promise<string | null> {
  if (service instanceof AdminError) return null
  const image = await tolerant(service.image())
  return image?.build ?? image?.tag ?? null
}

function versionNotes(declared: string | null): string[] {
  const { first, last } = treeMigration
  const build = declared === null ? null : parseBuild(declared)
  if (!build) return [`WARNING: the build of the service is unknown. This repair is for versions ${first} to ${last}`]
  return migratesTrees(build)
    ? []
    : [
        `WARNING: build ${build.label} does not move trees to the new structure. ` +
          `Only versions ${first} to ${last} do so`,
      ]
}

/** Returns the newest job's id, 0 for none; null if the service lists no jobs. Throws FORBIDDEN if it hides them. */
async function newestJobOf(api: ApiSource): Promise<number | null> {
  const newest = await api.migrationJobs({ status: null, atMost: 1 }).catch((error: unknown) => {
    if (!(error instanceof AdminError) || error.code !== 'FORBIDDEN') throw error
    throw new AdminError(
      'FORBIDDEN',
      `cannot list the service's migration jobs, which --wait needs: ${error.message}. No migration was requested`,
      [
        'the same command without --wait   # requests the migration, and does not wait for the jobs',
        ...error.suggestions,
      ],
      { cause: error },
    )
  })
  return newest && (newest.jobs[0]?.id ?? 0)
}
