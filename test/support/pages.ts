import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The project's folder. */
export const root = resolve(import.meta.dirname, '../..')

export function pageText(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}

/** Returns the anchors that GitHub makes of a page's headings. */
function anchorsOf(page: string): string[] {
  const headings = [
    ...pageText(page)
      .replace(/^```[^]*?^```/gm, '')
      .matchAll(/^#+ (.+)$/gm),
  ]
  return headings.map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/**
 * True if a file or folder of the project exists and has the named anchor, if one is named. `target`: path below the
 * project's folder.
 */
export function isThere(target: string): boolean {
  const [path = '', anchor] = target.split('#')
  const whole = join(root, path)
  return (
    existsSync(whole) && (anchor === undefined || (!statSync(whole).isDirectory() && anchorsOf(path).includes(anchor)))
  )
}
