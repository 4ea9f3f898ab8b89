import { Flags } from '@oclif/core'
import { AdminError } from '../../core/error.ts'
import type { NamedFile } from '../../core/deployment.ts'
import { fileOf } from '../../core/plan.ts'
import type { Plan } from '../../core/plan.ts'
import { chooseFile } from '../../repairs/files/choose.ts'

/** Files of settings to repair in place of a deployment; absolute paths, no links. */
export interface NamedFiles {
  flag: NamedFile['flag']
  paths: readonly string[]
  /** The file that stands for the work: its base name confirms it, and its journals record it */
  main: string
}

/** Flags of `history`, `resume` and `undo`. */
export const oneFileFlags = {
  values: Flags.string({
    summary: "Use the repairs of this values file instead of a deployment's",
    helpValue: 'FILE',
    exclusive: ['compose'],
  }),
  compose: Flags.string({ summary: 'Use the repairs of this compose file', helpValue: 'FILE' }),
}

/**
 * Returns the files that the flags name; `of` is the key that selects the main one. Throws USAGE as reading them does.
 */
export async function namedFiles(
  { values, compose }: { values?: string | string[] | undefined; compose?: string | undefined },
  of: readonly string[] = [],
): Promise<{ files?: NamedFiles }> {
  const named = compose === undefined ? [values ?? []].flat() : [compose]
  if (named.length === 0) return {}
  if (named.includes(''))
    throw new AdminError('USAGE', `--${compose === undefined ? 'values' : 'compose'} needs the name of a file`)
  const { openFile, placeOfFile } = await import('../../runtime/index.ts')
  const flag = compose === undefined ? '--values' : '--compose'
  const paths = await Promise.all(named.map(async (it) => placeOfFile(it, process.cwd())))
  const last = paths.at(-1)!
  if (new Set(paths).size === 1 || of.length === 0) return { files: { flag, paths, main: last } }
  const { file } = await chooseFile(await openFile({ flag, path: last }, [], process.env).open.files(), paths, of)
  return { files: { flag, paths, main: file } }
}

/** Returns the files of a saved plan. */
export function filesOfPlan(plan: Plan): { files?: NamedFiles } {
  const file = fileOf(plan)
  if (!file) return {}
  const { values } = plan.options
  const paths = Array.isArray(values) ? values.filter((it) => typeof it === 'string') : [file.path]
  return { files: { flag: file.flag, paths, main: file.path } }
}

/** Splits `a.b` into keys. Throws USAGE if a key is empty. */
export function keyPath(text: string | undefined): readonly string[] {
  if (text === undefined) return []
  const keys = text.split('.')
  if (keys.includes(''))
    throw new AdminError('USAGE', `--path ${text} has an empty key: join keys with single dots`, ['--path testops'])
  return keys
}
