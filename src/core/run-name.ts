import { randomBytes } from 'node:crypto'
import { AdminError } from './error.ts'
import { harmless } from './harmless.ts'

/** When the run began, what it is, and four characters that tell two of one second apart. */
const form = /^\d{8}T\d{6}Z-[a-z]+(?:-[a-z]+)*-[0-9a-f]{4}$/
/** far more than the longest name of a repair makes */
const longest = 80

/**
 * Whether a text has the one form that names of runs have: it is safe as the name of a file, and as a word of a
 * command.
 */
export function isRunName(text: string): boolean {
  return text.length <= longest && form.test(text)
}

/** Throws USAGE for a text that is not the name of a run, before anything is looked for by it. */
export function assertRunName(text: string): void {
  if (isRunName(text)) return
  const shown = harmless(text.length > longest ? `${text.slice(0, longest)}…` : text)
  throw new AdminError(
    'USAGE',
    `\`${shown}\` is not the name of a run, such as 20261121T021244Z-unlock-changelog-1f3a`,
    ['testops-admin history'],
  )
}

/** The name of a run of that repair which begins now. `startedAt`: ISO 8601. */
export function newRunName(repair: string, startedAt: string): string {
  return `${startedAt.replaceAll(/[-:]|\.\d+/g, '')}-${repair}-${randomBytes(2).toString('hex')}`
}
