import { lstat, mkdir, readFile, readdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identify, isAlive } from '../../../adapters/process-identity.ts'
import type { ProcessIdentity } from '../../../adapters/process-identity.ts'
import { codeOf } from '../../../core/error.ts'

interface Claim {
  by: ProcessIdentity
  /** the folder of the port's server; null: only that process uses it */
  folder: string | null
}

/**
 * Claims a port for a server or service, even while that is stopped: other labs of this user do not choose it. The
 * claim lasts as long as this process or `folder` exists. Returns false if somebody else holds it. If a full disk
 * prevents the claim, the port counts as free.
 */
export async function claimPort(port: number, folder: string | null): Promise<boolean> {
  const file = join(claims(), String(port))
  const text = JSON.stringify({ by: (await identify(process.pid))!, folder } satisfies Claim)
  try {
    await mkdir(claims(), { recursive: true, mode: 0o700 })
    if (!(await isOurs())) return true
    await writeFile(file, text, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') return true
  }
  // leave it to the next caller: two callers that found it now would both take it
  if (!(await isHeld(file))) await rm(file, { force: true })
  return false
}

/** Removes claims that nobody holds any more. Harmless if there are none. */
export async function dropOldClaims(): Promise<void> {
  if (!(await isOurs().catch(() => false))) return
  for (const name of await readdir(claims())) {
    const file = join(claims(), name)
    if (/^\d+$/.test(name) && !(await isHeld(file))) await rm(file, { force: true })
  }
  await rmdir(claims()).catch(() => undefined)
}

async function isHeld(file: string): Promise<boolean> {
  try {
    const { by, folder } = JSON.parse(await readFile(file, 'utf8')) as Claim
    return (await isAlive(by)) || (folder !== null && existsSync(folder))
  } catch (error) {
    // a claim being written is not complete yet
    return error instanceof SyntaxError
  }
}

function claims(): string {
  return join(tmpdir(), `testops-admin-ports-${process.getuid?.() ?? 0}`)
}

/** True if the folder is ours: anyone can create a folder or a link among the temporary files. */
async function isOurs(): Promise<boolean> {
  const found = await lstat(claims())
  return found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid())
}
