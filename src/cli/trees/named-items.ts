import type { MigrationItem } from '../../core/api-control.ts'
import { AdminError } from '../../core/error.ts'
import { inputName, readInput } from '../../runtime/read-input.ts'
import { nothingNamed } from '../../repairs/migrate-trees/chosen.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'

/** Maximum bytes and items, so that a file named by mistake fills neither the memory nor the journal */
const mostBytes = 4_000_000
const mostItems = 100_000
const mostShown = 5

export interface NamedTrees {
  /** Values of --project */
  projects: readonly string[]
  /** Values of --tree */
  trees: readonly string[]
  /** Value of --from-file; `-` is standard input */
  file: string | undefined
  /** True if all are asked for, so that none need be named */
  all?: boolean
}

/**
 * Returns what the flags and the file name, in order. Throws USAGE, with up to 5 of the words and lines that name
 * nothing.
 */
export async function namedItems(
  { projects, trees, file, all: isAll = false }: NamedTrees,
  input: AsyncIterable<Buffer | string> = process.stdin,
): Promise<MigrationItem[]> {
  const ofProjects = projects.map(
    (word) => itemIn(word, { tree: false }) ?? `${typed(['--project', word])}: not a project id`,
  )
  const ofTrees = trees.map(
    (word) => itemIn(word, { tree: true }) ?? `${typed(['--tree', word])}: expected PROJECT/TREE, for example 3/12`,
  )
  const ofFile =
    file === undefined ? [] : itemsIn(await readInput(file, { mostBytes, next: how }, input), inputName(file))
  const all = [...ofProjects, ...ofTrees, ...ofFile]
  const faults = all.filter((it) => typeof it === 'string')
  if (faults.length > 0) {
    const more = faults.length > mostShown ? `; and ${faults.length - mostShown} more` : ''
    throw new AdminError(
      'USAGE',
      `ids must be whole numbers above 0: ${faults.slice(0, mostShown).join('; ')}${more}`,
      how,
    )
  }
  if (all.length === 0 && file === undefined && !isAll) throw nothingNamed()
  if (file !== undefined && ofFile.length === 0)
    throw new AdminError('USAGE', `${inputName(file)} lists no projects or trees`, how)
  if (all.length > mostItems) {
    throw new AdminError(
      'USAGE',
      `${all.length} projects and trees are too many: one run takes at most ${mostItems}. Split the list`,
      ['split -l 100000 FILE part-   # then run migrate-trees once for each part-* file'],
    )
  }
  return all.filter((it) => typeof it !== 'string')
}

const how: readonly Suggestion[] = [
  '--project 1 2 3',
  '--tree 1/12 1/13',
  '--from-file FILE   # FILE has one PROJECT or PROJECT/TREE per line; # begins a comment',
]

/** Returns the project or tree that a word names; null if it names none. */
function itemIn(word: string, { tree: wanted }: { tree: boolean | null }): MigrationItem | null {
  const [project = '', tree, ...more] = word.split('/')
  if (more.length > 0 || (wanted !== null && wanted !== (tree !== undefined))) return null
  const ids = [project, ...(tree === undefined ? [] : [tree])]
  if (!ids.every((id) => /^\d{1,15}$/.test(id) && Number(id) > 0)) return null
  return { project: Number(project), tree: tree === undefined ? null : Number(tree) }
}

function itemsIn(text: string, file: string): (MigrationItem | string)[] {
  return text.split(/\r\n|\r|\n/).flatMap((line, index) => {
    const word = line
      .replace(/^\ufeff/, '')
      .replace(/#.*/, '')
      .trim()
    return word === '' ? [] : [itemIn(word, { tree: null }) ?? `line ${index + 1} of ${file}: ${shown(word)}`]
  })
}

/** Quotes and shortens a word, which another program may have written, for a terminal. */
function shown(word: string): string {
  return JSON.stringify(word.length > 40 ? `${word.slice(0, 39)}…` : word)
}
