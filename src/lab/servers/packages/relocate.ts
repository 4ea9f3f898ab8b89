import { chmod, lstat, open, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { AdminError } from '../../../core/error.ts'

/**
 * Lets programs of a Debian release run from another folder and next to another libc: each starts through the loader
 * unpacked with it. `root` is the present folder, `final` the one they will run in.
 */
export interface Relocation {
  root: string
  final: string
}

/** Replaces all programs below usr/lib/erlang with starters, and writes the new path into the `erl` scripts. */
export async function relocateErlang(place: Relocation): Promise<void> {
  const erlang = join(place.root, 'usr/lib/erlang')
  const entries = await readdir(erlang, { recursive: true, withFileTypes: true })
  for (const entry of entries.filter((entry) => entry.isFile() && !/\.so(\.|$)/.test(entry.name))) {
    const path = join(entry.parentPath, entry.name)
    const { mode } = await lstat(path)
    if ((mode & 0o111) === 0) continue
    if (await isElf(path)) {
      await rename(path, `${path}.real`)
      await writeStarter(place, path, `${path}.real`, '"$0"')
    } else if (entry.name === 'erl') {
      const text = await readFile(path, 'utf8')
      await writeFile(
        path,
        text.replaceAll('ROOTDIR=/usr/lib/erlang', `ROOTDIR='${join(place.final, 'usr/lib/erlang')}'`),
      )
    }
  }
}

/** Writes an executable `starter` for `program`, both as present paths. The program sees `name` as its own name. */
export async function writeStarter(place: Relocation, starter: string, program: string, name: string): Promise<void> {
  const later = (path: string) => `'${join(place.final, relative(place.root, path))}'`
  const libraries = (await libraryFolders(place.root)).map((folder) => join(place.final, folder)).join(':')
  const start = `exec ${later(await loader(place.root))} --library-path '${libraries}' --argv0 ${name} ${later(program)} "$@"`
  await writeFile(starter, `#!/bin/sh\n${start}\n`)
  await chmod(starter, 0o755)
}

async function libraryFolders(root: string): Promise<string[]> {
  const folders: string[] = []
  for (const parent of ['usr/lib', 'lib']) {
    for (const name of await list(join(root, parent))) if (/-linux-gnu/.test(name)) folders.push(join(parent, name))
  }
  return folders
}

async function loader(root: string): Promise<string> {
  for (const folder of await libraryFolders(root)) {
    const name = (await list(join(root, folder))).find((name) => /^ld-linux.*\.so\.\d+$/.test(name))
    if (name) return join(root, folder, name)
  }
  throw new AdminError('UNAVAILABLE', 'the unpacked packages have no loader for this architecture')
}

async function isElf(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0)
    return buffer.equals(Buffer.from('\x7fELF', 'latin1'))
  } finally {
    await file.close()
  }
}

async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch {
    return []
  }
}
