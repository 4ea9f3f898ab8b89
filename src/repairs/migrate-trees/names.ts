import { counted, listed } from '../../core/format.ts'
import { tolerant } from '../../domain/wanted.ts'
import type { MigrationItem } from '../../core/api-control.ts'
import type { ApiSource, NamedItem } from '../../core/sources.ts'
import type { Chosen } from './chosen.ts'

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
      ...(known === null ? ['the service does not list its projects for this user: they are shown by number'] : []),
      ...(strange.length > 0
        ? [
            `the service does not list ${listed(strange)} for this API token's user, so it may refuse ${strange.length === 1 ? 'it' : 'them'}`,
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
