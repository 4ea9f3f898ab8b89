import { releasesForeignLock } from '../log-signatures.ts'
import { agentCounts, isFilesBeforeAgent, patternOf } from '../signatures.ts'

/** Whether a piece of log tells of something that takes more than its words, by the name that a text has for it. */
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
