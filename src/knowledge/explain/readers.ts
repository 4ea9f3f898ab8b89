import { releasesForeignLock } from '../log-signatures.ts'
import { agentCounts, isFilesBeforeAgent, patternOf } from '../signatures.ts'

/** Tests by name, as texts use them: true if a piece of log shows something that takes more than its words. */
export const readers = {
  'foreign-lock-released': releasesForeignLock,
  'earlier-files': tellsOfEarlierFiles,
} as const satisfies Record<string, (log: string) => boolean>

export type ReaderName = keyof typeof readers

function tellsOfEarlierFiles(log: string): boolean {
  const pattern = patternOf('agent-counts')
  return log
    .toLowerCase()
    .split('\n')
    .some((line) => pattern.test(line) && isFilesBeforeAgent(agentCounts(line)))
}
