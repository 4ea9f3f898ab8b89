import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AdminError, messageOf } from '../../../core/error.ts'
import { tryProgram } from '../try-program.ts'
import type { StartOptions } from '../types.ts'
import { cacheFolder, cached } from './cache.ts'
import { unpackDebian } from './debian.ts'

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
extern int access(const char *, int), fcntl(int, int), sprintf(char *, const char *, ...), strncmp(const char *, const char *, unsigned long);
extern long lseek(int, long, int), readlink(const char *, char *, unsigned long);
extern int *__errno_location(void);
struct piece { void *base; unsigned long length; };
enum { no_space = 28, from_start = 0, from_here = 1, from_end = 2, get_flags = 3, appending = 02000 };
static const char folder[] = ${JSON.stringify(`${folder}/`)};

/* whether the disk is full and writing so many bytes there, or (-1) at the file's own position, would need more of it */
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
