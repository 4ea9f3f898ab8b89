import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'

/** Maximum length of a folder's name: file systems take 255 bytes; `@` and a digest of the cluster may follow */
const longestFolder = 200

export type Environment = Readonly<Record<string, string | undefined>>

/** Returns the folder of the operator's configuration: `$XDG_CONFIG_HOME/testops-admin`, or in `~/.config`. */
export function configHome(environment: Environment): string {
  return join(base(environment, 'XDG_CONFIG_HOME', '.config'), 'testops-admin')
}

/** Returns the folder of journals, backups and the lab: `$XDG_STATE_HOME/testops-admin`, or in `~/.local/state`. */
export function stateHome(environment: Environment): string {
  return join(base(environment, 'XDG_STATE_HOME', join('.local', 'state')), 'testops-admin')
}

/**
 * Returns the places of a deployment's records: journals of its repairs, and the lock of this machine's operators.
 * Deployments of one name in several clusters or engines have separate records.
 */
export function recordsOf(
  environment: Environment,
  { name, cluster }: { name: string; cluster?: string },
): { runs: string; lockFile: string } {
  // `folderNamed` encodes what a path must not hold, and `@`
  const place = cluster === undefined ? '' : suffixOf(cluster)
  const folder = join(stateHome(environment), `${folderNamed(name)}${place}`)
  return { runs: join(folder, 'runs'), lockFile: join(folder, 'repair.lock') }
}

/** Returns the part of `recordsOf` that tells labs apart: repairs of one do not concern another. */
export function placeOfLab(root: string): string {
  return `lab in ${root}`
}

/** Returns the folders with all records of repairs of a lab, whatever its deployments are called. */
export async function recordsOfLab(environment: Environment, root: string): Promise<string[]> {
  const place = suffixOf(placeOfLab(root))
  const all = await readdir(stateHome(environment)).catch(() => [])
  return all.filter((it) => it.endsWith(place)).map((it) => join(stateHome(environment), it))
}

/**
 * Returns the folders with the journals of other deployments in the same place, such as one workload under another
 * name.
 */
export async function recordsBeside(
  environment: Environment,
  { name, cluster }: { name: string; cluster?: string },
): Promise<string[]> {
  const { runs } = recordsOf(environment, { name, ...(cluster !== undefined && { cluster }) })
  const own = basename(dirname(runs))
  const place = /@[0-9a-f]{16}$/.exec(own)?.[0]
  if (place === undefined) return []
  const all = await readdir(stateHome(environment)).catch(() => [])
  return all
    .filter((it) => it !== own && it.endsWith(place))
    .sort()
    .map((it) => join(stateHome(environment), it, 'runs'))
}

function suffixOf(place: string): string {
  return `@${createHash('sha256').update(place).digest('hex').slice(0, 16)}`
}

/** Replaces halves of characters, which an address cannot encode. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}

/** Returns one part of a path for any name: never empty, never leading up, never too long for a file system. */
function folderNamed(name: string): string {
  const encoded = encodeURIComponent(wellFormed(name)).replace(/^\./, '%2E') || '%'
  return encoded.length <= longestFolder
    ? encoded
    : `${encoded.slice(0, 100)}%${createHash('sha256').update(name).digest('hex')}`
}

/** Returns the folder of the practice deployment, absolute: TESTOPS_ADMIN_LAB_DIR, or `lab` in the state folder. */
export function labDirectory(environment: Environment): string {
  return resolve(environment.TESTOPS_ADMIN_LAB_DIR || join(stateHome(environment), 'lab'))
}

/** Returns the path of the configuration that `lab up` writes, read for `-d lab`. */
export function labConfigurationFile(environment: Environment): string {
  return join(labDirectory(environment), 'testops-admin.yaml')
}

/** Returns the folder in a variable, or else a default; ignores relative paths, as the XDG specification demands. */
function base(environment: Environment, variable: string, fallback: string): string {
  const configured = environment[variable]
  return configured && isAbsolute(configured) ? configured : join(environment.HOME || homedir(), fallback)
}

/** Returns the names of unfinished runs that this machine has on record, of one deployment or of all; newest first. */
export async function unfinishedRuns(environment: Environment, deployment: string | null): Promise<string[]> {
  // loaded late: every command needs paths
  const [{ runFolder }, { isUnfinished }] = await Promise.all([
    import('../adapters/run-folder.ts'),
    import('../core/run-state.ts'),
  ])
  const folders = (await readdir(stateHome(environment)).catch(() => [])).filter(
    (it) => deployment === null || it === folderNamed(deployment) || it.startsWith(`${folderNamed(deployment)}@`),
  )
  const runs = await Promise.all(
    folders.map(async (it) =>
      runFolder(join(stateHome(environment), it, 'runs'))
        .list()
        .catch(() => []),
    ),
  )
  return runs
    .flat()
    .flatMap((it) => ('record' in it && isUnfinished(it) ? [it.record.run] : []))
    .sort()
    .reverse()
}
