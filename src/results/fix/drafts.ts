import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { typed } from '../../core/typed.ts'
import { asPath } from '../../core/shell-command.ts'

/** Processes as parts of names: what one that was killed has left is told from what another one is writing. */
export interface Writers {
  /** this process */
  own: string
  /** whether that one has ended; null: nobody can tell from here */
  hasEnded: (mark: string) => Promise<boolean | null>
}

/** What the path of a copy begins with before it has its name. */
export function draftPath(output: string): string {
  return join(dirname(output), `.${basename(output)}.new-`)
}

/** An empty hidden directory beside the output, by whose name everyone can tell who writes there. */
export async function newDraft(output: string, { own }: Writers): Promise<string> {
  return mkdtemp(`${draftPath(output)}${own}-`)
}

/**
 * Removes what processes that were killed have left of copies to the same output, before it takes room from the next
 * one. What may be another one's work is told of.
 */
export async function removeDrafts(
  output: string,
  { hasEnded }: Writers,
  tell: (message: string) => void,
): Promise<void> {
  const start = basename(draftPath(output))
  const entries = await readdir(dirname(output), { withFileTypes: true })
  for (const entry of entries) {
    const named =
      entry.isDirectory() && entry.name.startsWith(start)
        ? /^(?:([\w-]+)-)?[A-Za-z\d]{6}$/.exec(entry.name.slice(start.length))
        : null
    if (!named) continue
    const path = join(dirname(output), entry.name)
    const ended = await hasEnded(named[1] ?? '')
    const isLeft =
      ended === null ||
      (ended &&
        (await rm(path, { recursive: true, force: true }).then(
          () => false,
          () => true,
        )))
    if (isLeft)
      tell(
        `${path} is an unfinished copy, ${ended ? 'which cannot be removed by this user' : 'perhaps of another machine that still writes it; if not'}: ${typed(['rm', '-r', asPath(path)])}`,
      )
  }
}
