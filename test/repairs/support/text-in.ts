import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the text of all files in a folder. */
export function textIn(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n')
}
