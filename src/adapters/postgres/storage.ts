import { statfs } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import type { DatabaseSource } from '../../core/sources.ts'
import { sqlState } from './errors.ts'
import type { DatabaseSession } from './session.ts'

type Storage = Awaited<ReturnType<DatabaseSource['storage']>>
type Space = Awaited<ReturnType<DatabaseSource['temporarySpace']>>

/**
 * Whether PostgreSQL can still write out a sort that does not fit into memory. The file is temporary (about 1.4 MB),
 * and PostgreSQL removes it. Without a right to write, nothing else shows a full disk.
 */
export async function probeTemporarySpace(session: DatabaseSession): Promise<Space> {
  try {
    await session.read('SELECT count(*) FROM generate_series(1, 100000)', { settings: `SET LOCAL work_mem = '64kB'` })
    return { writable: true }
  } catch (error) {
    if (sqlState(error) === '53100' && error instanceof Error) return { writable: false, message: error.message }
    throw error
  }
}

export async function readStorage(session: DatabaseSession): Promise<Storage> {
  const [row] = await session.read(`
SELECT pg_database_size(current_database()) AS bytes, host(inet_server_addr()) AS address,
  (SELECT setting FROM pg_settings WHERE name = 'data_directory') AS directory`)
  const directory = row?.['directory'] || null
  const space =
    directory !== null && isHere(session.peer.host, row?.['address'] ?? null) ? await spaceOf(directory) : null
  return {
    databaseBytes: Number(row?.['bytes']),
    dataDirectory: directory,
    freeBytes: space?.free ?? null,
    totalBytes: space?.total ?? null,
  }
}

/** A server in a container has another address than this machine, even if its port is published here. */
function isHere(host: string, serverAddress: string | null): boolean {
  if (host.startsWith('/')) return true
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses?.map(({ address }) => address) ?? [])
  return serverAddress !== null && own.includes(serverAddress)
}

async function spaceOf(directory: string): Promise<{ free: number; total: number } | null> {
  return statfs(directory).then(
    ({ bavail, blocks, bsize }) => ({ free: bavail * bsize, total: blocks * bsize }),
    () => null,
  )
}
