import { randomBytes } from 'node:crypto'
import { AdminError } from './error.ts'
import { harmless } from './harmless.ts'

/** The form of a run's name: its start, its repair, and four characters that tell two runs of one second apart. */
const form = /^\d{8}T\d{6}Z-[a-z]+(?:-[a-z]+)*-[0-9a-f]{4}$/
/** Maximum length in characters, far more than the longest name of a repair makes */
const longest = 80

/**
 * Returns true if a text has the form of a run's name: it is safe as the name of a file, and as a word of a command.
 */
export function isRunName(text: string): boolean {
  return text.length <= longest && form.test(text)
}

/** Throws USAGE if a text is not the name of a run, before anything is searched for by it. */
export function assertRunName(text: string): void {
  if (isRunName(text)) return
  const shown = harmless(text.length > longest ? `${text.slice(0, longest)}…` : text)
  throw new AdminError(
    'USAGE',
    `\`${shown}\` is not the name of a run, such as 20261121T021244Z-unlock-changelog-1f3a`,
    ['testops-admin history'],
  )
}

/** Returns a new name for a run of that repair that began at `startedAt` (ISO 8601). */
export function newRunName(repair: string, startedAt: string): string {
  return `${startedAt.replaceAll(/[-:]|\.\d+/g, '')}-${repair}-${randomBytes(2).toString('hex')}`
}
