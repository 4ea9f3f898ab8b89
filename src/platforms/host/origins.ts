import { readFile, readdir, readlink } from 'node:fs/promises'
import type { ServiceInstance, ServiceOrigin } from '../../core/sources.ts'

/**
 * Lists the TCP connections of the instances' processes, and of those that they have started. Null if the system does
 * not show them: not on Linux, or processes of another user.
 */
export async function originsOf(instances: readonly ServiceInstance[]): Promise<readonly ServiceOrigin[] | null> {
  if (instances.length === 0) return []
  if (process.platform !== 'linux' || instances.some(({ pid }) => pid === null)) return null
  try {
    const parents = await parentsOfAll()
    const all = await Promise.all(
      instances.map(async ({ name, pid }) => connectionsOf(name, [pid!, ...descendantsOf(pid!, parents)])),
    )
    return all.flat()
  } catch {
    // a process may end meanwhile, or be another user's: what is hidden proves nothing
    return null
  }
}

async function connectionsOf(instance: string, pids: readonly number[]): Promise<ServiceOrigin[]> {
  const own = new Set((await Promise.all(pids.map(socketsOf))).flat())
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map(async (name) => readFile(`/proc/${pids[0]!}/net/${name}`, 'utf8').catch(() => '')),
  )
  return tables
    .flatMap(rowsIn)
    .flatMap(({ inode, local, remote }) =>
      own.has(inode) ? [{ instance, address: local.address, port: local.port, to: remote.port }] : [],
    )
}

/** Returns the inodes of a process's sockets. Throws EACCES for another user's. */
async function socketsOf(pid: number): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`)
  const links = await Promise.all(names.map(async (name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')))
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? [])
}

async function parentsOfAll(): Promise<ReadonlyMap<number, number>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
      // the name in brackets may itself contain blanks and brackets
      return [pid, Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])] as const
    }),
  )
  return new Map(found)
}

function descendantsOf(pid: number, parents: ReadonlyMap<number, number>): number[] {
  const children = [...parents].filter(([, parent]) => parent === pid).map(([child]) => child)
  return children.flatMap((child) => [child, ...descendantsOf(child, parents)])
}

interface End {
  address: string
  port: number
}

/**
 * Reads the established connections from lines of /proc/net/tcp or tcp6 (proc_net_tcp in the kernel's documentation).
 */
function rowsIn(table: string): { inode: string; local: End; remote: End }[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/)
      const ends = [local, remote].map((it) => endOf(it ?? ''))
      return state === '01' && inode !== undefined && ends[0] && ends[1]
        ? [{ inode, local: ends[0], remote: ends[1] }]
        : []
    })
}

/** Reads `0100007F:1538`: addresses are words of 32 bits in the machine's order, little-endian wherever this runs. */
function endOf(text: string): End | null {
  const found = /^([\dA-F]{8}|[\dA-F]{32}):([\dA-F]{4})$/.exec(text)
  if (!found) return null
  const bytes = found[1]!.match(/.{8}/g)!.flatMap((word) => word.match(/../g)!.reverse())
  return { address: addressOf(bytes), port: Number.parseInt(found[2]!, 16) }
}

function addressOf(bytes: readonly string[]): string {
  const ipv4 = (of: readonly string[]): string => of.map((it) => Number.parseInt(it, 16)).join('.')
  if (bytes.length === 4) return ipv4(bytes)
  // an IPv4 address within an IPv6 one
  if (bytes.slice(0, 10).every((it) => it === '00') && bytes[10] === 'FF' && bytes[11] === 'FF')
    return ipv4(bytes.slice(12))
  const groups = Array.from({ length: 8 }, (_, at) => `${bytes[at * 2]}${bytes[at * 2 + 1]}`)
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}
