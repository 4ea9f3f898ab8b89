import type { MigrationItem } from '../../core/api-control.ts'
import { AdminError } from '../../core/error.ts'
import { counted, listed } from '../../core/format.ts'
import { command } from '../../core/shell-command.ts'
import type { ApiSource, NamedItem } from '../../core/sources.ts'
import { tolerant } from '../../domain/wanted.ts'

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
    throw new AdminError('USAGE', '--all-trees can be combined with projects, but only trees were given', [
      '--all-trees',
    ])
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
      ...(twice > 0 ? [`${counted(twice, 'duplicate')} ignored: each project or tree is requested only once`] : []),
      ...(within > 0
        ? [
            `${counted(within, 'tree')} left out: the request already covers all trees of ` +
              `${within === 1 ? 'its project' : 'their projects'}`,
          ]
        : []),
    ],
  }
}

async function projectsOf(api: ApiSource): Promise<readonly NamedItem[]> {
  const projects = await api.projects()
  if (projects) return projects
  throw new AdminError('UNAVAILABLE', `${api.target} does not list its projects. Name the projects yourself`, [
    'testops-admin migrate-trees -d {deployment} --project ID',
    'testops-admin migrate-trees -d {deployment} --from-file FILE   # FILE has one PROJECT or PROJECT/TREE per line',
  ])
}

async function treesOf(api: ApiSource, project: number): Promise<readonly NamedItem[]> {
  const trees = await api.trees(project)
  if (trees) return trees
  throw new AdminError('UNAVAILABLE', `${api.target} does not list its trees. Name the trees or their projects`, [
    command`testops-admin migrate-trees -d {deployment} --project ${project}   # requests all trees of this project in
      one call`,
    command`testops-admin migrate-trees -d {deployment} --tree ${project}/TREE`,
  ])
}

/** Returns the USAGE error for a command that names nothing to migrate. */
export function nothingNamed(): AdminError {
  return new AdminError('USAGE', 'no projects or trees were given. Name at least one, or request all of them', [
    '--project 1 2 3',
    '--tree 1/12 1/13',
    '--from-file trees.txt',
    '--all-projects',
    '--all-trees',
  ])
}

/** The request in words for people. */
export interface Names {
  /** One project a line */
  lines: readonly string[]
  notes: readonly string[]
  /** Number of trees; null: unknown, or too many projects to list */
  trees: number | null
}

/** Maximum number of projects whose trees are listed: each needs a call of its own */
const mostListed = 50
const mostLines = 20

/** Names projects and trees. Shows a number for each that the service does not list, or not to this user. */
export async function named(api: ApiSource, chosen: Chosen): Promise<Names> {
  const byProject = grouped(chosen.items)
  const projects = chosen.projects ?? (await tolerant(api.projects()))
  const known = projects && new Map(projects.map((it) => [it.id, it]))
  const trees = new Map(chosen.trees)
  const unlisted = [...byProject.keys()].filter((id) => !trees.has(id) && known?.has(id) === true)
  if (unlisted.length <= mostListed) {
    for (const id of unlisted) {
      const found = await tolerant(api.trees(id))
      if (found) trees.set(id, found)
    }
  }
  const strange = known === null ? [] : strangers(byProject, known, trees)
  const lines = [...byProject]
    .slice(0, mostLines)
    .map(([id, items]) => lineOf(id, known?.get(id), items, trees.get(id)))
  return {
    lines: [
      ...lines,
      ...(byProject.size > mostLines ? [`and ${counted(byProject.size - mostLines, 'more project')}`] : []),
    ],
    notes: [
      ...(known === null
        ? ['the service does not list its projects for this user. The plan shows project numbers instead of names']
        : []),
      ...(strange.length > 0
        ? [
            `the service does not list ${listed(strange)} for this API token's user, so the service may reject ` +
              `${strange.length === 1 ? 'the call for this item' : 'the calls for these items'}`,
          ]
        : []),
    ],
    trees: countOf(byProject, trees),
  }
}

function grouped(items: readonly MigrationItem[]): Map<number, MigrationItem[]> {
  const all = new Map<number, MigrationItem[]>()
  for (const item of items) {
    const of = all.get(item.project)
    if (of) of.push(item)
    else all.set(item.project, [item])
  }
  return all
}

function strangers(
  byProject: ReadonlyMap<number, readonly MigrationItem[]>,
  known: ReadonlyMap<number, NamedItem>,
  trees: ReadonlyMap<number, readonly NamedItem[]>,
): string[] {
  return [...byProject].flatMap(([id, items]) => {
    if (!known.has(id)) return [`project ${id}`]
    const own = trees.get(id)
    return own
      ? items
          .filter(({ tree }) => tree !== null && own.every((it) => it.id !== tree))
          .map(({ tree }) => `tree ${id}/${tree}`)
      : []
  })
}

/** `project 3 Web shop: trees 1 Features, 2 Suites` */
function lineOf(
  id: number,
  project: NamedItem | undefined,
  items: readonly MigrationItem[],
  trees: readonly NamedItem[] | undefined,
): string {
  const nameOf = new Map(trees?.map((it) => [it.id, it]))
  const whole = items.some(({ tree }) => tree === null)
  const asked = whole ? (trees ?? []) : items.map(({ tree }) => nameOf.get(tree!) ?? { id: tree!, name: '' })
  const what =
    whole && !trees
      ? 'all trees'
      : whole && asked.length === 0
        ? 'no tree'
        : `${asked.length === 1 ? 'tree' : 'trees'} ${listed(asked.map(shown))}`
  return `project ${shown(project ?? { id, name: '' })}: ${what}`
}

function shown({ id, name }: NamedItem): string {
  return name === '' ? String(id) : `${id} ${name}`
}

function countOf(
  byProject: ReadonlyMap<number, readonly MigrationItem[]>,
  trees: ReadonlyMap<number, readonly NamedItem[]>,
): number | null {
  let sum = 0
  for (const [id, items] of byProject) {
    const count = items.some(({ tree }) => tree === null) ? trees.get(id)?.length : items.length
    if (count === undefined) return null
    sum += count
  }
  return sum
}
