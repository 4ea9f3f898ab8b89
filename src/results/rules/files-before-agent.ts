import { AdminError } from '../../core/error.ts'
import type { LogPart } from '../../core/sources.ts'
import { filesFound, isFilesBeforeAgent } from '../../knowledge/signatures.ts'
import { openScan } from '../../logs/scan/scanner.ts'
import type { Scan } from '../../logs/scan/scanner.ts'
import type { Found } from '../problem.ts'
import { counted } from './said.ts'

/** The findings of an agent's log; a log without the agent's counts has none. */
export interface AgentTold {
  found: readonly Found[]
  /** why the log could not be read to its end; null if it was */
  unread: string | null
}

/** Finds files that an agent's log counts, but that it did not index or process. Throws the signal's reason. */
export async function filesBeforeAgent(log: LogPart, signal?: AbortSignal): Promise<AgentTold> {
  // its times are not used, and a known zone is read faster
  const scan = openScan({ timeZone: 'UTC' })
  const unread = await readInto(scan, log, signal)
  const { causes } = scan.end()
  const counts = causes.find(({ id }) => id === 'agent-counts')
  const unprocessed = (counts?.agents ?? []).filter(isFilesBeforeAgent).map(({ indexed, errors }) => ({
    message: `the agent's log shows ${counted(indexed, 'file')} indexed, 0 processed and ${counted(errors!, 'error')}`,
    ...(counts?.agents.length === 1 && { place: `line ${counts.firstLine}` }),
  }))
  const none = causes.find(({ id }) => id === 'agent-nothing-indexed')
  const unindexed = (none?.samples ?? [])
    .map(({ before, after }) => filesFound(`${before}${after}`))
    .filter((files) => files > 0)
  return {
    found: [
      ...unprocessed,
      ...unindexed.map((files) => ({
        message: `the agent's log shows ${counted(files, 'file')} found and 0 indexed`,
        ...(none!.count === 1 && { place: `line ${none!.firstLine}` }),
      })),
    ],
    unread,
  }
}

async function readInto(scan: Scan, log: LogPart, signal: AbortSignal | undefined): Promise<string | null> {
  try {
    for await (const block of log.blocks(signal)) scan.write(block)
    return null
  } catch (error) {
    if (error instanceof AdminError) return error.message
    throw error
  } finally {
    signal?.throwIfAborted()
  }
}
