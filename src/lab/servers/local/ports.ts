import { randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { lstat, mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessIdentity } from '../../../adapters/process-identity.ts'
import { identify, isAlive } from '../../../adapters/process-identity.ts'
import { AdminError, codeOf } from '../../../core/error.ts'
import { command } from '../../../core/shell-command.ts'

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
    if (!(await isFolderOurs())) return true
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
  if (!(await isFolderOurs().catch(() => false))) return
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
async function isFolderOurs(): Promise<boolean> {
  const found = await lstat(claims())
  return found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid())
}

export const loopback = '127.0.0.1'

/**
 * Finds a free port on loopback, below the range for outgoing connections. No other lab gets it while this process
 * lives, or while `folder`, the future listener's folder, exists. Throws UNAVAILABLE if none is found.
 */
export async function freePort(folder: string | null = null): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = randomInt(20_000, 32_000)
    if ((await canListen(port)) && (await claimPort(port, folder))) return port
  }
  throw new AdminError('UNAVAILABLE', `no free port found on ${loopback} between 20000 and 32000`)
}

/** Throws UNAVAILABLE if something already listens on the port. */
export async function assertPortFree(port: number, forWhat: string): Promise<void> {
  if (await canListen(port)) return
  throw new AdminError(
    'UNAVAILABLE',
    `${forWhat} needs port ${port} on ${loopback}, but another program uses that port`,
    [command`ss -ltnp ${`sport = :${port}`}   # shows that program`, 'stop that program, or choose another port'],
  )
}

/** Waits until nothing listens on the ports any more, or until the timeout. */
export async function waitUntilFree(ports: readonly number[], timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (const port of ports) while (!(await canListen(port)) && Date.now() < deadline) await sleep(20)
}

/** True if something accepts connections there within `timeoutMs`. */
export function accepts(host: string, port: number, timeoutMs = 2000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs })
    const done = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => done(true))
    socket.once('timeout', () => done(false))
    socket.once('error', () => done(false))
  })
}

/** True if this is an address of this machine, even of an interface that is down. */
export function isOurs(host: string): Promise<boolean> {
  return canListen(0, host)
}

function canListen(port: number, host = loopback): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
