import { randomBytes } from 'node:crypto'
import { open, readFile, rm, statfs, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { AdminError, codeOf, messageOf } from '../../../core/error.ts'
import { command } from '../../../core/shell-command.ts'
import { cached, cacheFolder } from '../packages/cache.ts'
import { unpackDebian } from '../packages/debian.ts'
import { writeRecord } from '../record.ts'
import { tryProgram } from '../try-program.ts'
import type { SmallDisk, StartOptions } from '../types.ts'
import type { LocalRecord } from './processes.ts'

/**
 * Makes a library that simulates a full disk if this machine cannot mount one. It is loaded before the C library
 * (LD_PRELOAD). While the file `fullWhile` exists, it fails every write that would make a file below `folder` longer,
 * with "no space left on device". Uses this machine's compiler, else Debian's small tcc, which needs no headers. Throws
 * UNAVAILABLE.
 */
export async function makeFullDiskLibrary(
  made: { library: string; folder: string; fullWhile: string },
  options: StartOptions,
): Promise<void> {
  const source = `${made.library}.c`
  await writeFile(source, sourceText(made.folder, made.fullWhile), { mode: 0o600 })
  const failures: string[] = []
  for (const compiler of ['cc', 'gcc', 'clang', 'tcc']) {
    const failure = await compile(compiler, source, made.library)
    if (!failure) return
    failures.push(`${compiler}: ${failure}`)
  }
  try {
    const failure = await compile(await obtainCompiler(options), source, made.library)
    if (!failure) return
    failures.push(failure)
  } catch (error) {
    failures.push(messageOf(error))
  }
  throw new AdminError('UNAVAILABLE', `no working C compiler (${failures.at(-1)})`, ['apt-get install tcc'])
}

async function compile(compiler: string, source: string, library: string): Promise<string | null> {
  const ran = await tryProgram(compiler, ['-shared', '-fPIC', '-nostdlib', '-o', library, source], {
    timeoutMs: 30_000,
  })
  return ran.ok ? null : ran.message
}

async function obtainCompiler(options: StartOptions): Promise<string> {
  const cache = cacheFolder(options.environment ?? process.env)
  const folder = await cached(
    cache,
    'tcc',
    async (temporary) => {
      options.progress('fetching the compiler tcc from Debian bookworm (about 4 MB, once)')
      await unpackDebian({ suite: 'bookworm', packageName: 'tcc', cache, root: temporary }, options)
    },
    options,
  )
  return join(folder, 'usr/bin/tcc')
}

/** Returns C source without headers, for systems whose `long` and file offsets have 64 bits. */
const sourceText = (folder: string, fullWhile: string) => `
extern void *dlsym(void *, const char *);
extern int access(const char *, int), fcntl(int, int), sprintf(char *, const char *, ...);
extern int strncmp(const char *, const char *, unsigned long);
extern long lseek(int, long, int), readlink(const char *, char *, unsigned long);
extern int *__errno_location(void);
struct piece { void *base; unsigned long length; };
enum { no_space = 28, from_start = 0, from_here = 1, from_end = 2, get_flags = 3, appending = 02000 };
static const char folder[] = ${JSON.stringify(`${folder}/`)};

/* whether the disk is full and writing so many bytes there, or (-1) at the file's own position, would need more
   of it */
static int refused(int fd, long at, long bytes) {
  char link[40], path[4096];
  long length, here, size;
  if (access(${JSON.stringify(fullWhile)}, 0) != 0) return 0;
  sprintf(link, "/proc/self/fd/%d", fd);
  length = readlink(link, path, sizeof path - 1);
  if (length < (long) sizeof folder || strncmp(path, folder, sizeof folder - 1) != 0) return 0;
  here = lseek(fd, 0, from_here);
  size = lseek(fd, 0, from_end);
  lseek(fd, here, from_start);
  if (at == -1) at = fcntl(fd, get_flags) & appending ? size : here;
  return at + bytes > size;
}

static void *next(const char *name) { return dlsym((void *) -1l, name); }

long pwrite(int fd, const void *data, unsigned long length, long at) {
  static long (*real)(int, const void *, unsigned long, long);
  if (refused(fd, at, length)) { *__errno_location() = no_space; return -1; }
  if (!real) real = next("pwrite");
  return real(fd, data, length, at);
}

long pwritev(int fd, const struct piece *pieces, int count, long at) {
  static long (*real)(int, const struct piece *, int, long);
  long length = 0;
  int i;
  for (i = 0; i < count; i++) length += pieces[i].length;
  if (refused(fd, at, length)) { *__errno_location() = no_space; return -1; }
  if (!real) real = next("pwritev");
  return real(fd, pieces, count, at);
}

long write(int fd, const void *data, unsigned long length) {
  static long (*real)(int, const void *, unsigned long);
  if (refused(fd, -1, length)) { *__errno_location() = no_space; return -1; }
  if (!real) real = next("write");
  return real(fd, data, length);
}

int posix_fallocate(int fd, long at, long length) {
  static int (*real)(int, long, long);
  if (refused(fd, at, length)) return no_space;
  if (!real) real = next("posix_fallocate");
  return real(fd, at, length);
}
`

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
    options.progress(
      `PostgreSQL's data is not on a small disk, so the fault disk-full is not available: ${messageOf(error)}`,
    )
    return record
  }
}

/** Throws UNAVAILABLE if the data was on a mounted disk that is gone, as after a restart of the machine. */
export async function assertDisk(record: LocalRecord): Promise<void> {
  const { disk } = record.local
  if (disk?.kind !== 'mount' || (await isMounted(disk.path))) return
  throw new AdminError(
    'UNAVAILABLE',
    `the disk with PostgreSQL's data, ${disk.path}, is gone; most likely this machine was restarted`,
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
