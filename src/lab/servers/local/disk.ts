import { randomBytes } from 'node:crypto'
import { open, readFile, rm, statfs, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { AdminError, codeOf, messageOf } from '../../../core/error.ts'
import { makeFullDiskLibrary } from '../packages/full-disk-library.ts'
import { tryProgram } from '../try-program.ts'
import type { SmallDisk, StartOptions } from '../types.ts'
import { writeRecord } from '../record.ts'
import type { LocalRecord } from './kind.ts'
import { command } from '../../../core/shell-command.ts'

/**
 * Mounts a small file system in memory at `home/disk`; it takes memory only for what is written. If this machine does
 * not let us mount one, prepares a library instead. If neither works, the record has no disk: the server works, and
 * `fillDisk` reports why it cannot.
 */
export async function makeDisk(record: LocalRecord, bytes: number, options: StartOptions): Promise<LocalRecord> {
  const { home, account } = record.local
  const path = join(home, 'disk')
  if (process.getuid?.() === 0) {
    const mounted: LocalRecord = { ...record, local: { ...record.local, disk: { kind: 'mount', path, bytes } } }
    await writeRecord(mounted)
    const owner = account ? `,uid=${account.uid},gid=${account.gid}` : ''
    const ran = await tryProgram('mount', [
      '-t',
      'tmpfs',
      '-o',
      `size=${bytes},mode=0700${owner}`,
      'testops-admin',
      path,
    ])
    if (ran.ok) return mounted
  }
  const disk: SmallDisk = {
    kind: 'preload',
    library: join(home, 'full-disk.so'),
    fullWhile: join(home, 'disk-is-full'),
  }
  try {
    await makeFullDiskLibrary({ ...disk, folder: path }, options)
    return { ...record, local: { ...record.local, disk } }
  } catch (error) {
    options.progress(`PostgreSQL has no small disk, so you cannot practise disk-full: ${messageOf(error)}`)
    return record
  }
}

/** Throws UNAVAILABLE if the data was on a mounted disk that is gone, as after a restart of the machine. */
export async function assertDisk(record: LocalRecord): Promise<void> {
  const { disk } = record.local
  if (disk?.kind !== 'mount' || (await isMounted(disk.path))) return
  throw new AdminError(
    'UNAVAILABLE',
    `the disk of PostgreSQL's data, ${disk.path}, is gone: was this machine restarted?`,
    ['testops-admin lab down', 'testops-admin lab up'],
  )
}

export function preloadEnvironment(record: LocalRecord): Readonly<Record<string, string>> {
  const { disk } = record.local
  // relative to the working folder: the list cannot quote its separators, such as spaces
  return disk?.kind === 'preload' ? { LD_PRELOAD: `./${basename(disk.library)}` } : {}
}

export async function fillLocalDisk(disk: SmallDisk): Promise<void> {
  if (disk.kind === 'preload') return writeFile(disk.fullWhile, '')
  const file = await open(join(disk.path, 'filler'), 'a', 0o600)
  try {
    // larger pieces first: fast, and no block is left free at the end
    for (const size of [1 << 20, 1 << 12, 1]) {
      const piece = randomBytes(size)
      while (await written(file.write(piece))) continue
    }
  } finally {
    await file.close()
  }
  const { bavail } = await statfs(disk.path)
  if (bavail > 0) throw new AdminError('FAILED', `${disk.path} could not be filled: ${bavail} blocks are still free`)
}

export async function freeLocalDisk(disk: SmallDisk): Promise<void> {
  await rm(disk.kind === 'preload' ? disk.fullWhile : join(disk.path, 'filler'), { force: true })
}

/** Unmounts a disk, with all data on it. The server must have stopped. Can safely run twice. */
export async function removeDisk(disk: SmallDisk | undefined): Promise<void> {
  if (disk?.kind !== 'mount' || !(await isMounted(disk.path))) return
  const ran = await tryProgram('umount', [disk.path])
  if (ran.ok) return
  // still in use: hide it now; the system frees it later
  const lazily = await tryProgram('umount', ['-l', disk.path])
  if (!lazily.ok)
    throw new AdminError('FAILED', `could not unmount ${disk.path}: ${lazily.message}`, [
      command`umount -l ${disk.path}`,
    ])
}

async function isMounted(path: string): Promise<boolean> {
  const mounts = await readFile('/proc/self/mountinfo', 'utf8')
  return mounts.split('\n').some((line) => line.split(' ')[4]?.replace(/\\040/g, ' ') === path)
}

async function written(write: Promise<{ bytesWritten: number }>): Promise<boolean> {
  try {
    return (await write).bytesWritten > 0
  } catch (error) {
    if (codeOf(error) === 'ENOSPC') return false
    throw error
  }
}
