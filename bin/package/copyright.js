import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the licences of the program and of all that it contains, for packages that hold no more than one text. */
export function copyright(root, notices) {
  return `${readFileSync(join(root, 'LICENSE'), 'utf8')}\n${readFileSync(notices, 'utf8')}`
}
