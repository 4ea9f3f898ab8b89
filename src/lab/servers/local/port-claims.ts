import { lstat, mkdir, readFile, readdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identify, isAlive } from '../../../adapters/process-identity.ts'
import type { ProcessIdentity } from '../../../adapters/process-identity.ts'
import { codeOf } from '../../../core/error.ts'

interface Claim {
  by: ProcessIdentity
  /** what the port is for is kept here; null: it is for that process alone */
  folder: string | null
}

/**
 * Keeps a port for a server or service that is stopped for a while: other labs of this user do not choose it. It stays
 * claimed as long as this process lives, and as long as `folder` exists. False where somebody holds it. Claims cannot
 * be kept on a full disk; the port is free then.
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
  // whoever comes next may have it: two that find it at once would both take it
  if (!(await isHeld(file))) await rm(file, { force: true })
  return false
}

/** Takes away the claims that nobody holds any more; harmless where there are none. */
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
    // one that is just being written is not whole yet
    return error instanceof SyntaxError
  }
}

function claims(): string {
  return join(tmpdir(), `testops-admin-ports-${process.getuid?.() ?? 0}`)
}

/** Anyone can make a folder in the one for temporary files, or a link to elsewhere. */
async function isOurs(): Promise<boolean> {
  const found = await lstat(claims())
  return found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid())
}
