import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { getAsset, getRawAsset, isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'

// The parts of this package are files, or lie within the one executable file (bin/package.js), whose first word may
// name another program of its: bin/one-file.cjs.

/** Returns the absolute path of this package's folder, installed or checked out. The one file has none. */
export function packageFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (nameIn(join(folder, 'package.json')) === 'testops-admin') return folder
    if (folder === dirname(folder)) throw new Error('cannot find the folder that testops-admin is installed in')
  }
}

/** Returns the text of a part, such as `package.json`. Throws an error if it is missing. */
export function partText(path: string): string {
  return isSea() ? getAsset(path, 'utf8') : readFileSync(join(packageFolder(), path), 'utf8')
}

/** Returns the command that runs testops-admin itself, for the words of a command to follow. */
export function ownCommand(): readonly [string, ...string[]] {
  return isSea() ? [process.execPath] : [process.execPath, join(packageFolder(), 'bin/run.js')]
}

/**
 * Returns the command that runs a built program, such as `lab/service-control.js`; null if it has not been built.
 * `nodeFlags` are for Node; the one file has them from its build.
 */
export function programCommand(path: string, nodeFlags: readonly string[] = []): readonly [string, ...string[]] | null {
  if (isSea()) return [process.execPath, `--own-program=${path}`]
  const file = join(packageFolder(), 'dist', path)
  return existsSync(file) ? [process.execPath, ...nodeFlags, file] : null
}

/** Returns a built program in the form that `new Worker` takes; null if it has not been built. */
export function threadProgram(path: string): string | URL | null {
  if (isSea()) {
    const text = Buffer.from(getRawAsset(`dist/${path}`) as ArrayBuffer).toString('base64')
    return new URL(`data:text/javascript;base64,${text}`)
  }
  const file = join(packageFolder(), 'dist', path)
  return existsSync(file) ? file : null
}

function nameIn(file: string): unknown {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { name?: unknown }).name
  } catch {
    return undefined
  }
}
