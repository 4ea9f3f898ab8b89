import { readdir } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'
import { nearestNames } from '../../core/nearest.ts'
import { typed } from '../../core/typed.ts'
import { packageFolder } from '../../core/package-folder.ts'

/** How a configuration is called where none is named. */
export const fileName = 'testops-admin.yaml'

/** How to read the commented template, which comes with this package. */
export function readTemplate(): string {
  return `less ${typed([templateFile()])}   # the commented template: every key, with an example`
}

/** How to begin a configuration. */
export function copyTemplate(to: string): string {
  return `cp ${typed([templateFile(), to])}   # the commented template, to be filled in`
}

/** What to type where a file that was named cannot be read; `shown` is its path as errors name it. */
export async function nextAfterUnreadable(error: unknown, file: string, shown: string): Promise<string[]> {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return nextWithout(file, shown)
  if (code === 'EISDIR') {
    const inside = (await namesIn(file))?.filter((name) => name === fileName || name === 'config.yaml')
    return inside?.length ? inside.map((name) => config(join(shown, name))) : [`ls -l ${typed([shown])}`, readTemplate()]
  }
  return code === 'EACCES' ? [`ls -l ${typed([shown])}`] : []
}

async function nextWithout(file: string, shown: string): Promise<string[]> {
  const names = await namesIn(dirname(file))
  if (names === null) return [`ls -ld ${typed([dirname(shown)])}`, readTemplate()]
  // by their stems: what all have in common says nothing
  const known = new Map(names.filter((name) => /\.ya?ml$/.test(name)).map((name) => [parse(name).name, name]))
  const near = nearestNames(parse(file).name, known.keys()).map((stem) => config(join(dirname(shown), known.get(stem)!)))
  return [...near, copyTemplate(shown)]
}

/** A suggestion that begins with a flag is completed to a command where it is shown. */
function config(path: string): string {
  return typed(['--config', path])
}

/** Null where there is no such folder, or none that may be read. */
async function namesIn(folder: string): Promise<string[] | null> {
  const names = await readdir(folder).catch(() => null)
  return names && names.sort()
}

function templateFile(): string {
  return join(packageFolder(), 'templates', fileName)
}
