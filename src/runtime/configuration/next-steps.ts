import { readdir } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'
import { nearestNames } from '../../core/nearest.ts'
import { typed } from '../../core/typed.ts'
import { packageFolder } from '../../core/package-folder.ts'
import { asPath, command } from '../../core/shell-command.ts'
import type { ShellCommand, Suggestion } from '../../core/shell-command.ts'
import { fileName } from './find.ts'

/** Returns how to read the commented template, which comes with this package. */
export function readTemplate(): ShellCommand {
  return command`less ${templateFile()}   # the commented template: every key, with an example`
}

/** Returns how to begin a configuration at `to`. */
export function copyTemplate(to: string): ShellCommand {
  return command`cp ${templateFile()} ${asPath(to)}   # a commented template: fill it in`
}

/** Returns what to type if a named file cannot be read. `shown`: its path as errors name it. */
export async function nextAfterUnreadable(error: unknown, file: string, shown: string): Promise<Suggestion[]> {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return nextWithout(file, shown)
  if (code === 'EISDIR') {
    const inside = (await namesIn(file))?.filter((name) => name === fileName || name === 'config.yaml')
    return inside?.length
      ? inside.map((name) => config(join(shown, name)))
      : [command`ls -l ${asPath(shown)}`, readTemplate()]
  }
  return code === 'EACCES' ? [command`ls -l ${asPath(shown)}`] : []
}

async function nextWithout(file: string, shown: string): Promise<Suggestion[]> {
  const names = await namesIn(dirname(file))
  if (names === null) return [command`ls -ld ${asPath(dirname(shown))}`, readTemplate()]
  // compare names without extensions: what all have in common says nothing
  const known = new Map(names.filter((name) => /\.ya?ml$/.test(name)).map((name) => [parse(name).name, name]))
  const near = nearestNames(parse(file).name, known.keys()).map((stem) =>
    config(join(dirname(shown), known.get(stem)!)),
  )
  return [...near, copyTemplate(shown)]
}

/** A suggestion that begins with a flag is completed to a command where it is shown. */
function config(path: string): ShellCommand {
  return typed(['--config', path])
}

/** Lists the names in a folder; null if it is missing or may not be read. */
async function namesIn(folder: string): Promise<string[] | null> {
  const names = await readdir(folder).catch(() => null)
  return names && names.sort()
}

function templateFile(): string {
  return join(packageFolder(), 'templates', fileName)
}
