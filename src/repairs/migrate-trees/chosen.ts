import { counted } from '../../core/format.ts'
import type { MigrationItem } from '../../core/api-control.ts'
import { AdminError } from '../../core/error.ts'
import type { ApiSource, NamedItem } from '../../core/sources.ts'
import { command } from '../../core/shell-command.ts'

export interface MigrateOptions {
  /** As named, in that order; some may be named more than once */
  items: readonly MigrationItem[]
  /** Every project that the service lists, one call each */
  allProjects: boolean
  /** Every tree of the named projects, or of all projects if none is named, one call each */
  allTrees: boolean
  /** Maximum number of concurrent calls */
  concurrency: number
  /** True to wait until the service has done its migration jobs */
  wait: boolean
}

/** What to request, each item once. */
export interface Chosen {
  items: readonly MigrationItem[]
  /** As the service lists them; null: it was not asked, or it does not list them */
  projects: readonly NamedItem[] | null
  /** Trees of each project whose trees were listed */
  trees: ReadonlyMap<number, readonly NamedItem[]>
  notes: readonly string[]
}

/**
 * Chooses what to request. Throws USAGE if nothing is named or two flags exclude each other, UNAVAILABLE if the service
 * does not offer the list.
 */
export async function choose(api: ApiSource, { items: named, allProjects, allTrees }: MigrateOptions): Promise<Chosen> {
  if (named.length === 0 && !allProjects && !allTrees) throw nothingNamed()
  if (named.length > 0 && allProjects)
    throw new AdminError('USAGE', '--all-projects cannot be combined with named projects or trees', ['--all-projects'])
  const { items, notes } = onceEach(named)
  const wholes = items.flatMap(({ project, tree }) => (tree === null ? [project] : []))
  if (allTrees && named.length > 0 && wholes.length === 0)
    throw new AdminError('USAGE', '--all-trees needs projects, but only trees are named', ['--all-trees'])
  const projects = named.length === 0 ? await projectsOf(api) : null
  if (!allTrees) {
    const all = projects?.map(({ id }) => ({ project: id, tree: null })) ?? items
    return { items: all, projects, trees: new Map(), notes: [...notes, ...(projects?.length === 0 ? [noProject] : [])] }
  }
  const trees = new Map<number, readonly NamedItem[]>()
  for (const id of projects?.map((it) => it.id) ?? wholes) trees.set(id, await treesOf(api, id))
  const listed = [...trees].flatMap(([project, all]) => all.map(({ id }) => ({ project, tree: id })))
  const none = projects?.length === 0 ? noProject : 'the projects have no trees'
  const all = [...listed, ...items.filter(({ tree }) => tree !== null)]
  return { items: all, projects, trees, notes: [...notes, ...(all.length === 0 ? [none] : [])] }
}

const noProject = "the service lists no project for this API token's user"

/** Removes duplicates, and trees of projects that are requested as a whole. */
function onceEach(named: readonly MigrationItem[]): { items: MigrationItem[]; notes: string[] } {
  const once = [...new Map(named.map((item) => [`${item.project}/${item.tree ?? ''}`, item])).values()]
  const wholes = new Set(once.flatMap(({ project, tree }) => (tree === null ? [project] : [])))
  const items = once.filter(({ project, tree }) => tree === null || !wholes.has(project))
  const twice = named.length - once.length
  const within = once.length - items.length
  return {
    items,
    notes: [
      ...(twice > 0 ? [`${counted(twice, 'duplicate')} ignored: each project or tree is requested once`] : []),
      ...(within > 0
        ? [
            `${counted(within, 'tree')} left out: all trees of ${within === 1 ? 'its project' : 'their projects'} are requested`,
          ]
        : []),
    ],
  }
}

async function projectsOf(api: ApiSource): Promise<readonly NamedItem[]> {
  const projects = await api.projects()
  if (projects) return projects
  throw new AdminError('UNAVAILABLE', `${api.target} does not list its projects: name them`, [
    'testops-admin migrate-trees -d {deployment} --project ID',
    'testops-admin migrate-trees -d {deployment} --from-file FILE   # one PROJECT or PROJECT/TREE a line',
  ])
}

async function treesOf(api: ApiSource, project: number): Promise<readonly NamedItem[]> {
  const trees = await api.trees(project)
  if (trees) return trees
  throw new AdminError('UNAVAILABLE', `${api.target} does not list its trees: name them or their projects`, [
    command`testops-admin migrate-trees -d {deployment} --project ${project}   # all of its trees in one call`,
    command`testops-admin migrate-trees -d {deployment} --tree ${project}/TREE`,
  ])
}

/** Returns the USAGE error for a command that names nothing to migrate. */
export function nothingNamed(): AdminError {
  return new AdminError('USAGE', 'no trees are named: name projects or trees, or request all', [
    '--project 1 2 3',
    '--tree 1/12 1/13',
    '--from-file trees.txt',
    '--all-projects',
    '--all-trees',
  ])
}
