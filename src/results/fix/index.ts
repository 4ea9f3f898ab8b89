import { chmod, rename, rm, stat } from 'node:fs/promises'
import type { RuleId } from '../../knowledge/result-rules.ts'
import { copyAll } from './copy.ts'
import type { CopyReport } from './copy.ts'
import { draftPath, newDraft, removeDrafts } from './drafts.ts'
import type { Writers } from './drafts.ts'
import { copyFailure } from './failure.ts'
import { placesOf } from './places.ts'

export interface FixOptions {
  from: string
  output: string
  /** what these find is not mended */
  off: ReadonlySet<RuleId>
  writers: Writers
  signal: AbortSignal
  /** is told what was left by others, and is not touched */
  tell?: (message: string) => void
  progress?: (done: number, total: number) => void
}

/**
 * Writes a copy of a results directory in which attachments lie in the root and long texts are kept whole, and never
 * touches the original. It gets its name once it is complete: whatever ends this before leaves nothing, or a hidden
 * directory that no one takes for it, and that the next copy to the same place removes. Throws USAGE, FORBIDDEN,
 * UNAVAILABLE, and the signal's reason.
 */
export async function mendedCopy({
  from,
  output,
  off,
  writers,
  signal,
  tell = () => undefined,
  progress = () => undefined,
}: FixOptions): Promise<CopyReport> {
  const places = await placesOf(from, output)
  let next: string | null = null
  try {
    await removeDrafts(places.output, writers, tell)
    next = await newDraft(places.output, writers)
    const report = await copyAll({ from: places.from, to: next, off, signal, progress })
    await chmod(next, (await stat(places.from)).mode & 0o7777)
    signal.throwIfAborted()
    await rename(next, places.output)
    return report
  } catch (error) {
    if (next !== null) await rm(next, { recursive: true, force: true })
    throw signal.aborted ? signal.reason : copyFailure(error, from, output, draftPath(places.output))
  }
}
