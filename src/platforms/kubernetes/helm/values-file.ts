import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isObject } from '../../../core/shape.ts'
import type { Values } from '../../../core/sources.ts'
import type { WantedValue } from '../../../core/values.ts'

/**
 * Puts values into a file for helm as long as `work` takes, since they may be secrets: an argument is there for all to
 * read.
 */
export async function withValuesFile<T>(
  values: readonly WantedValue[],
  work: (file: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-helm-'))
  try {
    const file = join(folder, 'values.yaml')
    await writeFile(file, JSON.stringify(values.reduce<Values>((all, { path, to }) => withAt(all, path, to), {})), {
      mode: 0o600,
    })
    return await work(file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function withAt(values: Values, [key = '', ...rest]: readonly string[], to: string | null): Values {
  const below = Object.hasOwn(values, key) ? values[key] : undefined
  const value = rest.length === 0 ? to : withAt(isObject(below) ? below : {}, rest, to)
  return Object.fromEntries([...Object.entries(values).filter(([name]) => name !== key), [key, value]])
}
