import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'

/** file systems take 255 bytes; `@` and a digest of the cluster may follow */
const longestFolder = 200

export type Environment = Readonly<Record<string, string | undefined>>

/** Folder of the operator's own configuration: `$XDG_CONFIG_HOME/testops-admin`, by default under `~/.config`. */
export function configHome(environment: Environment): string {
  return join(base(environment, 'XDG_CONFIG_HOME', '.config'), 'testops-admin')
}

/** Folder of journals, backups and the lab: `$XDG_STATE_HOME/testops-admin`, by default under `~/.local/state`. */
export function stateHome(environment: Environment): string {
  return join(base(environment, 'XDG_STATE_HOME', join('.local', 'state')), 'testops-admin')
}

/**
 * The folder of a deployment's records: journals of its repairs, and the lock of this machine's operators. Deployments
 * of one name in several clusters or engines have separate records.
 */
export function recordsOf(
  environment: Environment,
  { name, cluster }: { name: string; cluster?: string },
): { runs: string; lockFile: string } {
  // a name may hold what a path must not, and no `@` then
  const place = cluster === undefined ? '' : suffixOf(cluster)
  const folder = join(stateHome(environment), `${folderNamed(name)}${place}`)
  return { runs: join(folder, 'runs'), lockFile: join(folder, 'repair.lock') }
}

/** The part of `recordsOf` that tells one lab from another: a repair of one is no business of the next. */
export function placeOfLab(root: string): string {
  return `lab in ${root}`
}

/** Folders with all that is on record of the repairs of a lab, of whatever deployment of it. */
export async function recordsOfLab(environment: Environment, root: string): Promise<string[]> {
  const place = suffixOf(placeOfLab(root))
  const all = await readdir(stateHome(environment)).catch(() => [])
  return all.filter((it) => it.endsWith(place)).map((it) => join(stateHome(environment), it))
}

/**
 * Folders with the journals of other deployments in the same place: of one workload that was called otherwise, among
 * others.
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

/** Halves of characters have no code in an address. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}

/** One part of a path, whatever the name is: no empty one, none that leads up, and none too long for a file system. */
function folderNamed(name: string): string {
  const encoded = encodeURIComponent(wellFormed(name)).replace(/^\./, '%2E') || '%'
  return encoded.length <= longestFolder
    ? encoded
    : `${encoded.slice(0, 100)}%${createHash('sha256').update(name).digest('hex')}`
}

/** Folder of the practice deployment, absolute: TESTOPS_ADMIN_LAB_DIR, else `lab` in the state folder. */
export function labDirectory(environment: Environment): string {
  return resolve(environment.TESTOPS_ADMIN_LAB_DIR || join(stateHome(environment), 'lab'))
}

/** The configuration that `lab up` writes, read for `-d lab`. */
export function labConfigurationFile(environment: Environment): string {
  return join(labDirectory(environment), 'testops-admin.yaml')
}

/** The XDG specification: a relative path in these variables is to be ignored. */
function base(environment: Environment, variable: string, fallback: string): string {
  const configured = environment[variable]
  return configured && isAbsolute(configured) ? configured : join(environment.HOME || homedir(), fallback)
}
